#include "cluster/fabric/findings.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/fabric/siblings.h"
#include "cluster/hosts/host_list.h"

namespace fabricbench::fabric {
namespace {

/// Below it, another rate than that of most is a fault; above, it is another kind of cable.
std::size_t most_degraded(std::size_t cables) { return std::max<std::size_t>(2, cables / 20); }

/// What should be alike: tier and adapter's model of a host's cable, or tiers and models of two switches.
using CableKind = std::tuple<int, int, std::uint32_t, std::uint32_t>;

CableKind kind_of(const Fabric& fabric, const Shape& shape, const Cable& cable) {
  std::pair low(shape.tiers[cable.a.node], fabric.nodes[cable.a.node].device_id);
  std::pair high(shape.tiers[cable.b.node], fabric.nodes[cable.b.node].device_id);
  if (high < low) std::swap(low, high);
  const bool is_trunk = low.first > 0;
  return {low.first, is_trunk ? high.first : 1, low.second, is_trunk ? high.second : 0};
}

double bandwidth(const Rate& rate) { return rate.lanes * lane_speed(rate.speed); }

Finding degraded(const Fabric& fabric, const Shape& shape, const Cable& cable, const Rate& usual) {
  Finding finding;
  finding.kind = cable.rate.lanes < usual.lanes ? FindingKind::kHalfWidth : FindingKind::kLowSpeed;
  finding.ends = {text_of(fabric, cable.a), text_of(fabric, cable.b)};
  finding.hosts = hosts_behind(fabric, shape, cable);
  if (std::min(shape.tiers[cable.a.node], shape.tiers[cable.b.node]) == 0) finding.level = FindingLevel::kFailure;
  finding.detail = fmt::format("{}, where most of its kind have {}", text_of(cable.rate), text_of(usual));
  return finding;
}

void judge_kind(const Fabric& fabric, const Shape& shape, const std::vector<std::size_t>& cables,
                std::vector<Finding>& findings) {
  std::map<Rate, std::size_t> rates;
  for (const std::size_t i : cables) ++rates[fabric.cables[i].rate];
  const auto usual = most_common(rates);
  if (2 * usual->second <= cables.size() || cables.size() < 3) return;
  for (const std::size_t i : cables) {
    const Rate& rate = fabric.cables[i].rate;
    const bool is_slower = bandwidth(rate) > 0 && bandwidth(rate) < bandwidth(usual->first);
    if (!is_slower || rates[rate] > most_degraded(cables.size())) continue;
    findings.push_back(degraded(fabric, shape, fabric.cables[i], usual->first));
  }
}

std::vector<Finding> subnet_manager_finding(const Fabric& fabric) {
  const bool any =
      std::any_of(fabric.nodes.begin(), fabric.nodes.end(), [](const Node& node) { return node.lid != 0; });
  if (any) return {};
  return {
      {FindingKind::kNoSubnetManager, FindingLevel::kFailure, {}, {}, "LID 0 everywhere: no subnet manager has run"}};
}

}  // namespace

std::string_view name_of(FindingKind kind) {
  switch (kind) {
    case FindingKind::kMissingCable: return "missing cable";
    case FindingKind::kSwappedCables: return "swapped cables";
    case FindingKind::kHalfWidth: return "reduced width";
    case FindingKind::kLowSpeed: return "low speed";
    case FindingKind::kAbsentSwitch: return "absent switch";
    case FindingKind::kWrongRail: return "wrong leaf";
    case FindingKind::kNoSubnetManager: return "no subnet manager";
  }
  return "";
}

std::string text_of_ends(const std::vector<std::string>& ends) {
  std::string text;
  for (std::size_t i = 0; i < ends.size(); ++i) text += (i == 0 ? "" : i % 2 == 1 ? " <-> " : ", ") + ends[i];
  return text;
}

std::string line_of(const Finding& finding) {
  std::string line(name_of(finding.kind));
  if (!finding.ends.empty()) line += ": " + text_of_ends(finding.ends);
  if (!finding.detail.empty()) line += fmt::format(" ({})", finding.detail);
  if (!finding.hosts.empty()) line += fmt::format("; behind it: {}", cluster::fold_hosts(finding.hosts));
  return line;
}

std::string text_of(const Fabric& fabric, End end) {
  return fmt::format("{} port {}", shown_name(fabric.nodes[end.node]), end.port);
}

std::vector<std::string> hosts_behind(const Fabric& fabric, const Shape& shape, const Cable& cable) {
  for (const End& end : {cable.a, cable.b}) {
    if (fabric.nodes[end.node].kind == NodeKind::kAdapter) return {adapter_name(fabric.nodes[end.node]).host};
  }
  std::set<std::string> hosts;
  for (const End& end : {cable.a, cable.b}) {
    const auto found = shape.behind.find(end.node);
    if (found != shape.behind.end() && shape.tiers[end.node] == 1)
      hosts.insert(found->second.begin(), found->second.end());
  }
  return {hosts.begin(), hosts.end()};
}

std::vector<Finding> rate_findings(const Fabric& fabric, const Shape& shape) {
  std::map<CableKind, std::vector<std::size_t>> kinds;
  for (std::size_t i = 0; i < fabric.cables.size(); ++i) {
    const Cable& cable = fabric.cables[i];
    if (serves_the_fabric(fabric.nodes[cable.a.node]) || serves_the_fabric(fabric.nodes[cable.b.node])) continue;
    kinds[kind_of(fabric, shape, cable)].push_back(i);
  }
  std::vector<Finding> findings;
  for (const auto& [kind, cables] : kinds) judge_kind(fabric, shape, cables, findings);
  return findings;
}

std::vector<Finding> findings_of(const Fabric& fabric, const Shape& shape) {
  const Siblings siblings(fabric, shape);
  std::vector<Finding> all = trunk_findings(fabric, shape, siblings);
  for (Finding& finding : absent_switch_findings(fabric, shape, siblings)) all.push_back(std::move(finding));
  // A leaf that hosts lack and a leaf that spines lack is one leaf, if each side knows of one.
  for (Finding& finding : host_findings(fabric, shape)) {
    const auto same = std::find_if(all.begin(), all.end(), [&](const Finding& other) {
      return finding.kind == FindingKind::kAbsentSwitch && other.kind == finding.kind && other.hosts.empty();
    });
    if (same == all.end()) {
      all.push_back(std::move(finding));
    } else {
      same->hosts = finding.hosts;
      same->detail = finding.detail;
    }
  }
  for (auto& more : {rate_findings(fabric, shape), subnet_manager_finding(fabric)}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace fabricbench::fabric
