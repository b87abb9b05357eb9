#include "common/backends/rdma/left_out.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/core/shortened_list.h"

namespace fabricbench {
namespace {

/// Such as `host b` and `hosts a, b`; at most a line.
std::string hosts_text(std::vector<std::string> hosts) {
  constexpr std::size_t kMost = 8;
  if (hosts.size() == 1) return "host " + hosts.front();
  const std::size_t all = hosts.size();
  hosts.resize(std::min(all, kMost));
  return fmt::format("hosts {}{}", fmt::join(hosts, ", "), all > kMost ? fmt::format(" and {} more", all - kMost) : "");
}

}  // namespace

std::vector<std::string> left_out_notices(const std::vector<LeftOutDevice>& devices) {
  constexpr std::size_t kMostLines = 16;  // in the banner
  using Kind = std::pair<std::string, std::string>;
  std::vector<std::pair<Kind, std::vector<std::string>>> kinds;  // with the hosts of each
  for (const LeftOutDevice& each : devices) {
    const Kind kind(each.device, each.reason);
    auto found = std::find_if(kinds.begin(), kinds.end(), [&](const auto& known) { return known.first == kind; });
    if (found == kinds.end()) found = kinds.insert(found, {kind, {}});
    std::vector<std::string>& hosts = found->second;
    if (std::find(hosts.begin(), hosts.end(), each.host) == hosts.end()) hosts.push_back(each.host);
  }
  std::vector<std::string> lines;
  lines.reserve(kinds.size());
  for (auto& [kind, hosts] : kinds) {
    lines.push_back(
        fmt::format("Left out: {} of {}, because {}", kind.first, hosts_text(std::move(hosts)), kind.second));
  }
  return shortened(std::move(lines), kMostLines, "more devices that were left out");
}

}  // namespace fabricbench
