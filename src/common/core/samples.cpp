#include "common/core/samples.h"

#include <algorithm>

namespace fabricbench {

void append_by_rank(const std::vector<std::vector<Seconds>>& more, std::vector<std::vector<Seconds>>& by_rank) {
  by_rank.resize(more.size());
  for (std::size_t rank = 0; rank < more.size(); ++rank) {
    by_rank[rank].insert(by_rank[rank].end(), more[rank].begin(), more[rank].end());
  }
}

void Epoch::add(const Epoch& visit) {
  if (samples.empty()) began = visit.began;
  samples.insert(samples.end(), visit.samples.begin(), visit.samples.end());
  slowest_ranks.insert(slowest_ranks.end(), visit.slowest_ranks.begin(), visit.slowest_ranks.end());
  cpu_times.insert(cpu_times.end(), visit.cpu_times.begin(), visit.cpu_times.end());
  host_times.insert(host_times.end(), visit.host_times.begin(), visit.host_times.end());
  append_by_rank(visit.own_times, own_times);
  append_by_rank(visit.own_means, own_means);
  if (visit.most_preemptions > most_preemptions) {
    most_preemptions = visit.most_preemptions;
    most_preempted_rank = visit.most_preempted_rank;
  }
  late += visit.late;
  preemptions += visit.preemptions;
  clock_error = std::max(clock_error, visit.clock_error);
  resolution = visit.resolution;
  common_start = common_start && visit.common_start;
}

}  // namespace fabricbench
