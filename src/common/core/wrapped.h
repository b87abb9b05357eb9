#pragma once

#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

namespace fabricbench {

/// The words of `text` in lines of at most `columns`; a longer word has a line of its own.
[[nodiscard]] inline std::vector<std::string> wrapped(const std::string& text, std::size_t columns) {
  std::vector<std::string> lines(1);
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > columns) lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + word;
  }
  return lines;
}

}  // namespace fabricbench
