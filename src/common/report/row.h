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

}  // namespace fabricbench
