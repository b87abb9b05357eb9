#include "common/host/checks/checks.h"

#include <set>

#include <fmt/format.h>

namespace fabricbench::host {
namespace {

const std::string kBonds = "/proc/net/bonding";

/// What bond_procfs.c of Linux prints of one bond.
struct Bond {
  std::string mode;
  bool tells_partner = false;  ///< only to root
  bool has_partner = false;
  std::vector<std::string> members{};
  std::vector<std::string> down{};
  std::set<std::string> speeds{};
  std::set<std::string> aggregators{};
};

Bond read_bond(Look& host, const std::string& file) {
  Bond bond;
  for (const std::string& line : host.lines(file)) {
    const std::string_view text = without_blanks(line);
    const std::size_t colon = text.find(": ");
    if (colon == std::string_view::npos) continue;
    const std::string key(text.substr(0, colon));
    const std::string value(text.substr(colon + 2));
    if (key == "Bonding Mode") bond.mode = value;
    if (key == "Partner Mac Address") {
      bond.tells_partner = true;
      bond.has_partner = value.find_first_not_of("0:") != std::string::npos;
    }
    if (key == "Slave Interface") bond.members.push_back(value);
    if (bond.members.empty()) continue;
    if (key == "MII Status" && value != "up") bond.down.push_back(bond.members.back());
    if (key == "Speed") bond.speeds.insert(value);
    if (key == "Aggregator ID") bond.aggregators.insert(value);
  }
  if (bond.mode.empty()) throw NotSeen(file, "has no Bonding Mode");
  return bond;
}

void report_bond(Look& host, const std::string& bond, const std::string& measured, const std::string& expected,
                 const std::string& consequence) {
  host.report({.device = bond,
               .measured = measured,
               .expected = expected,
               .expected_by = "its members",
               .consequence = consequence,
               .next = fmt::format("cat {}/{}, as root; the configuration of both switch ports", kBonds, bond)});
}

void look_at_bond(Look& host, const std::string& name) {
  const std::string file = fmt::format("{}/{}", kBonds, name);
  const Bond bond = read_bond(host, file);
  host.state({.key = "bond_members", .among = name, .device = name, .value = std::to_string(bond.members.size())});
  for (const std::string& member : bond.down) {
    report_bond(host, name, member + " is down", "all members up", "the bond has less bandwidth, and no spare link");
  }
  if (bond.down.empty() && bond.speeds.size() > 1) {
    report_bond(host, name, fmt::format("members at {} and {}", *bond.speeds.begin(), *bond.speeds.rbegin()),
                "one speed", "traffic that is spread evenly goes at the pace of the slower one");
  }
  if (bond.mode.find("802.3ad") == std::string::npos) return;
  if (bond.down.empty() && bond.aggregators.size() > 1) {
    report_bond(host, name, fmt::format("members in {} aggregators", bond.aggregators.size()), "one aggregator",
                "only the members of one aggregator carry traffic");
  }
  if (!bond.tells_partner) throw NotSeen(file, "tells only root of the LACP partner");
  if (!bond.has_partner) {
    report_bond(host, name, "no LACP partner", "a switch that speaks LACP", "at most one member carries traffic");
  }
}

}  // namespace

Check bonds_check() {
  return {
      .name = "bonds",
      .what = "Members of bonds are up and have one speed, and LACP has found a partner.",
      .reads = "/proc/net/bonding",
      .absent = [](Look& host) -> std::optional<std::string> {
        const auto bonds = host.names_if_any(kBonds);
        if (bonds && !bonds->empty()) return std::nullopt;
        return "no bond";
      },
      .look =
          [](Look& host) { host.each(host.names(kBonds), [&](const std::string& name) { look_at_bond(host, name); }); },
      .compared = {{.key = "bond_members",
                    .title = "number of members of a bond",
                    .consequence = "bonds have unequal bandwidth",
                    .next = "cat /proc/net/bonding/BOND"}}};
}

}  // namespace fabricbench::host
