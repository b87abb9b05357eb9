// The results of what was measured: a part of Bench.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "common/core/bandwidth.h"
#include "common/core/statistics.h"
#include "common/measure/bench.h"
#include "common/measure/bench_subject.h"

namespace fabricbench {
namespace {

std::vector<Seconds> all_samples(const std::vector<Epoch>& epochs) {
  std::vector<Seconds> samples;
  for (const Epoch& epoch : epochs) samples.insert(samples.end(), epoch.samples.begin(), epoch.samples.end());
  return samples;
}

/// The median over epochs of each epoch's median.
Seconds median_of(const std::vector<Epoch>& epochs, std::vector<Seconds> Epoch::*times) {
  std::vector<Seconds> medians;
  medians.reserve(epochs.size());
  for (const Epoch& epoch : epochs) medians.push_back(median(epoch.*times));
  return median(medians);
}

/// nccl-tests' figures for -I, without the first `skip` iterations.
std::optional<IterationTimes> iteration_times(std::vector<Seconds> samples, std::int64_t skip) {
  if (skip >= static_cast<std::int64_t>(samples.size())) return std::nullopt;
  samples.erase(samples.begin(), samples.begin() + skip);
  std::sort(samples.begin(), samples.end());
  const auto count = static_cast<double>(samples.size());
  const double mean = std::accumulate(samples.begin(), samples.end(), 0.0) / count;
  double squares = 0;
  for (const Seconds sample : samples) squares += (sample - mean) * (sample - mean);
  return IterationTimes{samples.front(), samples.back(), quantile(samples, 0.99),
                        mean > 0 ? 100 * std::sqrt(squares / count) / mean : 0};
}

}  // namespace

/// The results of a subject. Collective; complete on the first process of each group.
Measurement Bench::conclude(Subject& subject) {
  Measurement measured;
  add_wrong(subject, measured);
  add_checked_operations(subject, measured);
  add_checked_messages(subject, measured);
  add_checked_bits(subject, measured);
  add_repeatable(subject, measured);
  measured.rank_times = times_of_all_ranks(subject.own_times);
  measured.rank_means = times_of_all_ranks(subject.own_means);
  measured.stopped = idle_shares(subject.stopped_shares);
  measured.waiting = idle_shares(subject.waiting_shares);
  measured.processor_wait = explaining_wait(measured.waiting.most);
  measured.retransmitted = retransmitted_by_rank(subject);
  measured.queue_pairs = shares_of_queue_pairs(subject);
  const auto& lost = subject.counted.lost_messages;
  if (lost) measured.lost = team_.group().sum(static_cast<std::int64_t>(*lost));
  measured.nics = nics_.by_host(subject.nics);
  if (!team_.group().is_root()) return measured;
  const int ranks = workspace_.ranks().all;
  measured.summary = summarize(subject.epochs);
  const Seconds time = measured.summary.median;
  const double counted = static_cast<double>(subject.which.size) * test_.counted_share(ranks);
  measured.cpu_time = options_.timing == Timing::kPipelined ? median_of(subject.epochs, &Epoch::cpu_times) : time;
  if (!subject.epochs.front().host_times.empty()) {
    measured.host_time = median_of(subject.epochs, &Epoch::host_times);
  }
  const double arrived = arrived_share(subject, measured);
  measured.algbw = algorithm_bandwidth(counted, time) * arrived;
  measured.busbw = measured.algbw * test_.bus_factor(ranks);
  if (subject.has_directions) measured.directions = directions(measured);
  for (double& share : measured.queue_pairs) share *= measured.busbw;
  if (test_.traits().row_kind != RowKind::kCollective) {
    measured.message_rate = arrived * algorithm_bandwidth(test_.counted_share(ranks), time);
  }
  const std::int64_t launches = std::max<std::int64_t>(subject.plan.launches, 1);
  measured.operations_per_sample = subject.plan.iterations * subject.operation.aggregated() * launches;
  measured.iterations = measured.summary.samples * subject.plan.iterations * launches;
  if (subject.counted.background_bytes) {
    measured.background_rate =
        algorithm_bandwidth(static_cast<double>(*subject.counted.background_bytes), *subject.counted.background_time);
  }
  measured.choice = subject.choice;
  const std::vector<Seconds> samples = all_samples(subject.epochs);
  if (options_.per_iteration) measured.iteration_times = iteration_times(samples, options_.per_iteration_skip);
  if (options_.samples) measured.samples = samples;
  subject.epochs.clear();
  return measured;
}

/// The part of a stream's messages that arrived: what is lost was carried by nobody. The sender is done with a datagram
/// as soon as it has left. Of a latency, whose operations are two messages, 0 if none arrived, else 1.
double Bench::arrived_share(const Subject& subject, const Measurement& measured) const {
  const RowKind row_kind = test_.traits().row_kind;
  if (!measured.lost) return 1;
  const bool is_stream_of_them = row_kind == RowKind::kBandwidth || row_kind == RowKind::kBothWays;
  const double each = is_stream_of_them ? test_.counted_share(workspace_.ranks().all) : 2;
  const double sent = static_cast<double>(subject.timed) * each;
  const double share = std::max(0.0, 1 - static_cast<double>(*measured.lost) / std::max(sent, 1.0));
  return is_stream_of_them || share == 0 ? share : 1;
}

/// The median over the visits of each of this process's ranks, by rank, on the group's first process.
std::vector<Seconds> Bench::times_of_all_ranks(const std::vector<std::vector<Seconds>>& by_visit) const {
  std::vector<Seconds> own;
  own.reserve(by_visit.size());
  for (const std::vector<Seconds>& of_rank : by_visit) own.push_back(of_rank.empty() ? 0 : median(of_rank));
  return team_.group().gather(own);
}

/// Of all ranks, on the group's first process; `by_epoch` is this process's share.
IdleShares Bench::idle_shares(const std::vector<double>& by_epoch) const {
  const std::size_t epochs = by_epoch.size();
  const std::vector<double> all = team_.group().gather(by_epoch);  // by rank, and of each by epoch
  IdleShares shares;
  for (std::size_t begin = 0; epochs > 0 && begin + epochs <= all.size(); begin += epochs) {
    shares.by_rank.push_back(mean(std::span(all).subspan(begin, epochs)));
  }
  for (std::size_t epoch = 0; epoch < epochs && !all.empty(); ++epoch) {
    std::size_t most = epoch;
    for (std::size_t i = epoch; i < all.size(); i += epochs) most = all[i] > all[most] ? i : most;
    shares.most_idle.push_back(static_cast<int>(most / epochs));
    shares.most.push_back(all[most]);
  }
  return shares;
}

/// The bandwidth in its two directions, first to second rank and back, in the ratio of what each direction reached in
/// its own time.
std::vector<double> Bench::directions(const Measurement& measured) const {
  std::vector<double> rates;
  rates.reserve(measured.rank_times.size());
  for (const Seconds time : measured.rank_times) rates.push_back(1 / time);
  const double sum = std::accumulate(rates.begin(), rates.end(), 0.0);
  for (double& rate : rates) rate *= measured.algbw / sum;
  if (!test_.traits().times_what_it_sends) std::reverse(rates.begin(), rates.end());
  return rates;
}

/// Of the messages of all ranks, by queue pair, on the group's first process; empty if the library does not count them.
std::vector<double> Bench::shares_of_queue_pairs(const Subject& subject) const {
  const std::vector<std::uint64_t>& own = subject.counted.messages_by_queue_pair;
  if (own.empty()) return {};
  const std::vector<double> of_ranks = team_.group().gather(std::vector<double>(own.begin(), own.end()));
  std::vector<double> shares(own.size(), 0.0);
  for (std::size_t i = 0; i < of_ranks.size(); ++i) shares[i % own.size()] += of_ranks[i];
  const double all = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= std::max(all, 1.0);
  return shares;
}

/// By rank, on the group's first process; empty if the library does not count them.
std::vector<std::uint64_t> Bench::retransmitted_by_rank(const Subject& subject) const {
  const auto& retransmitted = subject.counted.retransmitted_segments;
  if (!retransmitted) return {};
  const std::vector<double> own(1, static_cast<double>(*retransmitted));
  const std::vector<double> all = team_.group().gather(own);
  return {all.begin(), all.end()};
}

}  // namespace fabricbench
