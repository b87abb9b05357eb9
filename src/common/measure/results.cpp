#include "common/measure/results.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <string>

#include <fmt/format.h>

#include "common/core/bandwidth.h"
#include "common/core/statistics.h"
#include "common/core/wording.h"

namespace fabricbench {
namespace {

/// The finding of the group's lowest process that has one, on its first process.
std::string first_of_group(const Run& run, const std::string& finding) {
  for (const std::string& found : run.team.group().gather(finding)) {
    if (!found.empty()) return found;
  }
  return "";
}

std::uint64_t sum_of_group(const Run& run, std::uint64_t own) {
  return static_cast<std::uint64_t>(run.team.group().sum(static_cast<std::int64_t>(own)));
}

/// `rank`: in the group.
int rank_in_job(const Run& run, int rank) {
  const Ranks& ranks = run.workspace.ranks();
  return run.team.process_in_job() * ranks.local + rank - ranks.first;
}

std::string text_of(const Run& run, const WrongData& wrong) {
  const std::string where = wrong.message.empty()
                                ? fmt::format("at element {}", wrong.first.first_offset)
                                : fmt::format("in {}, byte {}", wrong.message, wrong.first.first_offset);
  return fmt::format("rank {}: first {}: expected {}, got {}", rank_in_job(run, wrong.rank), where,
                     wrong.first.expected, wrong.first.got);
}

/// Adds the number of wrong elements in the group, and the first one on the lowest rank that has any.
void add_wrong(const Run& run, const MeasuredCase& measured_case, Measurement& measured) {
  const auto& wrong = measured_case.wrong;
  const std::uint64_t elements = sum_of_group(run, wrong ? wrong->elements : 0);
  if (run.options.checks > 0 && run.test.traits().moves_data) measured.wrong = elements;
  if (elements == 0) return;
  measured.wrong_ranks = sum_of_group(run, wrong ? static_cast<std::uint64_t>(wrong->ranks) : 0);
  measured.first_wrong = first_of_group(run, wrong ? text_of(run, *wrong) : "");
}

/// Of messages with places of their own, messages are counted instead.
void add_checked(const Run& run, const MeasuredCase& measured_case, Measurement& measured) {
  if (run.options.check_all) {
    measured.checked_messages = sum_of_group(run, measured_case.checked);
    measured.wrong_messages = sum_of_group(run, measured_case.wrong ? measured_case.wrong->messages : 0);
    return;
  }
  if (!measured.wrong) return;
  measured.checked_operations = measured_case.checked_operations;
  if (!run.options.check_each) return;
  const auto wrong = static_cast<std::int64_t>(measured_case.wrong_operations);
  measured.wrong_operations = static_cast<std::uint64_t>(run.team.group().max(wrong));
  if (measured_case.spent > 0) measured.checking_share = measured_case.checking / measured_case.spent;
}

void add_checked_bits(const Run& run, const MeasuredCase& measured_case, Measurement& measured) {
  if (run.options.checks == 0 || !run.test.traits().moves_data || measured_case.which().size == 0) return;
  measured.checked_bits_share = share_of_both(run.team.group().max(measured_case.operation.expected_bits().flags()));
}

void add_repeatable(const Run& run, const MeasuredCase& measured_case, Measurement& measured) {
  if (!is_repeated(run, measured_case.which())) return;
  const auto& differs = measured_case.unrepeated;
  const std::int64_t ranks = run.team.group().sum(std::int64_t{differs ? differs->ranks : 0});
  measured.repeatable = ranks == 0;
  if (ranks == 0) return;
  const std::string own = differs
                              ? fmt::format("rank {}: first among elements {} to {}", rank_in_job(run, differs->rank),
                                            differs->first_offset, differs->first_offset + differs->elements - 1)
                              : "";
  measured.unrepeated = fmt::format("{}; {}", counted(ranks, "rank"), first_of_group(run, own));
}

/// The median over the visits of each of this process's ranks, by rank, on the group's first process.
std::vector<Seconds> times_of_all_ranks(const Run& run, const std::vector<std::vector<Seconds>>& by_visit) {
  std::vector<Seconds> own;
  own.reserve(by_visit.size());
  for (const std::vector<Seconds>& of_rank : by_visit) own.push_back(of_rank.empty() ? 0 : median(of_rank));
  return run.team.group().gather(own);
}

/// Of all ranks, on the group's first process; `by_epoch` is this process's share.
IdleShares idle_shares(const Run& run, const std::vector<double>& by_epoch) {
  const std::size_t epochs = by_epoch.size();
  const std::vector<double> all = run.team.group().gather(by_epoch);  // by rank, and of each by epoch
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

/// By rank, on the group's first process; empty if the library does not count them.
std::vector<std::uint64_t> retransmitted_by_rank(const Run& run, const MeasuredCase& measured_case) {
  const auto& retransmitted = measured_case.counted.retransmitted_segments;
  if (!retransmitted) return {};
  const std::vector<double> own(1, static_cast<double>(*retransmitted));
  const std::vector<double> all = run.team.group().gather(own);
  return {all.begin(), all.end()};
}

/// Of the messages of all ranks, by queue pair, on the group's first process; empty if the library does not count them.
std::vector<double> shares_of_queue_pairs(const Run& run, const MeasuredCase& measured_case) {
  const std::vector<std::uint64_t>& own = measured_case.counted.messages_by_queue_pair;
  if (own.empty()) return {};
  const std::vector<double> of_ranks = run.team.group().gather(std::vector<double>(own.begin(), own.end()));
  std::vector<double> shares(own.size(), 0.0);
  for (std::size_t i = 0; i < of_ranks.size(); ++i) shares[i % own.size()] += of_ranks[i];
  const double all = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= std::max(all, 1.0);
  return shares;
}

/// What all processes of a group contribute to.
void add_of_all_ranks(const Run& run, const MeasuredCase& measured_case, Measurement& measured) {
  add_wrong(run, measured_case, measured);
  add_checked(run, measured_case, measured);
  add_checked_bits(run, measured_case, measured);
  add_repeatable(run, measured_case, measured);
  measured.rank_times = times_of_all_ranks(run, measured_case.own_times);
  measured.rank_means = times_of_all_ranks(run, measured_case.own_means);
  measured.stopped = idle_shares(run, measured_case.stopped_shares);
  measured.waiting = idle_shares(run, measured_case.waiting_shares);
  measured.processor_wait = explaining_wait(measured.waiting.most);
  measured.retransmitted = retransmitted_by_rank(run, measured_case);
  measured.queue_pairs = shares_of_queue_pairs(run, measured_case);
  if (const auto& lost = measured_case.counted.lost_messages) measured.lost = sum_of_group(run, *lost);
  measured.nics = run.nics.by_host(measured_case.nics);
}

/// The median over epochs of each epoch's median.
Seconds median_of(const std::vector<Epoch>& epochs, std::vector<Seconds> Epoch::*times) {
  std::vector<Seconds> medians;
  medians.reserve(epochs.size());
  for (const Epoch& epoch : epochs) medians.push_back(median(epoch.*times));
  return median(medians);
}

/// The part of a stream's messages that arrived: what is lost was carried by nobody. The sender is done with a datagram
/// as soon as it has left. Of a latency, whose operations are two messages, 0 if none arrived, else 1.
double arrived_share(const Run& run, const MeasuredCase& measured_case, const Measurement& measured) {
  const RowKind row_kind = run.test.traits().row_kind;
  if (!measured.lost) return 1;
  const bool is_stream_of_them = row_kind == RowKind::kBandwidth || row_kind == RowKind::kBothWays;
  const double each = is_stream_of_them ? run.test.counted_share(run.workspace.ranks().all) : 2;
  const double sent = static_cast<double>(measured_case.timed) * each;
  const double share = std::max(0.0, 1 - static_cast<double>(*measured.lost) / std::max(sent, 1.0));
  return is_stream_of_them || share == 0 ? share : 1;
}

/// The bandwidth in its two directions, first to second rank and back, in the ratio of what each direction reached in
/// its own time.
std::vector<double> directions(const Run& run, const Measurement& measured) {
  std::vector<double> rates;
  rates.reserve(measured.rank_times.size());
  for (const Seconds time : measured.rank_times) rates.push_back(1 / time);
  const double sum = std::accumulate(rates.begin(), rates.end(), 0.0);
  for (double& rate : rates) rate *= measured.algbw / sum;
  if (!run.test.traits().times_what_it_sends) std::reverse(rates.begin(), rates.end());
  return rates;
}

void add_rates(const Run& run, const MeasuredCase& measured_case, Measurement& measured) {
  const int ranks = run.workspace.ranks().all;
  const double share = run.test.counted_share(ranks);
  const double arrived = arrived_share(run, measured_case, measured);
  const Seconds time = measured.summary.median;
  measured.algbw = algorithm_bandwidth(static_cast<double>(measured_case.which().size) * share, time) * arrived;
  measured.busbw = measured.algbw * run.test.bus_factor(ranks);
  if (measured_case.has_directions) measured.directions = directions(run, measured);
  for (double& of_queue_pair : measured.queue_pairs) of_queue_pair *= measured.busbw;
  if (run.test.traits().row_kind != RowKind::kCollective) {
    measured.message_rate = arrived * algorithm_bandwidth(share, time);
  }
  if (const TransportCounters& counted = measured_case.counted; counted.background_bytes) {
    measured.background_rate =
        algorithm_bandwidth(static_cast<double>(*counted.background_bytes), *counted.background_time);
  }
}

std::vector<Seconds> all_samples(const std::vector<Epoch>& epochs) {
  std::vector<Seconds> samples;
  for (const Epoch& epoch : epochs) samples.insert(samples.end(), epoch.samples.begin(), epoch.samples.end());
  return samples;
}

/// nccl-tests' figures for -I, without the first `skip` iterations.
std::optional<IterationTimes> iteration_times(std::vector<Seconds> samples, std::int64_t skip) {
  if (skip >= static_cast<std::int64_t>(samples.size())) return std::nullopt;
  samples.erase(samples.begin(), samples.begin() + skip);
  std::sort(samples.begin(), samples.end());
  const Seconds centre = mean(samples);
  return IterationTimes{samples.front(), samples.back(), quantile(samples, 0.99),
                        centre > 0 ? 100 * standard_deviation(samples) / centre : 0};
}

}  // namespace

bool is_repeated(const Run& run, const Case& which) {
  return run.options.repeatable && which.reduction != Reduction::kNone && which.size > 0;
}

EpochRecord record_of(const Run& run, const Case& which, Seconds time) {
  const int ranks = run.workspace.ranks().all;
  const double algbw = algorithm_bandwidth(static_cast<double>(which.size) * run.test.counted_share(ranks), time);
  return {.size = which.size,
          .count = which.layout.count,
          .datatype = which.datatype,
          .reduction = which.reduction,
          .root = which.root,
          .group = run.team.reported_number(),
          .in_place = which.in_place,
          .median = time,
          .algbw = algbw,
          .busbw = algbw * run.test.bus_factor(ranks)};
}

Measurement conclude(const Run& run, MeasuredCase& measured_case) {
  Measurement measured;
  add_of_all_ranks(run, measured_case, measured);
  if (!run.team.group().is_root()) return measured;
  const std::vector<Epoch> epochs = std::move(measured_case.epochs);
  measured.summary = summarize(epochs);
  measured.cpu_time =
      run.options.timing == Timing::kPipelined ? median_of(epochs, &Epoch::cpu_times) : measured.summary.median;
  if (!epochs.front().host_times.empty()) measured.host_time = median_of(epochs, &Epoch::host_times);
  add_rates(run, measured_case, measured);
  const std::int64_t operations =
      measured_case.plan.iterations * std::max<std::int64_t>(measured_case.plan.launches, 1);
  measured.operations_per_sample = operations * measured_case.operation.aggregated();
  measured.iterations = measured.summary.samples * operations;
  measured.choice = measured_case.choice;
  if (run.options.per_iteration) {
    measured.iteration_times = iteration_times(all_samples(epochs), run.options.per_iteration_skip);
  }
  if (run.options.output.samples) measured.samples = all_samples(epochs);
  return measured;
}

}  // namespace fabricbench
