#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace fabricbench::cluster {

/// Union-find with path halving (Tarjan and van Leeuwen, Journal of the ACM 31, 1984): which elements are connected by
/// pairs. Elements are numbered from 0; each begins as a set by itself.
class DisjointSets {
 public:
  explicit DisjointSets(std::size_t elements) : parent_(elements) { std::iota(parent_.begin(), parent_.end(), 0); }

  /// The element that stands for the set that `element` is in.
  [[nodiscard]] std::int32_t representative(std::int32_t element) {
    while (parent(element) != element) element = parent(element) = parent(parent(element));
    return element;
  }
  /// Merges the sets of two elements. The representative of the second one's set stands for both.
  void join(std::int32_t first, std::int32_t second) { parent(representative(first)) = representative(second); }

 private:
  std::int32_t& parent(std::int32_t element) { return parent_[static_cast<std::size_t>(element)]; }

  std::vector<std::int32_t> parent_;
};

}  // namespace fabricbench::cluster
