#include "cluster/preflight/fabric_report.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/fabric/counters.h"
#include "cluster/fabric/discover_text.h"
#include "cluster/fabric/findings.h"
#include "cluster/hosts/host_list.h"

namespace fabricbench::cluster {
namespace {

using fabric::FindingKind;
using host::CheckLevel;

/// The words for a kind of finding.
struct Meaning {
  FindingKind kind;
  const char* check;
  const char* expected;
  const char* consequence;
  const char* next;
};

constexpr std::array kMeanings = {
    Meaning{FindingKind::kMissingCable, "fabric_cables", "a cable that is up",
            "traffic shares the cables that are left, or the host has a rail less",
            "look at both ends: is it plugged, is the port disabled? iblinkinfo, ibportstate"},
    Meaning{FindingKind::kSwappedCables, "fabric_cables", "the order of all other cables",
            "rails and paths cross other switches than meant, and share their links",
            "exchange the two cables at one end"},
    Meaning{FindingKind::kWrongRail, "fabric_cables", "the leaf of that rail",
            "traffic of the rail crosses the spines, and does not arrive with NCCL_CROSS_NIC=0 where rails are apart",
            "move the cable to the leaf of its rail"},
    Meaning{FindingKind::kAbsentSwitch, "fabric_cables", "a switch",
            "its hosts cannot be reached on this rail, or paths share the switches that are left",
            "is the switch on, and does it run? ibswitches"},
    Meaning{FindingKind::kHalfWidth, "fabric_rates", "all of its lanes", "everything that crosses this cable is slower",
            "clean and reseat the cable, or replace it; mlxlink -m -c at both ends"},
    Meaning{FindingKind::kLowSpeed, "fabric_rates", "the speed of its kind",
            "everything that crosses this cable is slower",
            "replace the cable, and look for a speed that was set by hand; mlxlink -m -c, ibportstate"},
    Meaning{FindingKind::kNoSubnetManager, "subnet_manager", "a LID for each port",
            "no port becomes active: jobs end or hang", "start opensm, or the subnet manager of a switch; sminfo"}};

PreflightFinding finding_of(const fabric::Finding& found, const Meaning& meaning) {
  PreflightFinding finding;
  finding.check = meaning.check;
  finding.hosts = fold_hosts(found.hosts);
  finding.host_count = static_cast<std::int64_t>(found.hosts.size());
  finding.what.level = static_cast<CheckLevel>(found.level);
  finding.what.device = fabric::text_of_ends(found.ends);
  finding.what.measured = std::string(name_of(found.kind));
  if (!found.detail.empty()) finding.what.measured += fmt::format(" ({})", found.detail);
  finding.what.expected = meaning.expected;
  finding.what.expected_by = found.ends.empty() ? "" : "the rest of the fabric";
  finding.what.consequence = meaning.consequence;
  finding.what.next = meaning.next;
  return finding;
}

/// Names of the port and of what is at the other end.
std::string device_of(const FabricView& view, const fabric::CounterFinding& counter) {
  const auto& nodes = view.fabric.nodes;
  const auto node = std::find_if(nodes.begin(), nodes.end(), [&](const auto& one) { return one.guid == counter.guid; });
  std::string own = fmt::format("{} port {}", counter.node, counter.port);
  if (counter.guid == 0 || node == nodes.end()) return own;
  const fabric::End end{static_cast<std::size_t>(node - nodes.begin()), counter.port};
  const auto cable = view.shape.ports[end.node].find(counter.port);
  if (cable == view.shape.ports[end.node].end()) return text_of(view.fabric, end);
  return fabric::text_of_ends(
      {text_of(view.fabric, end), text_of(view.fabric, view.fabric.cables[cable->second].other(end.node))});
}

PreflightFinding finding_of(const FabricView& view, const fabric::CounterFinding& counter) {
  const bool is_physical = counter.kind == fabric::CounterKind::kPhysical;
  PreflightFinding finding;
  finding.check = "fabric_errors";
  finding.what = {.level = is_physical ? CheckLevel::kWarning : CheckLevel::kNote,
                  .device = device_of(view, counter),
                  .measured = counter.text,
                  .expected = "no errors that grow",
                  .consequence = is_physical ? "packets are lost and sent again: long tails, or a link that goes down"
                                             : "traffic was dropped, or the link went down",
                  .next = "clear the counters and look again after an hour: perfquery -R, ibqueryerrors"};
  return finding;
}

}  // namespace

FabricView::FabricView(std::string_view text, std::string_view file)
    : fabric(fabric::read_discovered(text, file)), shape(shape_of(fabric)) {
  std::set<std::string> names;
  for (const fabric::HostCable& cable : shape.host_cables) names.insert(cable.host);
  hosts.assign(names.begin(), names.end());
}

const std::vector<host::Check>& fabric_checks() {
  static const std::vector<host::Check> checks = {
      {.name = "fabric_cables",
       .what = "Cables are where those of their siblings are.",
       .reads = "ibnetdiscover",
       .is_required = true},
      {.name = "fabric_rates", .what = "Cables of one kind have one width and speed.", .reads = "ibnetdiscover"},
      {.name = "subnet_manager", .what = "Ports have LIDs.", .reads = "ibnetdiscover"},
      {.name = "fabric_errors", .what = "Ports count no errors of their cable.", .reads = "ibqueryerrors"}};
  return checks;
}

void add_cables(const FabricView& view, Overview& overview) {
  std::map<std::string, std::vector<PreflightFinding>> found;
  for (fabric::Finding& each : findings_of(view.fabric, view.shape)) {
    if (each.kind == FindingKind::kNoSubnetManager) each.hosts = view.hosts;
    const auto meaning =
        std::find_if(kMeanings.begin(), kMeanings.end(), [&](const Meaning& one) { return one.kind == each.kind; });
    found[meaning->check].push_back(finding_of(each, *meaning));
  }
  std::vector<PreflightUnseen> unseen;
  if (view.shape.count_of_tier(1) < 2) {
    unseen.push_back({"fabric_cables",
                      fold_hosts(view.hosts),
                      static_cast<std::int64_t>(view.hosts.size()),
                      true,
                      1,
                      {"", "fewer than two switches have hosts: there is nothing to compare"}});
  }
  overview.add("fabric_cables", view.hosts.size(), found["fabric_cables"], std::move(unseen));
  for (const char* check : {"fabric_rates", "subnet_manager"}) overview.add(check, view.hosts.size(), found[check], {});
}

void add_errors(const FabricView& view, std::string_view text, std::string_view file, Overview& overview) {
  std::vector<PreflightFinding> found;
  for (const auto& each : fabric::counter_findings(fabric::read_counters(text, file))) {
    found.push_back(finding_of(view, each));
  }
  overview.add("fabric_errors", view.hosts.size(), std::move(found), {});
}

}  // namespace fabricbench::cluster
