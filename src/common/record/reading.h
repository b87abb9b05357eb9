#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/matrix_row.h"
#include "common/core/names.h"
#include "common/core/units.h"
#include "common/record/field.h"

namespace fabricbench {

/// How the measurement of one direction of a pair ended.
enum class ReadingStatus {
  kOk,
  kSlow,     ///< of a run for this pair alone: there is a figure, below what was asked for
  kFailed,   ///< of a run for this pair alone: there is none, and the reason says why
  kTimeout,  ///< the messages did not arrive within the pair's time limit
  kWrong,    ///< data arrived that is not what was sent
  kNotTried  ///< an earlier meeting of the two timed out, and its messages may still be under way
};
/// As JSON and CSV have them.
constexpr auto names_of(ReadingStatus) {
  return std::to_array<std::string_view>({"ok", "slow", "failed", "timeout", "wrong", "not_tried"});
}

/// What is known of one end of a reading. Texts are somebody else's, and empty where a thing is not there or not known.
struct ReadingEnd {
  int rank = 0;
  std::string_view host;
  std::string_view rail;         ///< which of its host's endpoints: its GPU, NIC or local rank; empty where it has one
  std::string_view nic;          ///< as its host calls it
  std::string_view nic_guid;     ///< no other has it
  std::string_view gpu;          ///< its PCI address
  std::string_view gpu_uuid;     ///< no other has it
  std::string_view switch_port;  ///< the other end of the NIC's cable
  std::optional<double> port_rate{};  ///< bytes per second and direction that the port can carry

