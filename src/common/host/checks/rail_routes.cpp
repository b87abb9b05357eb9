#include "common/host/checks/checks.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace fabricbench::host {
namespace {

const std::string kRoutes = "/proc/net/route";
const std::string kSettings = "/proc/sys/net/ipv4/conf/";
struct Route {
  std::string interface, destination, gateway, flags, references, uses, metric, mask;
};

std::vector<Route> read_routes(Look& host) {
  std::vector<Route> routes;
  for (const std::string& line : host.lines(kRoutes)) {
    std::istringstream words(line);
    Route route;
    words >> route.interface >> route.destination >> route.gateway >> route.flags >> route.references >> route.uses >>
        route.metric >> route.mask;
    if (!words) throw NotSeen(kRoutes, fmt::format("'{}' is not a route", line));
    if (route.interface != "Iface" && route.interface != "lo") routes.push_back(route);
  }
  return routes;
}

/// `10.0.1.0/24` of 0001000A and 00FFFFFF, little endian. Throws NotSeen.
std::string prefix_of(const Route& route) {
  unsigned address = 0, mask = 0;
  if (std::sscanf((route.destination + " " + route.mask).c_str(), "%x %x", &address, &mask) != 2) {
    throw NotSeen(kRoutes, fmt::format("'{} {}' is not a network", route.destination, route.mask));
  }
  return fmt::format("{}.{}.{}.{}/{}", address & 255, (address >> 8) & 255, (address >> 16) & 255, address >> 24,
                     std::popcount(mask));
}

/// Of `all` and of the interface, the higher value holds. Source: Documentation/networking/ip-sysctl.rst of Linux.
int setting(Look& host, const std::string& interface, const std::string& name) {
  return std::max(host.number<int>(kSettings + "all/" + name),
                  host.number<int>(fmt::format("{}{}/{}", kSettings, interface, name)));
}

/// Without these settings any interface answers for the address of any other, and one rail carries everything.
void look_at_rail(Look& host, const std::string& interface, const std::string& prefix) {
  const int ignore = setting(host, interface, "arp_ignore");
  const int announce = setting(host, interface, "arp_announce");
  const int filter = setting(host, interface, "rp_filter");
  if (ignore >= 1 && announce >= 2 && filter != 1) return;
  host.report({.level = CheckLevel::kWarning,
               .device = interface,
               .measured = fmt::format("arp_ignore {}, arp_announce {}, rp_filter {}", ignore, announce, filter),
               .expected = "arp_ignore 1 or 2, arp_announce 2, rp_filter 0 or 2",
               .expected_by = "several interfaces in " + prefix,
               .consequence = "one rail answers for all and carries everything, or replies are dropped",
               .next = "a subnet for each rail, or these settings in /etc/sysctl.d"});
}

void report_equal(Look& host, const std::string& prefix, const std::set<std::string>& interfaces) {
  if (interfaces.size() < 2) return;
  host.report({.level = prefix == "0.0.0.0/0" ? CheckLevel::kWarning : CheckLevel::kNote,
               .measured = fmt::format("routes to {} of equal metric by {}", prefix, fmt::join(interfaces, " and ")),
               .expected = "one route, or one with the lowest metric",
               .consequence = "the kernel sends all by the first of them, unless there are rules for each source",
               .next = "ip route; ip rule"});
}

void examine_rail_routes(Look& host) {
  std::map<std::string, std::set<std::string>> rails;
  std::map<std::pair<std::string, std::string>, std::set<std::string>> equal;
  for (const Route& route : read_routes(host)) {
    const std::string prefix = prefix_of(route);
    equal[{prefix, route.metric}].insert(route.interface);
    if (route.gateway == "00000000" && route.mask != "FFFFFFFF") rails[prefix].insert(route.interface);
  }
  for (const auto& [key, interfaces] : equal) report_equal(host, key.first, interfaces);
  for (const auto& rail : rails) {
    const std::vector<std::string> interfaces(rail.second.begin(), rail.second.end());
    if (interfaces.size() < 2) continue;
    host.each(interfaces, [&](const std::string& each) { look_at_rail(host, each, rail.first); });
  }
}

}  // namespace

Check rail_routes_check() {
  return {.name = "rail_routes",
          .what = "No two routes compete, and interfaces in one subnet answer for their own addresses only.",
          .reads = "/proc/net/route, /proc/sys/net/ipv4/conf/*/{arp_ignore,arp_announce,rp_filter}",
          .look = examine_rail_routes};
}

}  // namespace fabricbench::host
