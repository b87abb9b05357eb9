#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace fabricbench {

using Names = std::vector<std::string>;

[[nodiscard]] inline bool contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace fabricbench
