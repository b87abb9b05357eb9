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
#include "common/record/interval.h"

namespace fabricbench {

/// Bytes that one wire of a host, a network interface or an RDMA port, carried during a measurement: all bytes,
/// whoever sent them.
struct WireBytes {
  std::string host;
  std::string name;
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
};

/// What one rank sends and receives in one operation.
struct RankTraffic {
  Bytes sent = 0;
  Bytes received = 0;
};

/// The columns of -I: times of single iterations, the longest of any rank.
struct IterationTimes {
  Seconds min = 0;
  Seconds max = 0;
  Seconds p99 = 0;
  double variation_percent = 0;  ///< the standard deviation over the mean
};

/// What was measured of a row in one placement.
struct Measurement {
  Summary summary;
  Seconds cpu_time = 0;                    ///< until the operations were started, the median over epochs
  std::optional<Seconds> host_time;        ///< by the host's clock where `summary` is by the device's
  std::vector<Seconds> rank_times;         ///< each rank's own median
  double algbw = 0;                        ///< bytes per second
  double busbw = 0;                        ///< bytes per second
  double message_rate = 0;                 ///< messages per second, of messages between two ranks; else 0
  std::vector<double> directions;          ///< both ways: bytes per second from first to second, and back; else empty
  std::int64_t iterations = 0;             ///< timed, over all epochs
  std::int64_t operations_per_sample = 1;  ///< pipelined: operations between two clock reads
  std::optional<std::uint64_t> wrong;      ///< wrong elements over all ranks; nothing where unchecked
  std::uint64_t wrong_ranks = 0;           ///< ranks that found any
  std::string first_wrong;                 ///< of the lowest of them: where, what was expected and what was there
  std::optional<LibraryChoice> choice;
  std::optional<IterationTimes> iteration_times;
  std::vector<WireBytes> wires;
  std::optional<std::uint64_t> lost;         ///< messages of UD that did not arrive; nothing: that cannot happen
  std::vector<std::uint64_t> retransmitted;  ///< TCP segments sent again, by rank; empty: not counted
  std::vector<Seconds> samples;              ///< in the order measured
};

/// One line of the table: a size with both placements. Data only; sinks give it form.
struct Row {
  Bytes size = 0;
  std::uint64_t count = 0;
  DataType datatype = DataType::kFloat;
  Reduction reduction = Reduction::kNone;
  int root = -1;
  int group = 0;
  std::vector<RankTraffic> traffic;         ///< by rank, where ranks differ and it was asked for
  std::string skipped;                      ///< why nothing was measured; empty: it was
  std::optional<Measurement> out_of_place;  ///< nothing where it was not run
  std::optional<Measurement> in_place;
  std::time_t finished = 0;
};

/// One epoch of one case, reported as soon as it is measured.
struct EpochRecord {
  Bytes size = 0;
  DataType datatype = DataType::kFloat;
  Reduction reduction = Reduction::kNone;
  int root = -1;
  int group = 0;
  bool in_place = false;
  std::int64_t epoch = 0;  ///< from 0
  Seconds median = 0;
  std::int64_t samples = 0;
  std::int64_t late = 0;
};

/// How the run ended.
struct Ending {
  int exit_status = 0;
  std::string reason;              ///< one sentence
  std::uint64_t wrong_checks = 0;  ///< checks with at least one wrong element, over all ranks
  /// Bytes per second: the plain mean over all measurements of the table; of several groups, the lowest group's.
  double average_busbw = 0;
  std::optional<bool> fast_enough;      ///< against the bandwidth asked for, if any
  std::uint64_t peak_memory_bytes = 0;  ///< resident, of the rank that had most; 0: unknown
  double stolen_percent = 0;            ///< of processor time, by the hypervisor, on the host where it was most
  std::string memory_usage;             ///< one line on the GPUs' memory; empty: not asked for
  std::string precision;                ///< one line: how precise the figures are
  std::vector<std::string> wires;       ///< which wires carried the traffic, a line each
  std::vector<std::string> notes;       ///< what the user should know of the figures, a line each
};

template <typename Form, record::Of<LibraryChoice> Record>
void describe(Form& form, Record& choice) {
  using namespace record;
  form.part("choice", "What the library chose");
  form("algorithm", choice.algorithm, "as the library names it");
  form("protocol", choice.protocol, "as the library names it");
  form("channels", null_if_none(choice.channels), "how many it used");
}

template <typename Form, record::Of<IterationTimes> Record>
void describe(Form& form, Record& times) {
  using namespace record;
  form.part("iteration_times", "With `-I 1`: times of single iterations by the GPU's clock, the longest of any rank");
  form("min_us", us(times.min), "the shortest");
  form("max_us", us(times.max), "the longest");
  form("p99_us", us(times.p99), "that 99 % do not exceed");
  form("variation_percent", times.variation_percent, "the standard deviation, of the mean");
}

template <typename Form, record::Of<WireBytes> Record>
void describe(Form& form, Record& wire) {
  using namespace record;
  form.part("wire_bytes", "What one interface or RDMA port of a host carried during the timed visits, whoever sent it");
  form("host", wire.host, "whose it is");
  form("wire", wire.name, "the interface, or the RDMA device and port; the loopback and bonds are listed too");
  form("sent_bytes", natural(wire.sent), "");
  form("received_bytes", natural(wire.received), "");
}

template <typename Form, record::Of<RankTraffic> Record>
void describe(Form& form, Record& traffic) {
  using namespace record;
  form.part("rank_traffic", "What one rank sends and receives in one operation");
  form("sent_bytes", natural(traffic.sent), "");
  form("received_bytes", natural(traffic.received), "");
}

template <typename Form, record::Of<Measurement> Record>
void describe(Form& form, Record& measured) {
  using namespace record;
  auto& summary = measured.summary;
  form.part("measurement", "What was measured of a row in one placement; ranks in it are of the group");
  form("time_us_median", us(summary.median), "the table's time: the median over epochs of each epoch's median sample");
  form("time_us_interval", summary.interval, "of that median; null with fewer than 6 epochs");
  form("algbw_gb_per_s", gb_per_s(measured.algbw), "as in the table");
  form("busbw_gb_per_s", gb_per_s(measured.busbw), "as in the table");
  form("message_rate_per_s", null_if_none(measured.message_rate),
       "messages a second between two ranks, both ways of both directions together; null of collectives");
  form("directions_gb_per_s", null_if_none(gb_per_s(measured.directions)),
       "both ways: from the first rank of the pair to the second, and back");
  form("retransmitted_segments", null_if_none(measured.retransmitted),
       "of TCP: segments sent again during the timed visits, by the first rank of the pair and by the second");
  form("lost_messages", measured.lost, "of RDMA with `-c UD`: messages that did not arrive during the timed visits");
  form("wrong_elements", measured.wrong, "over all ranks; null where unchecked");
  form("epochs", natural(summary.epochs), "");
  form("samples", natural(summary.samples), "that count, over all epochs");
  form("iterations", natural(measured.iterations), "timed, behind these samples");
  form("operations_per_sample", natural(measured.operations_per_sample), "operations between two clock reads");
  form("time_us_mean", us(summary.mean), "over all samples, as the following times are");
  form("time_us_stdev", us(summary.standard_deviation), "the standard deviation, over the number of samples");
  form("time_us_min", us(summary.min), "");
  form("time_us_p5", us(summary.p5), "that 5 % do not exceed");
  form("time_us_p95", us(summary.p95), "that 95 % do not exceed");
  form("time_us_p99", us(summary.p99), "that 99 % do not exceed; null with fewer than 299 samples");
  form("time_us_p999", us(summary.p999), "that 99.9 % do not exceed; null with fewer than 2,995 samples");
  form("time_us_max", us(summary.max), "");
  form("jitter_us", us(summary.jitter), "the mean difference between one sample and the next of its epoch");
  form("cpu_time_us_median", us(measured.cpu_time), "until the operations were started");
  form("outliers", natural(summary.outliers),
       "samples above the third quartile by more than three interquartile ranges; counted, never removed");
  form("late_starts", natural(summary.late), "isolated: samples left out because a rank started late");
  form("drift_percent", percent(summary.drift), "how much the epochs' medians rose over the run, of their median");
  form("sign_autocorrelation", summary.autocorrelation,
       "near 0 for independent samples, near 1 where slow and fast ones come in stretches");
  form("preemptions", natural(summary.preemptions), "involuntary context switches, over all ranks");
  form("most_preempted_rank", natural(summary.most_preempted_rank), "the rank with most of them");
  form("slowest_rank", natural(summary.slowest_rank), "the rank that was slowest in most samples");
  form("slowest_rank_share", summary.slowest_share, "in what share of the samples it was");
  form("rank_times_us", us(measured.rank_times), "each rank's own median, by rank");
  form("host_time_us_median", us(measured.host_time), "by the host's clock, where the other times are by the GPU's");
  form("choice", measured.choice, "what the library chose; null where it does not tell");
  form("iteration_times", measured.iteration_times, "null without `-I 1`");
  form("wires", measured.wires, "what the wires of all hosts carried");
  form("clock_error_us", us(summary.clock_error), "isolated: the largest bound of the common clock's error");
  form("common_start", summary.common_start, "isolated: false where a barrier started some epoch instead of the clock");
  form("samples_us", left_out_if_none(us(measured.samples)), "with `--samples`: every sample, in the order measured");
  form.hidden(measured.wrong_ranks, measured.first_wrong);
}

template <typename Form, record::Of<Row> Record>
void describe(Form& form, Record& row) {
  using namespace record;
  form.line("row", "Of each row of the table");
  form("size_bytes", natural(row.size), "of the larger of a rank's two buffers, or of a message");
  form("count", natural(row.count), "elements given to the operation");
  form("datatype", row.datatype, "");
  form("reduction", row.reduction, "none of operations that only move data");
  form("root", row.root, "a rank of the group; -1 where there is none");
  form("group", natural(row.group), "whose row it is, of the context's `groups`");
  form("traffic", row.traffic, "by rank, with alltoallv's `--traffic-summary 1`; else empty");
  form("skipped", null_if_none(row.skipped), "why nothing was measured");
  form("finished_utc", utc(row.finished), "");
  form("out_of_place", row.out_of_place, "null where it was not run");
  form("in_place", row.in_place, "null where it was not run, or does not exist");
}

template <typename Form, record::Of<EpochRecord> Record>
void describe(Form& form, Record& epoch) {
  using namespace record;
  form.line("epoch", "After each epoch of each size and placement");
  form("size_bytes", natural(epoch.size), "see `row`, as with all that follow");
  form("datatype", epoch.datatype, "");
  form("reduction", epoch.reduction, "");
  form("root", epoch.root, "");
  form("group", natural(epoch.group), "");
  form("in_place", epoch.in_place, "");
  form("epoch", natural(epoch.epoch), "its number, from 0");
  form("time_us_median", us(epoch.median), "of its samples");
  form("samples", natural(epoch.samples), "that count");
  form("late_starts", natural(epoch.late), "isolated: samples left out because a rank started late");
}

template <typename Form, record::Of<Ending> Record>
void describe(Form& form, Record& ending) {
  using namespace record;
  form.line("end", "How the run ended; a file without it is of a run that was killed");
  form("exit_status", natural(ending.exit_status), "see Exit status");
  form("reason", ending.reason, "one sentence");
  form("wrong_checks", natural(ending.wrong_checks), "checks with at least one wrong element, over all ranks");
  form("average_busbw_gb_per_s", gb_per_s(ending.average_busbw),
       "the plain mean over all measurements of the table; of several groups, the slowest one's");
  form("fast_enough", ending.fast_enough, "against `--min-bw` or what else was required; null: nothing was");
  form("peak_memory_bytes", natural(ending.peak_memory_bytes), "resident, of the rank that had most; 0: not known");
  form("stolen_percent", ending.stolen_percent, "CPU steal on the host that had most of it");
  form("memory_usage", ending.memory_usage, "of the GPUs, with `-M 1`; else empty");
  form("precision", ending.precision, "how precise the figures are");
  form("wires", ending.wires, "which wires carried the traffic, a line each");
  form("notes", ending.notes, "what to know of the figures, a line each");
}

}  // namespace fabricbench
