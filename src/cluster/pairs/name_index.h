#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fabricbench::cluster {

/// Numbers names in the order of their first use, and finds the number of a name.
class NameIndex {
 public:
  /// The name's number, counted from 0 in the order of first use.
  [[nodiscard]] std::int32_t number_of(std::string_view name);
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  /// Gives the names away; none are left.
  [[nodiscard]] std::vector<std::string> take();

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>{}(name); }
  };
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>> numbers_;
};

}  // namespace fabricbench::cluster
