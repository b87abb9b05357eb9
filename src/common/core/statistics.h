#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/core/units.h"

namespace fabricbench {

/// When the thread that measures did not run.
struct IdleTime {
  Seconds elapsed = 0;  ///< 0: unknown
  Seconds stopped = 0;  ///< of this time: stopped or asleep
  Seconds waiting = 0;  ///< waiting for a processor
};

/// The measurements of one epoch of one case, reduced over the ranks of a group. Kept on the group's first process,
/// except for figures of each process's own ranks.
struct Epoch {
  std::vector<Seconds> samples;     ///< duration of one operation, the maximum over ranks unless -a says otherwise
  std::vector<int> slowest_ranks;   ///< for each sample, the rank that took longest
  std::vector<Seconds> cpu_times;   ///< pipelined: time until the operations were started, per operation, by visit
  std::vector<Seconds> host_times;  ///< the host's clock, where a device's clock counts, by visit
  std::vector<std::vector<Seconds>> own_times;  ///< medians of the times of each of this process's ranks, by visit
  std::vector<std::vector<Seconds>> own_means;  ///< the same of means
  IdleTime idle;                                ///< of this process, of one visit
  std::int64_t late = 0;                        ///< isolated: samples discarded because a rank started late
  std::int64_t preemptions = 0;                 ///< involuntary context switches, summed over all ranks
  std::int64_t most_preemptions = 0;            ///< the most of one rank in one visit
  int most_preempted_rank = 0;                  ///< that rank
  Seconds clock_error = 0;                      ///< isolated: error bound of the common clock
  bool has_directions = false;                  ///< both ways: whether each rank's times are those of one direction
  bool common_start = true;                     ///< isolated: false where the common clock could not be used
  Seconds resolution = 0;  ///< step of a device's clock, per operation; 0: of the host's clock, which is fine enough
  Seconds began = 0;       ///< rank 0's clock

  /// Adds the measurements of a later visit of the same epoch.
  void add(const Epoch& visit);
};

/// Appends each rank's values.
void append_by_rank(const std::vector<std::vector<Seconds>>& more, std::vector<std::vector<Seconds>>& by_rank);

/// The middle value, or the mean of the two middle values. `values` is not empty and may be in any order.
[[nodiscard]] double median(std::span<const double> values);

/// 1 / Phi^-1(3/4): the median absolute deviation times this is the standard deviation of normal noise.
inline constexpr double kDeviationsPerMad = 1.4826;

/// The standard deviation of values around `centre`, from the median of their absolute deviations. Not of no values.
[[nodiscard]] double deviation_about(std::span<const double> values, double centre);

/// The arithmetic mean. `values` is not empty.
[[nodiscard]] double mean(std::span<const double> values);

/// Of the values around their mean, over their number. `sorted` is ascending and not empty.
[[nodiscard]] double standard_deviation(std::span<const double> sorted);

/// The smallest value such that a share `q` of all values is not above it (nearest rank). `sorted` is ascending and not
/// empty; 0 < q <= 1.
[[nodiscard]] double quantile(std::span<const double> sorted, double q);

/// The number of independent samples needed for a 95 % upper bound of quantile `q`: the least n with q^n <= 5 %. With
/// fewer, the largest sample does not bound the quantile (299 for p99, 2995 for p99.9).
[[nodiscard]] std::int64_t samples_needed(double q);

/// A confidence interval, both ends included.
struct Interval {
  double low;
  double high;
  double confidence;  ///< the actual coverage, at least the level asked for
  double centre = 0;  ///< the median

