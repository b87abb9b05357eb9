#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/names.h"
#include "common/core/script_command.h"
#include "common/core/units.h"
#include "common/record/field.h"

namespace fabricbench {

/// The outcome of measuring one direction of a pair.
enum class ReadingStatus {
  kOk,
  kSlow,     ///< separate run per pair: the figure is below the required one
  kFailed,   ///< separate run per pair: no figure; the reason says why
  kTimeout,  ///< the messages did not arrive within the pair's time limit
  kWrong,    ///< arrived data differ from the data sent
  kNotTried  ///< an earlier meeting of the pair timed out, and its messages may still be in flight
};
/// As spelled in JSON and CSV.
constexpr auto names_of(ReadingStatus) {
  return std::to_array<std::string_view>({"ok", "slow", "failed", "timeout", "wrong", "not_tried"});
}

/// One end of a reading. Texts come from elsewhere; empty: absent or unknown.
struct ReadingEnd {
  int rank = 0;
  std::string_view host;
  std::string_view rail;  ///< name of the endpoint on its host: its GPU, NIC or local rank; empty if the host has one
  std::string_view nic;   ///< the host's name for it
  std::string_view nic_guid;          ///< unique
  std::string_view gpu;               ///< PCI address
  std::string_view gpu_uuid;          ///< unique
  std::string_view switch_port;       ///< switch port at the other end of the NIC's cable
  std::optional<double> port_rate{};  ///< the port's one-way rate in bytes per second

