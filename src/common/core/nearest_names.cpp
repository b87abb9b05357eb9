#include "common/core/nearest_names.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace fabricbench {
namespace {

std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t changed = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
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

}  // namespace fabricbench
