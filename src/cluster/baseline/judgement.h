// Whether all rows together, or single ones, have become slower, and the smallest slowdown that would have been seen.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "cluster/baseline/noise_model.h"
#include "common/record/baseline.h"

namespace fabricbench::baseline {

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
