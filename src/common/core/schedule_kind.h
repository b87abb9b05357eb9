#pragma once

#include <array>
#include <string_view>

#include "common/core/names.h"

namespace fabricbench {

/// The order in which N endpoints are paired.
enum class ScheduleKind {
  kCircle,  ///< every pair once, in rounds of disjoint pairs: N-1 rounds for even N; N rounds for odd N, each with one
            ///< endpoint idle
  kShift,   ///< every ordered pair once, as in mpiGraph: in each of N-1 rounds all endpoints send and receive
  kRandom,  ///< random pairs of all endpoints in each round (one is idle if N is odd); pairs may repeat
};
constexpr auto names_of(ScheduleKind) { return std::to_array<std::string_view>({"circle", "shift", "random"}); }

}  // namespace fabricbench
