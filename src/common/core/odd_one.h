// Which of several things that should be equally fast is not: pure functions of their rates.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/names.h"

namespace fabricbench {

/// One of several things that should be equally fast, such as a GPU.
struct Contender {
  std::string like;  ///< it is compared with those that have the same text here: model, kind of copy, size
  std::string host;
  double rate = 0;  ///< more is better
  double most = 0;  ///< what the rate may be at most, by its interval; not below it where there is none
};

enum class Standing {
  kUsual,      ///< as fast as the others, or faster
  kSlow,       ///< slower than the others
  kUndecided,  ///< one of two that differ: which of them is wrong nobody can tell
  kAlone,      ///< there is nothing to compare it with
};

constexpr auto names_of(Standing) { return std::to_array<std::string_view>({"usual", "slow", "undecided", "alone"}); }

/// How a contender stands to the others.
struct Comparison {
  Standing standing = Standing::kAlone;
  double own = 0;             ///< its rate
  double others = 0;          ///< the median of those that it was held against; 0 where there are none
  bool across_hosts = false;  ///< they are not only those of its own host
};

/// Holds every contender against the median of the others that are like it, first those of its own host, then those of
/// all hosts, so that a host on which all are slow is found too. It is slow where it is below that median by more than
/// a tenth and by more than four standard deviations, estimated from the median absolute deviation of them all, which
/// one outlier does not move, both with the most that its rate may be. To be blamed takes two others or more; of an
/// even number of others the lower one of the two in the middle counts, so that where half of them are slow nobody is
/// blamed for it. Returns one comparison a contender.
[[nodiscard]] std::vector<Comparison> compare_with_others(std::span<const Contender> contenders);

}  // namespace fabricbench
