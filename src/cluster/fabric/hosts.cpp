// Cables of hosts in a fabric with rails: each host has an adapter on each of the leaves that its neighbours have.
// Hosts of other fabrics are judged by their order.

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "cluster/fabric/findings.h"

namespace fabricbench::fabric {
namespace {

struct Misplaced {
  const HostCable* cable;
  std::size_t expected;  // the leaf
};

class Rails {
 public:
  Rails(const Fabric& fabric, const Shape& shape) : fabric_(fabric), shape_(shape) {
    for (const auto& [leaf, device] : shape.rails) devices_.insert(device);
    std::map<std::uint32_t, std::size_t> models;
    for (const HostCable& cable : shape.host_cables) {
      if (!devices_.contains(cable.device)) continue;
      of_hosts_[cable.host][cable.device] = &cable;
      ++models[model_of(cable)];
    }
    if (!models.empty()) model_ = most_common(models)->first;
  }

  std::vector<Finding> findings() {
    for (const auto& [host, cables] : of_hosts_) judge(host, cables);
    tell_misplaced();
    tell_exchanged();
    tell_lacks();
    return std::move(findings_);
  }

 private:
  using Cables = std::map<std::string, const HostCable*>;

  [[nodiscard]] std::uint32_t model_of(const HostCable& cable) const {
    return fabric_.nodes[cable.adapter.node].device_id;
  }

  /// Hosts for logins and storage have one adapter or a few among those of others, often of another model.
  [[nodiscard]] bool should_have_all(const Cables& cables) const {
    return 2 * cables.size() >= devices_.size() && model_of(*cables.begin()->second) == model_;
  }

  /// The leaf of a device for most of the hosts that share other leaves with this one.
  std::optional<std::size_t> usual_leaf(const Cables& cables, const std::string& device) const {
    std::map<std::size_t, std::size_t> votes;
    std::size_t all = 0;
    for (const auto& [other, cable] : cables) {
      if (other == device) continue;
      for (const std::string& mate : shape_.behind.at(cable->leaf.node)) {
        const auto host = of_hosts_.find(mate);
        if (host == of_hosts_.end() || mate == cable->host) continue;
        const auto same = host->second.find(other);
        if (same == host->second.end() || same->second->leaf.node != cable->leaf.node) continue;
        const auto found = host->second.find(device);
        ++all;
        if (found != host->second.end()) ++votes[found->second->leaf.node];
      }
    }
    if (votes.empty()) return std::nullopt;
    const auto most = most_common(votes);
    return 3 * most->second >= 2 * all ? std::optional(most->first) : std::nullopt;
  }

  /// The port that most of a host's cables have on their leaves, if it is the same on more than half.
  static std::optional<int> usual_port(const Cables& cables) {
    std::map<int, std::size_t> ports;
    for (const auto& [device, cable] : cables) ++ports[cable->leaf.port];
    const auto most = most_common(ports);
    return 2 * most->second > cables.size() ? std::optional(most->first) : std::nullopt;
  }

  void judge(const std::string& host, const Cables& cables) {
    for (const auto& [device, cable] : cables) {
      const auto expected = usual_leaf(cables, device);
      if (expected && *expected != cable->leaf.node) misplaced_.push_back({cable, *expected});
    }
    if (!should_have_all(cables)) return;
    for (const std::string& device : devices_) {
      if (!cables.contains(device)) lacks_[device].insert(host);
    }
  }

  Finding finding_on(FindingKind kind, const HostCable& cable) const {
    return {kind,
            FindingLevel::kWarning,
            {text_of(fabric_, cable.adapter), text_of(fabric_, cable.leaf)},
            {cable.host},
            ""};
  }

  void tell_swapped(const HostCable& one, const HostCable& other, std::string detail, bool is_note) {
    Finding finding = finding_on(FindingKind::kSwappedCables, one);
    const Finding second = finding_on(FindingKind::kSwappedCables, other);
    finding.ends.insert(finding.ends.end(), second.ends.begin(), second.ends.end());
    if (other.host != one.host) finding.hosts.push_back(other.host);
    finding.detail = std::move(detail);
    if (is_note) finding.level = FindingLevel::kNote;
    findings_.push_back(std::move(finding));
  }

