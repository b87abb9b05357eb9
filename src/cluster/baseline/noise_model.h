// How much launches and days differ, learnt from the launches of a baseline.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace fabricbench::baseline {

/// When and where a launch ran. Launches of one allocation (a job of the scheduler) have more in common than others,
/// and so have allocations of one day.
struct Occasion {
  int allocation = 0;  ///< its number among all allocations of the baseline
  int day = 0;         ///< its number among all days of the baseline
};

/// A logarithm of a time, or what the rows of a launch have in common.
struct LaunchValue {
  double value = 0;
  Occasion occasion;
};

/// Random effects of days and of launches within them, by the unweighted means of days (Searle, Casella and McCulloch,
/// Variance Components, 1992, chapter 3). If there are days with several jobs of several launches, a job is a launch.
struct Spread {
  double centre = 0;            ///< the mean of the days' means
  double launches = 0;          ///< variance between launches of one day
  double days = 0;              ///< variance between days; as between launches if there is one day
  double launches_per_day = 0;  ///< harmonic mean
  std::size_t of_launches = 0;  ///< values
  std::size_t of_days = 0;      ///< 1: how much days differ is unknown
  bool jobs_are_launches = false;
  [[nodiscard]] double variance() const { return launches + days; }
};

/// `values` is not empty.
[[nodiscard]] Spread spread_of(std::vector<LaunchValue> values);

/// How far new launches are from the centre: Student's distribution with this scale.
struct Prediction {
  double scale = 0;
  double degrees = 1;
};

/// Of the median of `fresh` launches of a new day; the degrees of freedom are Satterthwaite's (1946).
[[nodiscard]] Prediction predict(const Spread& spread, std::size_t fresh);

}  // namespace fabricbench::baseline
