#include "cluster/fabric/shape.h"

#include <algorithm>
#include <deque>

#include <fmt/format.h>

namespace fabricbench::fabric {
namespace {

/// What a leaf's hosts call its rail: a share of them, since one cable may be wrong.
constexpr double kMostOfALeaf = 0.7;

std::vector<HostCable> host_cables_of(const Fabric& fabric) {
  std::vector<HostCable> cables;
  for (std::size_t i = 0; i < fabric.cables.size(); ++i) {
    const Cable& cable = fabric.cables[i];
    const bool is_a = fabric.nodes[cable.a.node].kind == NodeKind::kAdapter;
    const End adapter = is_a ? cable.a : cable.b;
    const End other = is_a ? cable.b : cable.a;
    const Node& node = fabric.nodes[adapter.node];
    if (node.kind != NodeKind::kAdapter || fabric.nodes[other.node].kind != NodeKind::kSwitch) continue;
    if (serves_the_fabric(node)) continue;
    const AdapterName name = adapter_name(node);
    cables.push_back({i, name.host, name.device, adapter, other});
  }
  return cables;
}

/// Two ports of one adapter are two rails only where most adapters are used so.
void tell_ports_apart(std::vector<HostCable>& cables) {
  std::map<std::size_t, int> uses;
  for (const HostCable& cable : cables) ++uses[cable.adapter.node];
  const auto twice = std::count_if(uses.begin(), uses.end(), [](const auto& use) { return use.second > 1; });
  if (2 * static_cast<std::size_t>(twice) <= uses.size()) return;
  for (HostCable& cable : cables) cable.device += fmt::format("/{}", cable.adapter.port);
}

/// Leaves have about as many hosts as each other; a spine may have a lone one.
std::set<std::size_t> likely_leaves(const std::vector<HostCable>& cables) {
  std::map<std::size_t, std::size_t> hosts;
  for (const HostCable& cable : cables) ++hosts[cable.leaf.node];
  std::vector<std::size_t> counts;
  counts.reserve(hosts.size());
  for (const auto& [node, count] : hosts) counts.push_back(count);
  std::sort(counts.begin(), counts.end());
  std::set<std::size_t> leaves;
  for (const auto& [node, count] : hosts) {
    if (4 * count >= counts[counts.size() / 2]) leaves.insert(node);
  }
  return leaves;
}

/// Number of cables from the nearest leaf, from 1.
std::vector<int> tiers_above(const Fabric& fabric, const Shape& shape, const std::set<std::size_t>& leaves) {
  std::vector<int> tiers(fabric.nodes.size(), 0);
  std::deque<std::size_t> open(leaves.begin(), leaves.end());
  for (const std::size_t leaf : leaves) tiers[leaf] = 1;
  for (; !open.empty(); open.pop_front()) {
    for (const auto& [port, cable] : shape.ports[open.front()]) {
      const std::size_t next = fabric.cables[cable].other(open.front()).node;
      if (fabric.nodes[next].kind != NodeKind::kSwitch || tiers[next] != 0) continue;
      tiers[next] = tiers[open.front()] + 1;
      open.push_back(next);
    }
  }
  return tiers;
}

/// A switch with few hosts of its own is a leaf too if no leaf is next to it.
void find_tiers(const Fabric& fabric, Shape& shape) {
  std::set<std::size_t> leaves = likely_leaves(shape.host_cables);
  shape.tiers = tiers_above(fabric, shape, leaves);
  const std::size_t before = leaves.size();
  for (const HostCable& cable : shape.host_cables) {
    if (shape.tiers[cable.leaf.node] > 2) leaves.insert(cable.leaf.node);
  }
  if (leaves.size() > before) shape.tiers = tiers_above(fabric, shape, leaves);
}

/// A third is enough: of two rails in two units, half of the hosts have one if a leaf is absent.
bool many_hosts_have_several(const Shape& shape, const std::set<std::string>& devices) {
  std::map<std::string, std::set<std::string>> of_hosts;
  for (const HostCable& cable : shape.host_cables) {
    if (devices.contains(cable.device)) of_hosts[cable.host].insert(cable.device);
  }
  const auto several =
      std::count_if(of_hosts.begin(), of_hosts.end(), [](const auto& host) { return host.second.size() > 1; });
  return 3 * static_cast<std::size_t>(several) > of_hosts.size();
}

/// Rail-aligned: hosts have several adapters, and most leaves know only one name of them.
void find_rails(Shape& shape) {
  std::map<std::size_t, std::map<std::string, std::size_t>> devices;
  for (const HostCable& cable : shape.host_cables) ++devices[cable.leaf.node][cable.device];
  std::set<std::string> names;
  for (const auto& [leaf, counts] : devices) {
    const auto most = std::max_element(counts.begin(), counts.end(),
                                       [](const auto& left, const auto& right) { return left.second < right.second; });
    std::size_t all = 0;
    for (const auto& [device, count] : counts) all += count;
    if (static_cast<double>(most->second) < kMostOfALeaf * static_cast<double>(all)) continue;
    shape.rails[leaf] = most->first;
    names.insert(most->first);
  }
  shape.is_rail_aligned =
      names.size() > 1 && 5 * shape.rails.size() >= 4 * devices.size() && many_hosts_have_several(shape, names);
  if (!shape.is_rail_aligned) shape.rails.clear();
}

}  // namespace

std::size_t Shape::count_of_tier(int tier) const {
  return static_cast<std::size_t>(std::count(tiers.begin(), tiers.end(), tier));
}

Shape shape_of(const Fabric& fabric) {
  Shape shape;
  shape.ports.resize(fabric.nodes.size());
  for (std::size_t i = 0; i < fabric.cables.size(); ++i) {
    for (const End& end : {fabric.cables[i].a, fabric.cables[i].b}) shape.ports[end.node][end.port] = i;
  }
  shape.host_cables = host_cables_of(fabric);
  tell_ports_apart(shape.host_cables);
  find_tiers(fabric, shape);
  find_rails(shape);
  for (const HostCable& cable : shape.host_cables) shape.behind[cable.leaf.node].insert(cable.host);
  return shape;
}

}  // namespace fabricbench::fabric