  [[nodiscard]] bool has_devices() const {
    return !nic.empty() || !nic_guid.empty() || !gpu.empty() || !gpu_uuid.empty() || !switch_port.empty() || port_rate;
  }
};

/// What a sweep measured of the messages from one endpoint to another. Endpoints are numbered as Context::ranks is
/// ordered.
struct PairReading {
  std::int64_t round = 0;  ///< from 0
  int concurrent = 0;      ///< pairs that were measured at the same time, this one too
  int from = 0;
  int to = 0;
  ReadingEnd from_end;
  ReadingEnd to_end;
  std::string_view test;  ///< the program's name
  Bytes size = 0;         ///< of a message
  ReadingStatus status = ReadingStatus::kOk;
  double bandwidth = 0;                ///< bytes per second: the median over the windows; 0 where none was measured
  double least_bandwidth = 0;          ///< bytes per second, of the slowest window
  double most_bandwidth = 0;           ///< bytes per second, of the fastest window
  std::int64_t windows = 0;            ///< samples
  std::int64_t messages = 0;           ///< in a window
  std::optional<Seconds> latency;      ///< half a round trip of 8 bytes, the median; the same in both directions
  std::optional<std::uint64_t> wrong;  ///< wrong elements; nothing where none was compared
  std::string reason;                  ///< why there is no figure, or where the data is wrong; empty: all is well
};

/// A reading of sweep_pairs.sh, of a run of its own for each pair; and what is needed of any reading.
struct RecordedReading {
  std::optional<std::int64_t> round;
  std::optional<std::int64_t> concurrent;  ///< 0: not known
  std::optional<std::int64_t> from;        ///< the endpoint's number, of pairwise_bw
  std::optional<std::int64_t> to;
  ReadingEnd from_end;
  ReadingEnd to_end;
  std::string_view test;
  std::optional<std::int64_t> size;
  std::optional<ReadingStatus> status;
  bool both_ways = false;           ///< the figure is of both directions together
  std::optional<double> bandwidth;  ///< bytes per second; nothing: there is no figure
  std::optional<Seconds> latency;
  std::string_view reason;
  std::string_view log;
  std::string_view finished;  ///< in UTC, ISO 8601
  std::optional<std::int64_t> seconds;
};

/// The first line of sweep_pairs.sh, and what tells a host's leaf.
struct SweepStart {
  std::vector<std::string> hosts;  ///< that are to be measured
  std::string began;               ///< in UTC, ISO 8601
};
struct HostLocality {
  std::string_view host;
  std::string_view leaf;
};

/// What a sweep's readings say of one endpoint.
struct EndpointSummary {
  /// The readings in one direction, over all partners.
  struct Direction {
    std::int64_t readings = 0;                        ///< with a figure
    double median = 0;                                ///< bytes per second; 0 where there are no readings
    double least = 0;                                 ///< bytes per second
    std::optional<int> least_partner{};               ///< the endpoint at the other end of the least one
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
};

/// The devices at both ends.
template <typename Form, typename End>
void describe_devices(Form& form, End& from, End& to) {
  using namespace record;
  form("from_nic", left_out_if_none(from.nic), "the sender's NIC, as its host calls it");
  form("from_nic_guid", left_out_if_none(from.nic_guid), "no other NIC has it");
  form("from_gpu", left_out_if_none(from.gpu), "the PCI address of the sender's GPU");
  form("from_gpu_uuid", left_out_if_none(from.gpu_uuid), "no other GPU has it");
  form("from_switch_port", left_out_if_none(from.switch_port), "the other end of the cable of the sender's NIC");
  form("from_port_gb_per_s", left_out_if_none(gb_per_s(from.port_rate)), "what the sender's port can carry");
  form("to_nic", left_out_if_none(to.nic), "the same of the receiver");
  form("to_nic_guid", left_out_if_none(to.nic_guid), "");
  form("to_gpu", left_out_if_none(to.gpu), "");
  form("to_gpu_uuid", left_out_if_none(to.gpu_uuid), "");
  form("to_switch_port", left_out_if_none(to.switch_port), "");
  form("to_port_gb_per_s", left_out_if_none(gb_per_s(to.port_rate)), "");
}

template <typename Form, record::Of<PairReading> Record>
void describe(Form& form, Record& reading) {
  using namespace record;
  form.line("reading", "Of a sweep, for each pair and direction as soon as its round is over");
  form("round", natural(reading.round), "from 0");
  form("concurrent", natural(reading.concurrent), "pairs that were measured at the same time, this one too");
  form("from", natural(reading.from), "the number of the endpoint that sends");
  form("to", natural(reading.to), "the number of the endpoint that receives");
  form("from_rank", natural(reading.from_end.rank), "its rank, as with the host, so that a line can be read by itself");
  form("to_rank", natural(reading.to_end.rank), "");
  form("from_host", reading.from_end.host, "");
  form("to_host", reading.to_end.host, "");
  form("from_rail", null_if_none(reading.from_end.rail),
       "which of its host's endpoints it is: `gpu0`, CUDA's number, or `rank0`, the rank on that host; null where no "
       "host has several");
  form("to_rail", null_if_none(reading.to_end.rail), "");
  describe_devices(form, reading.from_end, reading.to_end);
  form("test", reading.test, "the program's name");
  form.derived("both_ways", false, "the figure is of one direction");
  form("size_bytes", natural(reading.size), "of a message");
  form("status", reading.status,
       "`ok`; `wrong`: data arrived that is not what was sent; `timeout`: the pair took longer than `--pair-timeout`; "
       "`not_tried`: an earlier meeting of the two timed out");
  form("bandwidth_gb_per_s", null_if_none(gb_per_s(reading.bandwidth)),
       "the median over the windows; null where there is no figure");
  form("bandwidth_gb_per_s_min", null_if_none(gb_per_s(reading.least_bandwidth)), "of the slowest window");
  form("bandwidth_gb_per_s_max", null_if_none(gb_per_s(reading.most_bandwidth)), "of the fastest window");
  form("windows", natural(reading.windows), "that count");
  form("messages_per_window", natural(reading.messages), "");
  form("latency_us", us(reading.latency),
       "half a round trip of 8 bytes, the median; the same in both directions of a pair; null: not known");
  form("wrong_elements", reading.wrong, "null where unchecked");
  form("reason", null_if_none(reading.reason),
       "why there is no figure, or where the data is wrong; null where all is well");
}

template <typename Form, record::Of<RecordedReading> Record>
void describe(Form& form, Record& reading) {
  using namespace record;
  form.line("reading", "Of sweep_pairs.sh, for each pair and direction as soon as its run is over", "pair_reading");
  form("round", reading.round, "from 0");
  form("concurrent", reading.concurrent, "pairs that were measured at the same time, this one too; 0: not known");
  form("from", left_out_if_none(reading.from), "");
  form("to", left_out_if_none(reading.to), "");
  form("from_host", reading.from_end.host, "");
  form("to_host", reading.to_end.host, "");
  form("from_rail", name_or_number(null_if_none(reading.from_end.rail)),
       "the NIC or GPU, where several are measured by themselves");
  form("to_rail", name_or_number(null_if_none(reading.to_end.rail)), "");
  describe_devices(form, reading.from_end, reading.to_end);
  form("test", reading.test, "what was run");
  form("size_bytes", reading.size, "of a message");
  form("status", reading.status, "");
  form("both_ways", reading.both_ways, "whether the figure is of both directions together");
  form("bandwidth_gb_per_s", gb_per_s(reading.bandwidth), "null where there is no figure");
  form("latency_us", us(reading.latency), "null: not measured");
  form("reason", null_if_none(reading.reason), "why it failed");
  form("log", null_if_none(reading.log), "the file with all that the run said, where it failed");
  form("finished_utc", left_out_if_none(reading.finished), "of a run");
  form("seconds", left_out_if_none(reading.seconds), "that the run took");
}

template <typename Form, record::Of<SweepStart> Record>
void describe(Form& form, Record& start) {
  form.line("sweep", "The first line of sweep_pairs.sh", "sweep_start");
  form("hosts", start.hosts, "all of the sweep, so that one that never answers is known");
  form("began_utc", record::left_out_if_none(start.began), "");
  form.rest("what was asked for");
}

template <typename Form, record::Of<HostLocality> Record>
void describe(Form& form, Record& locality) {
  form.line("locality", "Where a host is, one line a host");
  form("host", locality.host, "");
  form("leaf", locality.leaf, "its leaf switch");
}

template <typename Form, record::Of<EndpointSummary::Direction> Record>
void describe(Form& form, Record& direction) {
  using namespace record;
  form.part("endpoint_direction", "The readings of an endpoint in one direction, over all partners");
  form("readings", natural(direction.readings), "with a figure");
  form("bandwidth_gb_per_s_median", null_if_none(gb_per_s(direction.median)), "");
  form("bandwidth_gb_per_s_min", null_if_none(gb_per_s(direction.least)), "");
  form("min_endpoint", direction.least_partner, "the partner with which it was least");
  form("min_rank", direction.least_partner_rank, "");
  form("min_host", direction.least_partner_host, "");
}

template <typename Form, record::Of<EndpointSummary> Record>
void describe(Form& form, Record& summary) {
  using namespace record;
  form.line("endpoint", "Of a sweep, for each endpoint at the end, unless the run broke off");
  form("endpoint", natural(summary.endpoint), "its number");
  form("rank", natural(summary.rank), "");
  form("host", summary.host, "");
  form("sent", summary.sent, "");
  form("received", summary.received, "");
  form("latency_us", us(summary.latency), "the median over all partners");
  form("failed_readings", natural(summary.failed), "without a figure or with wrong data, in both directions");
}

}  // namespace fabricbench
