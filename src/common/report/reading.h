#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/core/matrix_row.h"
#include "common/core/units.h"

namespace fabricbench {

/// How the measurement of one direction of a pair ended.
enum class ReadingStatus {
  kOk,
  kWrong,    ///< data arrived that is not what was sent
  kTimeout,  ///< the messages did not arrive within the pair's time limit
  kNotTried  ///< an earlier meeting of the two timed out, and its messages may still be under way
};

/// What a sweep measured of the messages from one endpoint to another. Endpoints are numbered as Context::ranks is
/// ordered.
struct PairReading {
  std::int64_t round = 0;  ///< from 0
  int concurrent = 0;      ///< pairs that were measured at the same time, this one too
  int from = 0;
  int to = 0;
  Bytes size = 0;  ///< of a message
  ReadingStatus status = ReadingStatus::kOk;
  double bandwidth = 0;            ///< bytes per second: the median over the windows; 0 where none was measured
  double least_bandwidth = 0;      ///< bytes per second, of the slowest window
  double most_bandwidth = 0;       ///< bytes per second, of the fastest window
  std::int64_t windows = 0;        ///< samples
  std::int64_t messages = 0;       ///< in a window
  std::optional<Seconds> latency;  ///< half a round trip of 8 bytes, the median; the same in both directions
  std::uint64_t wrong = 0;         ///< wrong elements
  std::string reason;              ///< why there is no figure, or where the data is wrong; empty: all is well
};

/// What a sweep's readings say of one endpoint.
struct EndpointSummary {
  /// The readings in one direction, over all partners.
  struct Direction {
    std::int64_t readings = 0;  ///< with a figure
    double median = 0;          ///< bytes per second; 0 where there are no readings
    double least = 0;           ///< bytes per second
    int least_partner = -1;     ///< the endpoint at the other end of the least one
  };
  int endpoint = 0;
  Direction sent;
  Direction received;
  std::optional<Seconds> latency;  ///< the median over all partners
  std::int64_t failed = 0;         ///< readings without a figure or with wrong data, in both directions
};

}  // namespace fabricbench
