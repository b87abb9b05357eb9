#pragma once

#include <array>
#include <string_view>

#include "common/core/names.h"

namespace fabricbench {

/// The order in which N endpoints meet.
enum class ScheduleKind {
  kCircle,  ///< every pair once, in rounds of disjoint pairs: N-1 rounds, or N of an odd N, each with one endpoint idle
  kShift,   ///< every ordered pair once, as mpiGraph has it: in each of N-1 rounds all endpoints send and all receive
  kRandom,  ///< each round pairs all endpoints at random, of an odd N all but one; pairs may come back
};
constexpr auto names_of(ScheduleKind) { return std::to_array<std::string_view>({"circle", "shift", "random"}); }

}  // namespace fabricbench
