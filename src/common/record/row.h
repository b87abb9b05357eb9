#pragma once

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "common/core/datatype.h"
#include "common/core/session.h"
#include "common/core/statistics.h"
#include "common/core/units.h"
#include "common/record/field.h"

namespace fabricbench {

template <typename Visitor, record::Of<Interval> Record>
void describe(Visitor& visitor, Record& interval) {
  using namespace record;
  visitor.part("interval", "The 95 % interval of a median, see Interval");
  visitor("low_us", us(interval.low), "lower end");
  visitor("high_us", us(interval.high), "upper end");
  visitor("confidence", interval.confidence, "actual coverage of the order statistics");
  visitor.derived("half_width_percent", interval.half_width() * 100, "half the width, relative to the median");
  visitor.internal(interval.centre);
}

/// Bytes that one network interface or RDMA port of a host carried during a measurement, whoever sent them.
struct NicBytes {
  std::string host;
  std::string name;
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
};

/// One rank's traffic in one operation.
struct RankTraffic {
  Bytes sent = 0;
  Bytes received = 0;
};

/// The columns of -I: times of single iterations, the maximum over ranks.
struct IterationTimes {
  Seconds min = 0;
  Seconds max = 0;
  Seconds p99 = 0;
  double variation_percent = 0;  ///< the standard deviation over the mean
};

/// The share of the time in which each rank's thread did not run, for one reason. Empty: unknown.
struct IdleShares {
  std::vector<double> by_rank;  ///< the mean over epochs
  std::vector<int> most_idle;   ///< rank with the largest share, by epoch
  std::vector<double> most;     ///< that share
};

/// The results of a row in one placement.
struct Measurement {
  Summary summary;
  std::optional<Seconds> cpu_time;         ///< time until the operations were started, the median over epochs
  std::optional<Seconds> host_time;        ///< the host's clock, if `summary` is by the device's
  std::vector<Seconds> rank_times;         ///< each rank's median
  std::vector<Seconds> rank_means;         ///< each rank's mean, the median over visits
  IdleShares stopped;                      ///< stopped or asleep
  IdleShares waiting;                      ///< waiting for a processor
  double processor_wait = 0;               ///< explaining_wait of these
  double algbw = 0;                        ///< bytes per second
  double busbw = 0;                        ///< bytes per second
  double message_rate = 0;                 ///< messages per second between two ranks; 0 for collectives
  std::vector<double> directions;          ///< both ways: bytes per second first to second, and back; else empty
  std::vector<double> queue_pairs;         ///< bytes per second by queue pair, both ways together; or empty
  std::optional<std::int64_t> iterations;  ///< timed iterations over all epochs
  std::optional<std::int64_t> operations_per_sample;  ///< pipelined: operations between two clock reads
  std::optional<std::uint64_t> wrong;                 ///< wrong elements over all ranks; empty: unchecked
  std::uint64_t wrong_ranks = 0;                      ///< ranks with wrong elements
  std::optional<std::uint64_t> checked_operations;    ///< whose result was compared on all ranks; empty: none
  std::optional<std::uint64_t> wrong_operations;      ///< where each is checked: of these, at one rank; else empty
  std::optional<double> checking_share;  ///< of the time, where each operation is checked: for that; else empty
  std::optional<std::uint64_t> checked_messages;  ///< with --check all; else empty, as the next one
  std::optional<std::uint64_t> wrong_messages;
  std::string first_wrong;  ///< place, expected value and found value on the lowest such rank
  /// Bits of an element that are 0 in some and 1 in other expected elements, as a share; empty: unchecked.
  std::optional<double> checked_bits_share;
  std::optional<bool> repeatable;  ///< whether the same input gave the same bits twice; empty: not tried
  std::string unrepeated;          ///< if not: where, on the lowest rank
  std::optional<LibraryChoice> choice;
  std::optional<IterationTimes> iteration_times;
  std::vector<NicBytes> nics;
  std::optional<double> background_rate;     ///< bytes per second of the stream beside the messages; empty: none
  std::optional<std::uint64_t> lost;         ///< UD messages that did not arrive; empty: none can be lost
  std::vector<std::uint64_t> retransmitted;  ///< TCP segments retransmitted, by rank; empty: not counted
  std::vector<Seconds> samples;              ///< in the order measured
};

/// One line of the table: a size in both placements. Data only; sinks format it.
struct Row {
  Bytes size = 0;
  std::uint64_t count = 0;
  DataType datatype = DataType::kFloat;
  Reduction reduction = Reduction::kNone;
  int root = -1;
  int group = 0;
  std::vector<RankTraffic> traffic;         ///< by rank, if ranks differ and it was asked for
  std::string skipped;                      ///< why nothing was measured; empty: it was measured
  std::optional<Measurement> out_of_place;  ///< empty if it was not run
  std::optional<Measurement> in_place;
  std::time_t finished = 0;
  bool cut_short = false;  ///< see InterimRows
};

/// One epoch of one case, reported as soon as it is measured.
struct EpochRecord {
  Bytes size = 0;
  std::uint64_t count = 0;
  DataType datatype = DataType::kFloat;
  Reduction reduction = Reduction::kNone;
  int root = -1;
  int group = 0;
  bool in_place = false;
  std::int64_t epoch = 0;  ///< from 0
  Seconds median = 0;
  double algbw = 0;  ///< bytes per second, of the median
  double busbw = 0;
  std::int64_t samples = 0;
  std::int64_t late = 0;
};

/// The end of a run.
struct Ending {
  int exit_status = 0;
  std::string reason;              ///< one sentence
  std::uint64_t wrong_checks = 0;  ///< checks with at least one wrong element, over all ranks
  /// Bytes per second: the mean over all measurements of the table; with several groups, the slowest group's.
  std::optional<double> average_busbw;
  std::optional<bool> fast_enough;       ///< whether the required bandwidth was reached, if one was given
  std::uint64_t peak_memory_bytes = 0;   ///< resident, maximum over ranks; 0: unknown
  std::optional<double> stolen_percent;  ///< processor time taken by the hypervisor, on the host with the highest share
  std::string memory_usage;              ///< one line on GPU memory; empty: not asked for
  std::string precision;                 ///< one line on the precision of the figures
  std::vector<std::string> nics;         ///< interfaces and ports that carried the traffic, a line each
  std::vector<std::string> processors;   ///< where the ranks of each host ran, a line each
  std::vector<std::string> notes;        ///< notes on the figures, a line each
  std::vector<std::string> baseline;     ///< the run beside a baseline, a line each; its records are in files
};

template <typename Visitor, record::Of<LibraryChoice> Record>
void describe(Visitor& visitor, Record& choice) {
  using namespace record;
  visitor.part("choice", "The library's choice");
  visitor("algorithm", choice.algorithm, "algorithm, as the library names it");
  visitor("protocol", choice.protocol, "protocol, as the library names it");
  visitor("channels", null_if_none(choice.channels), "number of channels");
}

template <typename Visitor, record::Of<IterationTimes> Record>
void describe(Visitor& visitor, Record& times) {
  using namespace record;
  visitor.part("iteration_times", "With `-I 1`: times of single iterations by the GPU's clock, maximum over ranks");
  visitor("min_us", us(times.min), "the shortest");
  visitor("max_us", us(times.max), "the longest");
  visitor("p99_us", us(times.p99), "99th percentile");
  visitor("variation_percent", times.variation_percent, "standard deviation relative to the mean");
}

template <typename Visitor, record::Of<NicBytes> Record>
void describe(Visitor& visitor, Record& nic) {
  using namespace record;
  visitor.part("wire_bytes",
               "Traffic of one interface or RDMA port of a host during the timed visits, from all senders");
  visitor("host", nic.host, "host of the interface or port");
  visitor("wire", nic.name, "interface, or RDMA device and port; includes the loopback and bonds");
  visitor("sent_bytes", natural(nic.sent), "bytes that it sent");
  visitor("received_bytes", natural(nic.received), "bytes that it received");
}

template <typename Visitor, record::Of<RankTraffic> Record>
void describe(Visitor& visitor, Record& traffic) {
  using namespace record;
  visitor.part("rank_traffic", "Traffic of one rank in one operation");
  visitor("sent_bytes", natural(traffic.sent), "bytes that the rank sends");
  visitor("received_bytes", natural(traffic.received), "bytes that the rank receives");
}

template <typename Visitor, record::Of<TimesSlowest> Record>
void describe(Visitor& visitor, Record& count) {
  visitor.internal(count.rank, count.epoch, count.samples);
}

template <typename Visitor, record::Of<IdleShares> Record>
void describe(Visitor& visitor, Record& shares) {
  visitor.internal(shares.by_rank, shares.most_idle, shares.most);
}

/// What was sent in vain.
template <typename Visitor, record::Of<Measurement> Record>
void describe_losses(Visitor& visitor, Record& measured) {
  using namespace record;
  visitor("retransmitted_segments", null_if_none(measured.retransmitted),
          "TCP: segments retransmitted while messages were timed, by the first and by the second rank of the pair");
  visitor("lost_messages", measured.lost, "RDMA with `-c UD`: timed messages that did not arrive, both ways together");
}

/// The results of the checks.
template <typename Visitor, record::Of<Measurement> Record>
void describe_checks(Visitor& visitor, Record& measured) {
  visitor("wrong_elements", measured.wrong, "sum over all ranks; null: unchecked");
  visitor("checked_operations", measured.checked_operations,
          "operations whose result was compared on all ranks; null: unchecked, or `checked_messages`");
  visitor(
      "wrong_operations", measured.wrong_operations,
      "collectives with `--check all`: of these, those with wrong elements, at the rank that has most; null: without "
      "it");
  visitor(
      "checking_share", measured.checking_share,
      "collectives with `--check all`: share of the time that went to filling and checking buffers; null: without it");
  visitor(
      "checked_messages", measured.checked_messages,
      "messages with `--check all`: those that arrived, warm-up included, each of which was checked; null: without it");
  visitor("wrong_messages", measured.wrong_messages, "of these, those with wrong elements; null: without it");
  visitor("checked_bits_share", measured.checked_bits_share,
          "share of an element's bits that are 0 in some and 1 in others of the expected elements; null: unchecked");
  visitor("repeatable", measured.repeatable,
          "with `--repeatable`: whether the same input gave the same bits twice; null: not tried");
}

/// How ranks differ.
template <typename Visitor, typename Record>
void describe_ranks(Visitor& visitor, Record& measured) {
  using namespace record;
  auto& summary = measured.summary;
  visitor("preemptions", natural(summary.preemptions), "involuntary context switches, sum over all ranks");
  visitor("most_preempted_rank", natural(summary.most_preempted_rank), "rank with most of them");
  visitor("processor_wait_share", left_out_if_none(measured.processor_wait),
          "share of the time for which the rank that did so most waited for a processor, the median over epochs: the "
          "figures are none of the network; missing below 0.1, or if unknown");
  visitor("slowest_rank", natural(summary.slowest_rank), "rank that was slowest in most samples");
  visitor("slowest_rank_share", summary.slowest_share, "its share of the samples");
  visitor("rank_times_us", us(measured.rank_times), "median of each rank, by rank");
}

/// The distribution of all samples.
template <typename Visitor, typename Record>
void describe_samples(Visitor& visitor, Record& summary) {
  using namespace record;
  visitor("time_us_mean", us(summary.mean), "mean over all samples, as for the following times");
  visitor("time_us_stdev", us(summary.standard_deviation), "population standard deviation");
  visitor("time_us_min", us(summary.min), "shortest sample");
  visitor("time_us_p5", us(summary.p5), "5th percentile");
  visitor("time_us_p95", us(summary.p95), "95th percentile");
  visitor("time_us_p99", us(summary.p99), "99th percentile; null with fewer than 299 samples");
  visitor("time_us_p999", us(summary.p999), "99.9th percentile; null with fewer than 2,995 samples");
  visitor("time_us_max", us(summary.max), "longest sample");
  visitor("jitter_us", us(summary.jitter),
          "mean difference between consecutive samples of an epoch; null: no epoch has two");
}

template <typename Visitor, record::Of<Measurement> Record>
void describe(Visitor& visitor, Record& measured) {
  using namespace record;
  auto& summary = measured.summary;
  visitor.part("measurement", "The results of a row in one placement; ranks are numbered within the group");
  visitor("time_us_median", us(summary.median),
          "the table's time: the median over epochs of each epoch's median sample");
  visitor("time_us_interval", summary.interval, "interval of that median; null with fewer than 6 epochs");
  visitor("algbw_gb_per_s", gb_per_s(measured.algbw), "algorithm bandwidth, as in the table");
  visitor("busbw_gb_per_s", gb_per_s(measured.busbw), "bus bandwidth, as in the table");
  visitor("message_rate_per_s", null_if_none(measured.message_rate),
          "messages per second between two ranks; for both ways, the sum of both directions; null for collectives");
  visitor(
      "directions_gb_per_s", null_if_none(gb_per_s(measured.directions)),
      "both ways: bandwidth from the first rank of the pair to the second, and back, each over its own time; their sum "
      "is `algbw_gb_per_s`; null if the library does not tell when messages have arrived (NCCL)");
  visitor("queue_pairs_gb_per_s", null_if_none(gb_per_s(measured.queue_pairs)),
          "RDMA bandwidth with several queue pairs: what each carried of `busbw_gb_per_s`, by queue pair, both ways "
          "together");
  describe_losses(visitor, measured);
  visitor("background_gb_per_s", gb_per_s(measured.background_rate),
          "RDMA with `--background`: bandwidth of that stream");
  describe_checks(visitor, measured);
  visitor("epochs", natural(summary.epochs), "number of epochs with samples");
  visitor("epoch_times_us", us(summary.epoch_medians), "median sample of each epoch, in the order measured");
  visitor("samples", natural(summary.samples), "samples used, over all epochs");
  visitor("iterations", natural(measured.iterations), "timed iterations in these samples");
  visitor("operations_per_sample", natural(measured.operations_per_sample), "operations between two clock reads");
  describe_samples(visitor, measured.summary);
  visitor("cpu_time_us_median", us(measured.cpu_time), "time until the operations were started, median over epochs");
  visitor("outliers", natural(summary.outliers),
          "samples above the third quartile by more than three interquartile ranges; counted, never removed");
  visitor("late_starts", natural(summary.late), "isolated timing: samples discarded because a rank started late");
  visitor("drift_percent", percent(summary.drift),
          "rise of the epochs' medians over the run, relative to their median; null with fewer than 3 epochs");
  visitor("sign_autocorrelation", summary.autocorrelation,
          "near 0 for independent samples, near 1 if slow and fast samples cluster");
  describe_ranks(visitor, measured);
  visitor("host_time_us_median", us(measured.host_time),
          "median by the host's clock, if the other times are by the GPU's");
  visitor("choice", measured.choice, "the library's choice; null: unknown");
  visitor("iteration_times", measured.iteration_times, "null without `-I 1`");
  visitor("wires", measured.nics, "traffic of the network interfaces and RDMA ports of all hosts");
  visitor(
      "clock_resolution_us", left_out_if_none(us(summary.resolution)),
      "step of the GPU's clock, per operation: times that differ by less look the same; missing if the host's clock "
      "took the times");
  visitor("clock_error_us", us(summary.clock_error), "isolated timing: largest error bound of the common clock");
  visitor("common_start", summary.common_start,
          "isolated timing: false if a barrier instead of the clock started some epoch");
  visitor("samples_us", left_out_if_none(us(measured.samples)),
          "with `--samples`: every sample, in the order measured");
  visitor.internal(measured.wrong_ranks, measured.first_wrong, measured.unrepeated, summary.times_slowest,
                   measured.rank_means, measured.stopped, measured.waiting);
}

template <typename Visitor, record::Of<Row> Record>
void describe(Visitor& visitor, Record& row) {
  using namespace record;
  visitor.line("row", "One line per row of the table");
  visitor("size_bytes", natural(row.size), "size of the larger of a rank's two buffers, or of a message");
  visitor("count", natural(row.count), "elements given to the operation");
  visitor("datatype", row.datatype, "datatype of the elements");
  visitor("reduction", row.reduction, "`none` for operations that only move data");
  visitor("root", row.root, "rank within the group; -1 without a root");
  visitor("group", natural(row.group), "index in the context's `groups`");
  visitor("traffic", row.traffic, "traffic by rank, with alltoallv's `--traffic-summary 1`; else empty");
  visitor("skipped", null_if_none(row.skipped), "why nothing was measured; null: it was measured");
  visitor("finished_utc", utc(row.finished), "when the row was complete");
  visitor("out_of_place", row.out_of_place, "null: not run");
  visitor("in_place", row.in_place, "null: not run, or not possible");
  visitor("cut_short", left_out_if_none(row.cut_short),
          "true: the run ended before the row was complete; its figures are of the epochs finished until then, each of "
          "which counts as one sample, its median, or with 0 epochs an estimate; what epochs do not tell is null or an "
          "empty list");
}

template <typename Visitor, record::Of<EpochRecord> Record>
void describe(Visitor& visitor, Record& epoch) {
  using namespace record;
  visitor.line("epoch", "After each epoch of each size and placement");
  visitor("size_bytes", natural(epoch.size), "see `row`, as for the following keys");
  visitor("count", natural(epoch.count), "elements given to the operation");
  visitor("datatype", epoch.datatype, "datatype of the elements");
  visitor("reduction", epoch.reduction, "reduction, or `none`");
  visitor("root", epoch.root, "root, or -1");
  visitor("group", natural(epoch.group), "index in the context's `groups`");
  visitor("in_place", epoch.in_place, "whether it was measured in place");
  visitor("epoch", natural(epoch.epoch), "number of the epoch, from 0");
  visitor("time_us_median", us(epoch.median), "median of its samples");
  visitor("algbw_gb_per_s", gb_per_s(epoch.algbw), "algorithm bandwidth at that median");
  visitor("busbw_gb_per_s", gb_per_s(epoch.busbw), "bus bandwidth at that median");
  visitor("samples", natural(epoch.samples), "number of samples used");
  visitor("late_starts", natural(epoch.late), "isolated timing: samples discarded because a rank started late");
}

template <typename Visitor, record::Of<Ending> Record>
void describe(Visitor& visitor, Record& ending) {
  using namespace record;
  visitor.line("end", "The end of the run; missing if the run was killed by SIGKILL");
  visitor("exit_status", natural(ending.exit_status),
          "exit status, see Exit status; of a run that a signal ended, 128 and its number");
  visitor("reason", ending.reason, "one sentence");
  visitor("wrong_checks", natural(ending.wrong_checks), "checks with at least one wrong element, over all ranks");
  visitor("average_busbw_gb_per_s", gb_per_s(ending.average_busbw),
          "mean over all measurements of the table; with several groups, the slowest group's");
  visitor("fast_enough", ending.fast_enough,
          "whether `--min-bw` and other required figures were reached; null: none required");
  visitor("peak_memory_bytes", natural(ending.peak_memory_bytes), "resident memory, maximum over ranks; 0: unknown");
  visitor("stolen_percent", ending.stolen_percent, "CPU steal on the host with the highest share");
  visitor("memory_usage", ending.memory_usage, "GPU memory used, with `-M 1`; else empty");
  visitor("precision", ending.precision, "precision of the figures");
  visitor("wires", ending.nics, "interfaces and RDMA ports that carried the traffic, a line each");
  visitor("processors", ending.processors,
          "processors and NUMA nodes on which the ranks of each host ran, a line each");
  visitor("notes", ending.notes, "notes on the figures, a line each");
}

}  // namespace fabricbench
