#include "cluster/import/endpoints.h"

#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "common/core/host_names.h"

namespace fabricbench::cluster {

Endpoints::Endpoints(std::vector<std::string> hosts) : hosts_(std::move(hosts)) {
  for (std::string& host : hosts_) host = as_host_name(host);
  std::unordered_map<std::string, int> ranks;
  for (const std::string& host : hosts_) rails_.push_back(fmt::format("rank{}", ranks[host]++));
  if (ranks.size() == hosts_.size()) rails_.clear();
}

void Endpoints::add_hosts(Imported& found) const {
  for (const std::string& host : hosts_) static_cast<void>(found.hosts.number_of(host));
}

Reading Endpoints::between(Imported& found, std::size_t from, std::size_t to, const ImportedKind& kind) const {
  Reading reading = found.between(hosts_[from], hosts_[to], kind);
  if (rails_.empty()) return reading;
  reading.from_rail = found.rail_of(rails_[from]);
  reading.to_rail = found.rail_of(rails_[to]);
  return reading;
}

bool is_symmetric(const HostMatrix& matrix) {
  for (std::size_t i = 0; i < matrix.rows.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (matrix.rows[i][j] != matrix.rows[j][i]) return false;
    }
  }
  return true;
}

void add_matrix(Imported& found, const HostMatrix& matrix, const ImportedKind& kind, double unit) {
  const Endpoints ranks(matrix.hosts);
  ranks.add_hosts(found);
  const bool both_ways = is_symmetric(matrix);
  for (std::size_t from = 0; from < ranks.size(); ++from) {
    for (std::size_t to = both_ways ? from + 1 : 0; to < ranks.size(); ++to) {
      const auto& figure = matrix.rows[from][to];
      if (from == to || !figure || *figure == 0) continue;
      Reading reading = ranks.between(found, from, to, kind);
      reading.both_ways = both_ways;
      found.add(reading, *figure * unit, matrix.lines[from]);
    }
  }
}

}  // namespace fabricbench::cluster
