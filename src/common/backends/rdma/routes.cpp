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

std::string kinds_notice(std::string_view what, const std::vector<std::string>& texts) {
  constexpr std::size_t kMostKinds = 8;  // in one line: as many as a host has GPUs
  std::vector<std::string> kinds;
  for (const std::string& text : texts) {
    if (!text.empty() && std::find(kinds.begin(), kinds.end(), text) == kinds.end()) kinds.push_back(text);
  }
  if (kinds.empty()) return "";
  const std::size_t shown = std::min(kinds.size(), kMostKinds);
  std::string line = fmt::format("{}: {}", what, kinds.front());
  for (std::size_t i = 1; i < shown; ++i) line += "; " + kinds[i];
  if (shown < kinds.size()) line += fmt::format("; and {} more", kinds.size() - shown);
  return line;
}

std::string kinds_notice(const mpi::Communicator& world, std::string_view what, const std::string& own) {
  return kinds_notice(what, all_gather(world, own));
}

}  // namespace fabricbench
