#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/core/connect_step.h"
#include "common/core/units.h"

namespace fabricbench {

/// What the connections of a pair took in one step.
struct ConnectTimes {
  ConnectStep step = ConnectStep::kResolveAddress;
  std::int64_t samples = 0;  ///< 0: the step was never completed, or is not there; the rest means nothing then
  Seconds min = 0;
  Seconds median = 0;
  std::optional<Seconds> p99;  ///< only with enough samples
  Seconds max = 0;
};

/// What `times` say, which may be none.
[[nodiscard]] ConnectTimes summarize(ConnectStep step, std::span<const Seconds> times);

/// The connections of one pair. Data only; sinks give it form.
struct ConnectRow {
  int pair = 0;
  std::vector<ConnectTimes> steps;  ///< every ConnectStep, in order
  std::int64_t connections = 0;     ///< made, used and ended
  std::int64_t failed = 0;          ///< the last one, or none
  double rate = 0;                  ///< connections per second
  std::uint64_t messages = 0;       ///< to come on these connections, in both directions
  std::uint64_t lost = 0;           ///< did not come, of datagrams
  std::uint64_t wrong = 0;          ///< came with other bytes
  std::string first_wrong;          ///< which, and where
  int status = 0;                   ///< exit status of what ended the pair early; 0: nothing did
  std::string problem;              ///< what that was
};

}  // namespace fabricbench