  /// Two that belong on each other's leaf were exchanged, preferably of the same port. Others are on a wrong leaf.
  void tell_misplaced() {
    while (!misplaced_.empty()) {
      const Misplaced one = misplaced_.back();
      misplaced_.pop_back();
      const auto crossing = std::find_if(misplaced_.begin(), misplaced_.end(), [&](const Misplaced& other) {
        return other.expected == one.cable->leaf.node && one.expected == other.cable->leaf.node;
      });
      if (crossing != misplaced_.end()) {
        tell_swapped(*one.cable, *crossing->cable, "each is on the other's leaf", false);
        misplaced_.erase(crossing);
      } else {
        findings_.push_back(finding_on(FindingKind::kWrongRail, *one.cable));
        findings_.back().detail = fmt::format("hosts of its other leaves have {} on {}", one.cable->device,
                                              shown_name(fabric_.nodes[one.expected]));
      }
    }
  }

  /// Two cables on one leaf, each on the port that the other host has on its other leaves.
  void tell_exchanged() {
    std::map<std::pair<std::size_t, int>, const HostCable*> by_port;  // that a host should have
    std::size_t judged = 0;
    std::vector<std::pair<const HostCable*, int>> odd;
    for (const auto& [host, cables] : of_hosts_) {
      const auto usual = usual_port(cables);
      for (const auto& [device, cable] : cables) {
        if (!usual) continue;
        ++judged;
        if (cable->leaf.port != *usual) odd.emplace_back(cable, *usual);
      }
    }
    if (20 * odd.size() > std::max<std::size_t>(judged, 40)) return;
    for (const auto& [cable, usual] : odd) by_port[{cable->leaf.node, usual}] = cable;
    for (const auto& [cable, usual] : odd) {
      const auto other = by_port.find({cable->leaf.node, cable->leaf.port});
      if (other == by_port.end() || other->second->leaf.port != usual || !(cable->host < other->second->host)) continue;
      tell_swapped(*cable, *other->second, "by the order of ports; both are on their own leaf", true);
    }
  }

  /// The switches of a host without its rails: hosts that share them form a unit.
  std::size_t unit_of(const std::string& host) const { return of_hosts_.at(host).begin()->second->leaf.node; }

  std::size_t hosts_of_unit(std::size_t leaf) const { return shape_.behind.at(leaf).size(); }

  void tell_lacks() {
    for (const auto& [device, hosts] : lacks_) {
      std::map<std::size_t, std::vector<std::string>> units;
      for (const std::string& host : hosts) units[unit_of(host)].push_back(host);
      for (const auto& [unit, lacking] : units) tell_lack(device, unit, lacking);
    }
  }

  void tell_lack(const std::string& device, std::size_t unit, const std::vector<std::string>& hosts) {
    if (hosts.size() > 1 && 2 * hosts.size() >= hosts_of_unit(unit)) {
      Finding finding{FindingKind::kAbsentSwitch, FindingLevel::kWarning, {}, hosts, ""};
      finding.ends = {fmt::format("a leaf of rail {}", device), fmt::format("{} of these hosts", device)};
      finding.detail = fmt::format("all of these hosts lack {}", device);
      findings_.push_back(std::move(finding));
      return;
    }
    for (const std::string& host : hosts) tell_missing(host, device);
  }

  void tell_missing(const std::string& host, const std::string& device) {
    const Cables& cables = of_hosts_.at(host);
    const auto leaf = usual_leaf(cables, device);
    if (!leaf) return;
    const auto port = usual_port(cables);
    const bool is_free = port && !shape_.ports[*leaf].contains(*port);
    Finding finding{FindingKind::kMissingCable, FindingLevel::kWarning, {}, {host}, ""};
    finding.ends = {fmt::format("{} {}", host, device),
                    is_free ? text_of(fabric_, {*leaf, *port}) : shown_name(fabric_.nodes[*leaf]) + " port unknown"};
    findings_.push_back(std::move(finding));
  }

  const Fabric& fabric_;
  const Shape& shape_;
  std::set<std::string> devices_;  // of rails
  std::uint32_t model_ = 0;        // of most adapters
  std::map<std::string, Cables> of_hosts_;
  std::vector<Misplaced> misplaced_;
  std::map<std::string, std::set<std::string>> lacks_;  // hosts, by device
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> host_findings(const Fabric& fabric, const Shape& shape) {
  return shape.is_rail_aligned ? Rails(fabric, shape).findings() : host_order_findings(fabric, shape);
}

}  // namespace fabricbench::fabric
