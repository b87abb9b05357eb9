#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace fabricbench {

/// Ascending numbers as ranges: `0-3, 8`.
[[nodiscard]] inline std::string folded(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t begin = 0; begin < numbers.size();) {
    std::size_t end = begin;
    while (end + 1 < numbers.size() && numbers[end + 1] == numbers[end] + 1) ++end;
    if (!text.empty()) text += ", ";
    text += end == begin ? fmt::format("{}", numbers[begin]) : fmt::format("{}-{}", numbers[begin], numbers[end]);
    begin = end + 1;
  }
  return text;
}

}  // namespace fabricbench