  [[nodiscard]] bool has_devices() const {
    return !nic.empty() || !nic_guid.empty() || !gpu.empty() || !gpu_uuid.empty() || !switch_port.empty() || port_rate;
  }
};

/// One measurement of messages from one endpoint to another in a sweep. Endpoints are numbered in the order of
/// Context::ranks.
struct PairReading {
  std::int64_t round = 0;  ///< from 0
  int concurrent = 0;      ///< pairs measured at the same time, including this one
  int from = 0;
  int to = 0;
  ReadingEnd from_end;
  ReadingEnd to_end;
  std::string_view test;  ///< the program's name
  Bytes size = 0;         ///< message size
  ReadingStatus status = ReadingStatus::kOk;
  double bandwidth = 0;                ///< bytes per second, the median over the windows; 0: not measured
  double least_bandwidth = 0;          ///< bytes per second in the slowest window
  double most_bandwidth = 0;           ///< bytes per second in the fastest window
  std::int64_t windows = 0;            ///< number of samples
  std::int64_t messages = 0;           ///< messages per window
  std::optional<Seconds> latency;      ///< half a round trip of 8 bytes, the median; the same in both directions
  double processor_wait = 0;           ///< explaining_wait of the windows, of sender or receiver
  std::optional<std::uint64_t> wrong;  ///< wrong elements; empty: unchecked
  std::string reason;                  ///< why there is no figure, or where the data are wrong; empty: no error
};

/// A reading of sweep_pairs.sh, from a separate run for each pair; also the common part of every reading.
struct RecordedReading {
  std::optional<std::int64_t> round;
  std::optional<std::int64_t> concurrent;  ///< 0: unknown
  std::optional<std::int64_t> from;        ///< the endpoint's number, from pairwise_bw only
  std::optional<std::int64_t> to;
  ReadingEnd from_end;
  ReadingEnd to_end;
  std::string_view test;
  std::optional<std::int64_t> size;
  std::optional<ReadingStatus> status;
  bool both_ways = false;           ///< whether the figure is the sum of both directions
  std::optional<double> bandwidth;  ///< bytes per second; empty: no figure
  std::optional<Seconds> latency;
  double processor_wait = 0;  ///< as PairReading has it
  std::string_view reason;
  std::string_view log;
  std::string_view finished;  ///< in UTC, ISO 8601
  std::optional<std::int64_t> seconds;
};

/// The first line of sweep_pairs.sh; and the leaf switch of a host.
struct SweepStart {
  std::vector<std::string> hosts;  ///< hosts to be measured
  std::string began{};             ///< in UTC, ISO 8601
  HowStarted how{};
  std::int64_t not_understood = 0;  ///< number of files of other tools
};
struct HostLocality {
  std::string_view host;
  std::string_view leaf;
};

/// A summary of a sweep's readings for one endpoint.
struct EndpointSummary {
  /// The readings in one direction, over all partners.
  struct Direction {
    std::int64_t readings = 0;                        ///< number of readings with a figure
    double median = 0;                                ///< bytes per second; 0: no readings
    double least = 0;                                 ///< bytes per second
    std::optional<int> least_partner{};               ///< the peer of the lowest reading
    std::optional<int> least_partner_rank{};          ///< its rank
    std::optional<std::string> least_partner_host{};  ///< its host
  };
  int endpoint = 0;
  int rank = 0;
  std::string host;
  Direction sent;
  Direction received;
  std::optional<Seconds> latency;  ///< the median over all partners
  std::int64_t failed = 0;         ///< readings without a figure or with wrong data, in both directions
  bool cut_short = false;          ///< see InterimSweep
};

/// The devices at both ends.
template <typename Visitor, typename End>
void describe_devices(Visitor& visitor, End& from, End& to) {
  using namespace record;
  visitor("from_nic", left_out_if_none(from.nic), "the sender's NIC, by its host's name for it");
  visitor("from_nic_guid", left_out_if_none(from.nic_guid), "unique identifier of that NIC");
  visitor("from_gpu", left_out_if_none(from.gpu), "the PCI address of the sender's GPU");
  visitor("from_gpu_uuid", left_out_if_none(from.gpu_uuid), "unique identifier of that GPU");
  visitor("from_switch_port", left_out_if_none(from.switch_port), "switch port at the other end of that NIC's cable");
  visitor("from_port_gb_per_s", left_out_if_none(gb_per_s(from.port_rate)), "rate of the sender's port");
  visitor("to_nic", left_out_if_none(to.nic), "the receiver's NIC, by its host's name for it");
  visitor("to_nic_guid", left_out_if_none(to.nic_guid), "GUID of the receiver's NIC");
  visitor("to_gpu", left_out_if_none(to.gpu), "PCI address of the receiver's GPU");
  visitor("to_gpu_uuid", left_out_if_none(to.gpu_uuid), "UUID of the receiver's GPU");
  visitor("to_switch_port", left_out_if_none(to.switch_port), "switch port of the receiver's NIC");
  visitor("to_port_gb_per_s", left_out_if_none(gb_per_s(to.port_rate)), "rate of the receiver's port");
}

template <typename Visitor, record::Of<PairReading> Record>
void describe(Visitor& visitor, Record& reading) {
  using namespace record;
  visitor.line("reading", "In a sweep, one line per pair and direction at the end of each round");
  visitor("round", natural(reading.round), "from 0");
  visitor("concurrent", natural(reading.concurrent), "pairs measured at the same time, including this one");
  visitor("from", natural(reading.from), "number of the sending endpoint");
  visitor("to", natural(reading.to), "number of the receiving endpoint");
  visitor("from_rank", natural(reading.from_end.rank),
          "the sender's rank; ranks and hosts are repeated so that a line stands alone");
  visitor("to_rank", natural(reading.to_end.rank), "rank of the receiving endpoint");
  visitor("from_host", reading.from_end.host, "host of the sender");
  visitor("to_host", reading.to_end.host, "host of the receiver");
  visitor("from_rail", null_if_none(reading.from_end.rail),
          "name of the endpoint on its host: `gpu0` by CUDA's number, `rank0` by the rank on that host; null if no "
          "host has several");
  visitor("to_rail", null_if_none(reading.to_end.rail), "rail of the receiver, null: unknown");
  describe_devices(visitor, reading.from_end, reading.to_end);
  visitor("test", reading.test, "the program's name");
  visitor.derived("both_ways", false, "always false: the figure is for one direction");
  visitor("size_bytes", natural(reading.size), "message size");
  visitor(
      "status", reading.status,
      "`ok`; `wrong`: arrived data differ from the data sent; `timeout`: the pair took longer than `--pair-timeout`; "
      "`not_tried`: an earlier measurement of the pair timed out");
  visitor("bandwidth_gb_per_s", null_if_none(gb_per_s(reading.bandwidth)),
          "median over the windows; null without a figure");
  visitor("bandwidth_gb_per_s_min", null_if_none(gb_per_s(reading.least_bandwidth)), "in the slowest window");
  visitor("bandwidth_gb_per_s_max", null_if_none(gb_per_s(reading.most_bandwidth)), "in the fastest window");
  visitor("windows", natural(reading.windows), "number of timed windows");
  visitor("messages_per_window", natural(reading.messages), "messages in each window");
  visitor("latency_us", us(reading.latency),
          "half a round trip of 8 bytes, median; the same in both directions of a pair; null: unknown");
  visitor("processor_wait_share", left_out_if_none(reading.processor_wait),
          "share of the time for which the sender or the receiver waited for a processor, whichever did so more: the "
          "figure is none of the network; missing below 0.1, or if unknown");
  visitor("wrong_elements", reading.wrong, "null: unchecked");
  visitor("reason", null_if_none(reading.reason),
          "why there is no figure, or where the data are wrong; null: no error");
}

template <typename Visitor, record::Of<RecordedReading> Record>
void describe(Visitor& visitor, Record& reading) {
  using namespace record;
  visitor.line("reading", "In a sweep of sweep_pairs.sh, one line per pair and direction at the end of each run",
               "pair_reading");
  visitor("round", reading.round, "from 0");
  visitor("concurrent", reading.concurrent, "pairs measured at the same time, including this one; 0: unknown");
  visitor("from", left_out_if_none(reading.from), "number of the sending endpoint, if it has one");
  visitor("to", left_out_if_none(reading.to), "number of the receiving endpoint, if it has one");
  visitor("from_host", reading.from_end.host, "host of the sender");
  visitor("to_host", reading.to_end.host, "host of the receiver");
  visitor("from_rail", name_or_number(null_if_none(reading.from_end.rail)),
          "the NIC or GPU, if several are measured separately");
  visitor("to_rail", name_or_number(null_if_none(reading.to_end.rail)), "rail of the receiver, null: unknown");
  describe_devices(visitor, reading.from_end, reading.to_end);
  visitor("test", reading.test, "name of the program");
  visitor("size_bytes", reading.size, "message size");
  visitor("status", reading.status, "outcome of the measurement");
  visitor("both_ways", reading.both_ways, "whether the figure is the sum of both directions");
  visitor("bandwidth_gb_per_s", gb_per_s(reading.bandwidth), "null without a figure");
  visitor("latency_us", us(reading.latency), "null: not measured");
  visitor("processor_wait_share", left_out_if_none(reading.processor_wait),
          "as the run has it: the figure is none of the network; missing if there was no such wait");
  visitor("reason", null_if_none(reading.reason), "why it failed; null: it did not");
  visitor("log", null_if_none(reading.log), "file with the output of a failed run");
  visitor("finished_utc", left_out_if_none(reading.finished), "end of the run");
  visitor("seconds", left_out_if_none(reading.seconds), "duration of the run, at least 1");
}

template <typename Visitor, record::Of<SweepStart> Record>
void describe(Visitor& visitor, Record& start) {
  visitor.line("sweep", "The first line of sweep_pairs.sh", "sweep_start");
  visitor("hosts", start.hosts, "all hosts of the sweep, including those that never answer");
  visitor("began_utc", record::left_out_if_none(start.began), "when the sweep began");
  visitor("launcher", record::left_out_if_none(start.how.launcher), "--launcher, if it was given");
  visitor("agent", record::left_out_if_none(start.how.agent), "--agent, if it was given");
  visitor("mpi_options", record::left_out_if_none(start.how.mpi_options), "--mpi-options, if they were given");
  visitor("programs", record::left_out_if_none(start.how.programs), "--programs, if it was given");
  visitor("not_understood", record::left_out_if_none(start.not_understood),
          "number of files of other tools whose results were not understood; missing if there were none");
  visitor.other_keys("the settings of the sweep");
}

template <typename Visitor, record::Of<HostLocality> Record>
void describe(Visitor& visitor, Record& locality) {
  visitor.line("locality", "The location of a host, one line per host");
  visitor("host", locality.host, "name of the host");
  visitor("leaf", locality.leaf, "its leaf switch");
}

template <typename Visitor, record::Of<EndpointSummary::Direction> Record>
void describe(Visitor& visitor, Record& direction) {
  using namespace record;
  visitor.part("endpoint_direction", "The readings of an endpoint in one direction, over all peers");
  visitor("readings", natural(direction.readings), "number of readings with a figure");
  visitor("bandwidth_gb_per_s_median", null_if_none(gb_per_s(direction.median)), "median over all peers");
  visitor("bandwidth_gb_per_s_min", null_if_none(gb_per_s(direction.least)), "lowest reading");
  visitor("min_endpoint", direction.least_partner, "the peer of the lowest reading");
  visitor("min_rank", direction.least_partner_rank, "rank of that peer");
  visitor("min_host", direction.least_partner_host, "host of that peer");
}

template <typename Visitor, record::Of<EndpointSummary> Record>
void describe(Visitor& visitor, Record& summary) {
  using namespace record;
  visitor.line("endpoint", "At the end of a sweep, one line per endpoint");
  visitor("endpoint", natural(summary.endpoint), "number of the endpoint");
  visitor("rank", natural(summary.rank), "rank of the endpoint");
  visitor("host", summary.host, "host of the endpoint");
  visitor("sent", summary.sent, "its readings as sender");
  visitor("received", summary.received, "its readings as receiver");
  visitor("latency_us", us(summary.latency), "median over all peers");
  visitor("failed_readings", natural(summary.failed),
          "readings without a figure or with wrong data, in both directions");
  visitor("cut_short", left_out_if_none(summary.cut_short),
          "true: the sweep ended before it was complete; the figures are of the readings made until then");
}

}  // namespace fabricbench
