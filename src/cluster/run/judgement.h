// How much launches and days differ, learnt from the launches of a baseline; whether all rows together, or single ones,
// have become slower; and the smallest slowdown that would have been seen.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "common/record/baseline.h"

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

struct JudgementSettings {
  double false_alarm = 0.05;  ///< probability that a run of an unchanged system is called slower
  double ignored = 0.01;      ///< slowdowns up to this are no finding, however exactly they were measured
  double wanted = 0.05;       ///< slowdown of all rows together that must not be missed
};

/// A baseline of fewer launches says too little of its own noise.
inline constexpr std::size_t kFewestLaunches = 5;
/// Rows of which one alone hardly moves the median.
inline constexpr std::size_t kFewestTogether = 5;

/// The time of a row in one launch.
struct LaunchTime {
  Seconds time = 0;        ///< above 0
  std::size_t launch = 0;  ///< its number in the baseline
};

/// All that is known of one row.
struct RowHistory {
  Gate gate = Gate::kBandwidth;
  std::vector<LaunchTime> recorded;  ///< of the baseline, at least one
  std::vector<Seconds> fresh;        ///< of the launches to be judged, which ran on one occasion
};

/// What became of all rows of a gate together.
struct GateJudgement {
  Gate gate = Gate::kBandwidth;
  std::size_t rows = 0;
  RowVerdict verdict = RowVerdict::kUndecided;
  double ratio = 1;             ///< the median over rows
  std::optional<double> bound;  ///< a slowdown of this share or more would have been seen with a probability of 95 %
};

struct RunJudgement {
  std::vector<GateJudgement> gates;
  std::vector<Judgement> rows;
};

/// Judges a run whose rows have fresh times of the same number of launches; `launches`: when those of the baseline ran.
///
/// First all rows of each gate together: the median over rows of what a launch deviates by, whose spread between
/// launches and days has the correlation of rows in it. Then each row, by what it deviates from that median. Most of
/// the false alarm is for gates; rows share the rest (Bonferroni). The majority of the fresh launches has to be above a
/// limit, so one that had bad luck does not matter if there are three.
[[nodiscard]] RunJudgement judge(std::span<const RowHistory> rows, std::span<const Occasion> launches,
                                 const JudgementSettings& settings);

}  // namespace fabricbench::baseline
