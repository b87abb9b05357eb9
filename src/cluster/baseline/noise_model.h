// How much the times of a row differ from launch to launch, learnt from the launches of a baseline.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/core/units.h"

namespace fabricbench::baseline {

/// sqrt(pi / 2): the standard deviation of normal values over their mean absolute deviation, and the standard error of
/// the median of many over that of their mean.
inline constexpr double kDeviationsPerMeanAbsolute = 1.2533;
/// pi / 2: the variance of the median of many normal values over that of their mean.
inline constexpr double kMedianOverMeanVariance = 1.5708;

/// When and where a launch ran. Launches of one allocation (a job of the scheduler) have more in common than others,
/// and so have allocations of one day.
struct Occasion {
  int allocation = 0;  ///< its number among all allocations of the baseline
  int day = 0;         ///< its number among all days of the baseline
};

/// The time of a row in one launch.
struct LaunchTime {
  Seconds time = 0;  ///< above 0
  Occasion occasion;
};

/// All that is known of one row.
struct RowHistory {
  std::size_t series = 0;            ///< rows of one series differ in their sizes only, and follow each other
  std::vector<LaunchTime> recorded;  ///< of the baseline
  std::vector<Seconds> fresh;        ///< of the launches to be judged, which ran on one occasion
};

/// The relative standard deviations of a row's times, by cause. Small ones: they are those of logarithms.
struct Spread {
  double centre = 0;       ///< logarithm of the usual time in seconds
  double launches = 0;     ///< between launches of one occasion
  double allocations = 0;  ///< between allocations of one day
  double days = 0;
  std::size_t of_launches = 0;     ///< numbers that these are from
  std::size_t of_allocations = 0;  ///< 0: no day has several with several launches, and the launches' spread has theirs
  std::size_t of_days = 0;
  bool days_known = false;  ///< false: all launches are of one day, and days are taken to differ as launches do
};

/// The noise of all rows of a program. Times are medians of launches; what launches differ by is estimated by mean
/// absolute deviations from medians, which a few outliers do not blow up. A row's spread is never taken to be below
/// half of what the rows of neighbouring sizes show, because that of a few launches is small by chance too often.
class NoiseModel {
 public:
  /// Rows have at least one recorded launch each.
  explicit NoiseModel(std::span<const RowHistory> rows);

  [[nodiscard]] const Spread& of(std::size_t row) const { return spreads_[row]; }

  /// The deviation that a launch of the row exceeds with the probability `tail`, or falls below if not `slower`: the
  /// larger one of `quantile` standard deviations, which says so by a distribution with heavy tails, and that of the
  /// recorded launches of the row and of neighbouring sizes, which may have slow modes.
  [[nodiscard]] double launch_limit(std::size_t row, double tail, double quantile, bool slower) const;

 private:
  std::vector<Spread> spreads_;
  std::vector<std::vector<double>> deviations_;  // by row: of its launches and its neighbours', the slowest first
};

}  // namespace fabricbench::baseline
