// Which of several things that should be equally fast is not: pure functions of their rates.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/names.h"

namespace fabricbench {

/// The rate of one of several things that should be equally fast, such as a GPU.
struct ComparedRate {
  std::string like;  ///< it is compared with those that have the same text here: model, kind of copy, size
  std::string host;
  double rate = 0;  ///< more is better
  double most = 0;  ///< what the rate may be at most, by its interval; not below it where there is none
};

enum class OutlierStatus {
  kUsual,      ///< as fast as the others, or faster
  kSlow,       ///< slower than the others
  kUndecided,  ///< one of two that differ: either of them may be the outlier
  kAlone,      ///< there is nothing to compare it with
};

constexpr auto names_of(OutlierStatus) {
  return std::to_array<std::string_view>({"usual", "slow", "undecided", "alone"});
}

/// How a rate compares with the others.
struct Comparison {
  OutlierStatus status = OutlierStatus::kAlone;
  double own = 0;             ///< its rate
  double others = 0;          ///< the median of those that it was held against; 0 where there are none
  bool across_hosts = false;  ///< they are not only those of its own host
};

/// Compares every rate with the median of the others that are like it: first with those of its own host, then with
/// those of all hosts, so that a host on which all are slow is found too. A rate is slow if it is below that median by
/// more than a tenth, and by more than four standard deviations. The standard deviation is estimated from the median
/// absolute deviation of all of them, which one outlier does not move. Where a rate has an interval, its upper end has
/// to be below. At least two others are needed. Of an even number of others the lower one of the two in the middle is
/// taken for the median, so that where half of the rates are low none of them is slow. Returns one comparison for each
/// rate.
[[nodiscard]] std::vector<Comparison> detect_outliers(std::span<const ComparedRate> compared);

}  // namespace fabricbench
