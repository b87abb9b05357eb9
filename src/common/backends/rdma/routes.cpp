#include "common/backends/rdma/routes.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "common/ranks/agreement.h"

namespace fabricbench {

std::vector<std::string> route_notices(std::string_view what, const std::vector<std::string>& routes,
                                       const std::vector<std::string>& numbers) {
  constexpr std::size_t kMost = 16;  // in the banner
  if (routes.empty()) return {};
  const bool alike = std::count(routes.begin(), routes.end(), routes.front()) == std::ssize(routes);
  if (alike) return {fmt::format("{}: {}", what, routes.front())};
  std::vector<std::string> notices;
  for (std::size_t pair = 0; pair < std::min(routes.size(), kMost); ++pair) {
    notices.push_back(
        fmt::format("{} of pair {}: {}", what, numbers.empty() ? std::to_string(pair) : numbers[pair], routes[pair]));
  }
  if (routes.size() > kMost)
    notices.push_back(fmt::format("{} of {} more pairs: not listed", what, routes.size() - kMost));
  return notices;
}

std::vector<std::string> route_notices(const Team& team, std::string_view what, const std::string& own) {
  const bool speaks = team.group().is_root();
  std::vector<std::string> routes = all_gather(team.world(), speaks ? own : "");
  std::vector<std::string> numbers = all_gather(team.world(), speaks ? std::to_string(team.reported_number()) : "");
  std::erase(routes, "");
  std::erase(numbers, "");
  return route_notices(what, routes, numbers);
}

}  // namespace fabricbench
