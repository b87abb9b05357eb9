// Which of several things that should be equal is not: pure functions. What has a figure is compared with the median of
// the others, within bounds (OutlierBounds); what only takes turns at being the extreme one is counted (RankCounts).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/core/names.h"

namespace fabricbench {

/// How far from the usual figure an outlier is. docs/ promises the bounds of each comparison.
struct OutlierBounds {
  double least = 0;       ///< whatever the others' scatter: such a difference matters to nobody
  double deviations = 0;  ///< standard deviations beyond chance

  /// `deviation`: of usual figures, from the median absolute deviation (deviation_about), which one outlier does not
  /// move.
  [[nodiscard]] double distance(double deviation) const { return std::max(least, deviations * deviation); }
};

/// The median of all values but the one at `place`; there are two values or more.
[[nodiscard]] double median_of_others(std::vector<double> values, std::size_t place);

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

/// How often each rank was the extreme one of all ranks, such as the slowest. Measurements that follow each other are
/// alike, so they are counted by blocks: those of a block are near in time, and each block counts once.
class RankCounts {
 public:
  using Block = std::pair<std::int64_t, std::int64_t>;

  /// In a measurement of this block, `rank` was the extreme one, with a weight such as its share of the samples.
  void add(const Block& block, int rank, double weight);

  struct Leader {
    int rank = 0;
    std::int64_t blocks = 0;  ///< in which it has more weight than any other rank
    std::int64_t all_blocks = 0;
  };
  /// The rank that leads in more blocks than chance explains. If all `ranks` ranks are alike, there is one in less than
  /// 1 of 100 runs: a binomial test, with Bonferroni's correction for the choice of the rank.
  [[nodiscard]] std::optional<Leader> leader(std::int64_t ranks) const;

 private:
  std::map<Block, std::map<int, double>> weights_;  // by rank: sum over the measurements of the block
};

}  // namespace fabricbench
