// Places in lists, numbered names, values in order, and sets that pairs connect.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace fabricbench::cluster {

/// A place in a list, such as by host, by reading or by direction.
template <typename Place>
requires std::is_integral_v<Place> || std::is_enum_v<Place>
[[nodiscard]] constexpr std::size_t at(Place place) { return static_cast<std::size_t>(place); }

/// Numbers names in the order of their first use, and finds the number of a name.
class NameIndex {
 public:
  /// The name's number, counted from 0 in the order of first use.
  [[nodiscard]] std::int32_t number_of(std::string_view name) {
    if (const auto known = numbers_.find(name); known != numbers_.end()) return known->second;
    names_.emplace_back(name);
    return numbers_.emplace(name, static_cast<std::int32_t>(numbers_.size())).first->second;
  }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  /// Gives the names away; none are left.
  [[nodiscard]] std::vector<std::string> take() {
    numbers_.clear();
    return std::exchange(names_, {});
  }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>{}(name); }
  };
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>> numbers_;
};

/// The values in ascending order, each of them once.
template <typename Value>
[[nodiscard]] std::vector<Value> sorted_unique(std::vector<Value> values) {
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

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
  std::int32_t& parent(std::int32_t element) { return parent_[at(element)]; }

  std::vector<std::int32_t> parent_;
};

}  // namespace fabricbench::cluster
