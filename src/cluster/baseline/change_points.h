// Lasting changes in the history of a row.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace fabricbench::baseline {

/// A history of fewer launches, or days, is not searched.
inline constexpr std::size_t kFewestForChanges = 10;

/// From one value on, the values are on another level.
struct ChangePoint {
  std::size_t first = 0;   ///< the first value of the new level
  double difference = 0;   ///< the median from there to the next change, less that from the change before
  double false_alarm = 1;  ///< probability that chance shows such a change anywhere in the history
};

/// The changes in `values`, which are in the order of time, with a false alarm of at most `most_false_alarm` each. Two
/// levels differ if they do both by their medians, in Student's sense, and by their ranks (Wilcoxon), which a heavy
/// tail does not disturb. The most significant split is searched, corrected for all splits (Bonferroni), and then each
/// side likewise, as in binary segmentation (Scott and Knott, 1974). No level is shorter than 3 values.
[[nodiscard]] std::vector<ChangePoint> change_points(std::span<const double> values, double most_false_alarm);

}  // namespace fabricbench::baseline
