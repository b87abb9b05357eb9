#include "common/core/names.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace fabricbench {
namespace {

/// Of Damerau and Levenshtein, where no letter is changed twice.
std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> before_last;  // rows of the table: of prefixes of `from` two and one letters shorter
  std::vector<std::size_t> last;
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    before_last = std::exchange(last, row);
    row[0] = i + 1;
    for (std::size_t j = 0; j < to.size(); ++j) {
      row[j + 1] = std::min({last[j] + (from[i] == to[j] ? 0 : 1), row[j] + 1, last[j + 1] + 1});
      const bool swapped = i > 0 && j > 0 && from[i] == to[j - 1] && from[i - 1] == to[j];
      if (swapped) row[j + 1] = std::min(row[j + 1], before_last[j - 1] + 1);
    }
  }
  return row.back();
}

}  // namespace

std::size_t name_distance(std::string_view from, std::string_view to) {
  const std::size_t distance = edit_distance(from, to);
  return from.size() > 1 && to.starts_with(from) ? std::min<std::size_t>(1, distance) : distance;
}

std::vector<std::string> nearest_names(std::string_view given, std::vector<NearName> names) {
  constexpr std::size_t kMost = 3;
  const std::size_t limit = std::max<std::size_t>(1, given.size() / 3);
  std::erase_if(names, [&](const NearName& name) { return name.distance > limit; });
  std::sort(names.begin(), names.end(), [](const NearName& left, const NearName& right) {
    return std::tie(left.distance, left.text) < std::tie(right.distance, right.text);
  });
  std::vector<std::string> texts;
  for (const NearName& name : names) {
    if (texts.size() < kMost) texts.push_back(name.text);
  }
  return texts;
}

std::string the_nearest(std::string_view given, std::vector<NearName> names) {
  const std::vector<std::string> near = nearest_names(given, std::move(names));
  return near.empty() ? "" : fmt::format("the nearest {} {}", near.size() == 1 ? "is" : "are", fmt::join(near, ", "));
}

}  // namespace fabricbench