  /// Half the width relative to the median.
  [[nodiscard]] double half_width() const { return centre > 0 ? (high - low) / 2 / centre : 0; }
};

/// The interval of times that a clock has read in steps of `resolution`: they may be that much shorter or longer, so
/// equal ones do not make it narrower. A median of 0 becomes the middle of the interval.
[[nodiscard]] Interval widened(Interval interval, Seconds resolution);

/// The distribution-free interval of the median from order statistics: [x_(l), x_(n+1-l)] with the largest
/// l whose coverage, 1 - 2 P(Binomial(n, 1/2) < l), is at least 95 % (David and Nagaraja, Order Statistics, 7.1).
/// The values must be independent: epoch medians are nearly so, consecutive iterations are not.
/// Nothing for fewer than 6 values, which can give 95 % with no l.
[[nodiscard]] std::optional<Interval> median_interval(std::span<const double> values);

/// Values above the third quartile by more than three interquartile ranges (Tukey's far-out fence).
[[nodiscard]] std::int64_t far_out_values(std::span<const double> sorted);

/// The median of the slopes through all pairs of points (Theil and Sen): a trend that outliers do not move.
/// 0 for fewer than two distinct x.
[[nodiscard]] double theil_sen_slope(std::span<const double> x, std::span<const double> y);

/// The mean product of the signs of neighbouring values around the median, in [-1, 1]: near 0 for independent samples,
/// near 1 if slow and fast ones cluster. 0 for fewer than two values.
[[nodiscard]] double sign_autocorrelation(std::span<const double> values);

/// The chance that `checked` operations, at least one, include a corrupted one, where 1 in `rarity` is, each
/// independently of the others: 1 - (1 - 1/rarity)^checked.
[[nodiscard]] double chance_to_find(std::uint64_t checked, double rarity);
/// The largest rarity that is found with this chance; about checked/3 for 95 %, which is the "rule of three".
[[nodiscard]] double rarest_found(std::uint64_t checked, double chance);

/// The share of the time for which ranks waited for a processor, where that can explain a figure: the median over
/// epochs of the share of the rank that waited most. 0: less than a tenth, by which one rank alone makes a time longer
/// by a ninth, or unknown.
[[nodiscard]] double explaining_wait(std::span<const double> most_by_epoch);

/// How often a rank took longer than all others in one epoch.
struct TimesSlowest {
  int rank = 0;
  std::int64_t epoch = 0;  ///< from 0
  std::int64_t samples = 0;
};

/// The statistics of one case. Times in seconds.
struct Summary {
  Seconds median = 0;                ///< the median of the epochs' medians
  std::optional<Interval> interval;  ///< of that median, at a nominal 95 %
  std::int64_t epochs = 0;
  std::vector<Seconds> epoch_medians;  ///< of each epoch with samples, in the order measured
  std::int64_t samples = 0;
  Seconds mean = 0;
  Seconds standard_deviation = 0;  ///< of the samples around their mean, over their number
  Seconds min = 0;
  Seconds p5 = 0;
  Seconds p95 = 0;
  std::optional<Seconds> p99;   ///< only if there are enough samples
  std::optional<Seconds> p999;  ///< only if there are enough samples
  Seconds max = 0;
  std::optional<Seconds> jitter;  ///< mean difference between consecutive samples (RFC 3550, not smoothed)
  std::int64_t outliers = 0;      ///< far-out samples: counted, never removed
  std::int64_t late = 0;          ///< isolated: samples discarded because a rank started late
  std::optional<double> drift;    ///< trend of the medians over three epochs or more, relative to their median
  double autocorrelation = 0;
  std::optional<std::int64_t> preemptions;
  std::optional<int> most_preempted_rank;
  std::optional<int> slowest_rank;          ///< the rank that was slowest in most samples
  std::optional<double> slowest_share;      ///< its share of the samples
  std::vector<TimesSlowest> times_slowest;  ///< by epoch, of the ranks that were in any sample
  Seconds resolution = 0;                   ///< of the device's clock, per operation; `interval` allows for it
  Seconds clock_error = 0;                  ///< isolated: the largest bound of the common clock's error
  bool common_start = true;                 ///< isolated: whether every epoch used the common clock
};

/// Summarises the epochs of one case; at least one epoch must have a sample.
[[nodiscard]] Summary summarize(std::span<const Epoch> epochs);

// Tails and quantiles of the distributions that judgements use.

/// The probability of a standard normal value of at most `z`.
[[nodiscard]] inline double normal_below(double z) { return std::erfc(-z / std::sqrt(2.0)) / 2; }

/// The value that a standard normal one exceeds with the probability `tail`, 0 < tail < 1.
[[nodiscard]] double normal_quantile(double tail);

/// The probability of `least` or more hits in `trials` independent ones of probability `hit` each.
[[nodiscard]] double binomial_tail(std::int64_t trials, double hit, std::int64_t least);

/// The probability of each trial for which `least` or more of `trials` hit with the probability `tail`: the inverse of
/// binomial_tail. 1 <= least <= trials, 0 < tail < 1.
[[nodiscard]] double binomial_hit(std::int64_t trials, std::int64_t least, double tail);

/// The probability of a value above `t` of Student's distribution with `degrees` > 0 degrees of freedom, by the
/// incomplete beta function's continued fraction (DLMF 8.17.22).
[[nodiscard]] double student_tail(double t, double degrees);

/// The value that Student's distribution exceeds with the probability `tail`, 0 < tail < 1.
[[nodiscard]] double student_quantile(double tail, double degrees);

}  // namespace fabricbench
