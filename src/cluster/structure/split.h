// Splits hosts into parts that are fast within and slower across, where readings show it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace fabricbench::cluster {

/// Fewer readings of a window of time say nothing of drift.
constexpr std::size_t kReadingsOfWindow = 8;

/// What was measured once between two nodes: hosts, or parts of a finer split.
struct Comparison {
  std::int32_t first = 0;
  std::int32_t second = 0;
  std::int32_t window = 0;  ///< of time: what readings of one window have in common may be drift
  float value = 0;          ///< logarithm of the rate over what is usual of its kind
};

struct SplitSettings {
  double scale = 0.01;  ///< standard deviation of a value without structure, as a logarithm
  double depth = 0.04;  ///< parts that differ less than this, as a logarithm, are not told apart
  double weight = 1;    ///< of a value as evidence: below 1 where several values have the same noise
  /// In scales: a value so far above what is expected says no more than one that is still further above.
  double farthest_above = 6;
  bool few_are_fast = false;  ///< look for levels that hardly any value reaches too
  /// By node, the part of a coarser split that its part has to be within; below 0: nothing was measured with it there.
  /// Empty: all are of one.
  std::vector<std::int32_t> coarser{};
};

struct Split {
  std::vector<std::int32_t> part_of;  ///< by node, numbered from 0; a node alone is a part as well
  double within = 0;                  ///< the median value within parts of two nodes or more
  double across = 0;                  ///< the median value between such parts; where there is one only, to nodes alone
  /// By how much, in nats, the split describes the values more briefly than one level for all does, after what it costs
  /// to write the split down (Rissanen, Automatica 14, 1978): e to this power is about how much likelier it is.
  double gain = 0;
  /// Of each window, what it is faster by than is usual, as far as windows differ by more than chance makes them.
  std::vector<float> drift;
};

/// The split with the largest gain; nothing where none is worth its description.
[[nodiscard]] std::optional<Split> find_split(std::span<const Comparison> values, std::int32_t nodes,
                                              const SplitSettings& settings);

/// Split::gain of a partition; minus infinity where it is none, or its parts are as fast across.
[[nodiscard]] double gain_of(std::span<const Comparison> values, const std::vector<std::int32_t>& part_of,
                             const SplitSettings& settings);

/// The logarithm of how much likelier a value between two parts is if they are one, as far as one value is believed.
[[nodiscard]] double likelihood_of_one(double value, const Split& split, const SplitSettings& settings);

/// As Split::drift, of values that all have one level.
[[nodiscard]] std::vector<float> drift_without_split(std::span<const Comparison> values, const SplitSettings& settings);

}  // namespace fabricbench::cluster
