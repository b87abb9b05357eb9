// Splits hosts into parts that are fast within and slower across.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace fabricbench::cluster {

/// Minimum number of readings in a window of time to estimate its drift.
constexpr std::size_t kReadingsOfWindow = 8;

/// One value between two nodes: hosts, or parts of a finer split.
struct Comparison {
  std::int32_t first = 0;
  std::int32_t second = 0;
  std::int32_t window = 0;  ///< window of time; readings of a window may have drift in common
  float value = 0;          ///< logarithm of the rate, relative to the centre of its kind
};

struct SplitSettings {
  double scale = 0.01;  ///< standard deviation of a value without structure, as a logarithm
  double depth = 0.04;  ///< minimum difference between within and across, as a logarithm
  double weight = 1;    ///< weight of a value as evidence; below 1 if values share noise
  /// Scales: values farther above the expected one count as if they were at this distance.
  double farthest_above = 6;
  bool few_are_fast = false;  ///< also look for levels that hardly any value reaches
  /// By node, the part of a coarser split that its part has to be within; below 0: it has no values. Empty: all nodes
  /// are in one.
  std::vector<std::int32_t> coarser{};
};

struct Split {
  std::vector<std::int32_t> part_of;  ///< by node, numbered from 0; a single node is a part as well
  double within = 0;                  ///< median value within parts of two nodes or more
  double across = 0;                  ///< median value between such parts; if there is only one, with single nodes
  /// Minimum description length (Rissanen, Automatica 14, 1978): by how many nats the split shortens the description of
  /// the values, compared with one level for all, minus the description of the split. It is about exp(gain) times as
  /// likely.
  double gain = 0;
  /// By window, how much faster it is than usual, shrunk by what chance explains.
  std::vector<float> drift;
};

/// The split with the largest gain; nothing: none has enough.
[[nodiscard]] std::optional<Split> find_split(std::span<const Comparison> values, std::int32_t nodes,
                                              const SplitSettings& settings);

/// Split::gain of a partition; minus infinity if it has one part only, or if its parts are as fast across.
[[nodiscard]] double gain_of(std::span<const Comparison> values, const std::vector<std::int32_t>& part_of,
                             const SplitSettings& settings);

/// The log likelihood ratio of a value between two parts: they are one, over two. Limited for each value.
[[nodiscard]] double likelihood_of_one(double value, const Split& split, const SplitSettings& settings);

/// As Split::drift, for values with one level for all.
[[nodiscard]] std::vector<float> drift_without_split(std::span<const Comparison> values, const SplitSettings& settings);

}  // namespace fabricbench::cluster
