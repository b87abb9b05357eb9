#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace fabricbench {

/// The first `most` lines, followed by a count of the rest: `and 3 more ranks`, where `what` is `more ranks`.
[[nodiscard]] inline std::vector<std::string> shortened(std::vector<std::string> lines, std::size_t most,
                                                        std::string_view what) {
  if (lines.size() <= most) return lines;
  const std::size_t more = lines.size() - most;
  lines.resize(most);
  lines.push_back(fmt::format("and {} {}", more, what));
  return lines;
}

}  // namespace fabricbench
