// Clusters nodes by ties, which are evidence that two nodes belong together or apart, and values by their density.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fabricbench::cluster {

/// Evidence on two different nodes: above 0 that they belong together, below 0 that they do not; log likelihood ratios
/// add up.
struct Tie {
  std::int32_t first = 0;
  std::int32_t second = 0;
  float weight = 0;
};

/// Correlation clustering (Bansal, Blum and Chawla, Machine Learning 56, 2004): the partition with the largest sum of
/// ties inside clusters, as far as local search finds it: nodes move, then clusters merge (the two levels of Blondel et
/// al., 2008), until nothing gains. The number of clusters comes out of the ties. By node, the number of its cluster,
/// counted from 0 in the order of the lowest nodes. The same ties give the same clusters.
[[nodiscard]] std::vector<std::int32_t> cluster_by(std::span<const Tie> ties, std::int32_t nodes);

/// How many nodes each cluster has, by its number; nodes with a number below 0 are of none.
[[nodiscard]] std::vector<std::int32_t> sizes_of(std::span<const std::int32_t> clusters);

/// Replaces values by numbers from 0, in the order of their first appearance.
[[nodiscard]] std::vector<std::int32_t> renumbered(std::span<const std::int32_t> values);

/// A place where values are dense.
struct Mode {
  double centre = 0;
  double valley_before = 0;  ///< the least dense place between the mode before and this one
  std::size_t values = 0;
};

/// The modes of sorted values, from the lowest up: local maxima of their histogram, whose bins are as wide as `scale`.
[[nodiscard]] std::vector<Mode> modes_of(const std::vector<float>& sorted, double scale);

}  // namespace fabricbench::cluster
