// Switches that all their neighbours lack.

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/fabric/findings.h"
#include "cluster/fabric/siblings.h"
#include "cluster/hosts/host_list.h"

namespace fabricbench::fabric {
namespace {

constexpr std::size_t kSomethingElse = static_cast<std::size_t>(-1);

class AbsentSwitches {
 public:
  AbsentSwitches(const Fabric& fabric, const Shape& shape, const Siblings& siblings)
      : fabric_(fabric), shape_(shape), siblings_(siblings) {}

  std::vector<Finding> findings() {
    tell(true);
    tell(false);
    return std::move(findings_);
  }

 private:
  /// Ports that are free on all of a group of siblings, between others that lead to one switch each in equal numbers:
  /// the switch that belongs there is absent.
  void tell(bool above) {
    std::set<std::size_t> done;
    std::vector<std::vector<std::size_t>> groups;
    for (const auto& [one, neighbours] : siblings_.neighbours(above)) {
      if (done.contains(one)) continue;
      std::vector<std::size_t> group = siblings_.of(one, above);
      group.push_back(one);
      done.insert(group.begin(), group.end());
      if (group.size() > 1) tell_absent(group, above);
      if (group.size() > 1 && !above && shape_.tiers[one] == 2) groups.push_back(group);
    }
    if (groups.size() > 2 && findings_.empty()) tell_smaller(groups);
  }

  /// The one pod that lacks a leaf of all others. It may have been built so.
  void tell_smaller(const std::vector<std::vector<std::size_t>>& pods) {
    std::map<std::set<int>, std::vector<const std::vector<std::size_t>*>> by_ports;
    for (const auto& pod : pods) by_ports[ports_of(pod)].push_back(&pod);
    if (by_ports.size() != 2) return;
    const auto few = std::min_element(by_ports.begin(), by_ports.end(), [](const auto& one, const auto& other) {
      return one.second.size() < other.second.size();
    });
    const std::vector<std::size_t>& pod = *few->second.front();
    const auto usual = few == by_ports.begin() ? std::next(few) : by_ports.begin();
    std::set<int> ports;
    std::set_difference(usual->first.begin(), usual->first.end(), few->first.begin(), few->first.end(),
                        std::inserter(ports, ports.end()));
    const bool has_more = few->first.size() + ports.size() > usual->first.size();
    if (few->second.size() != 1 || has_more || may_not_be_full(pod)) return;
    if (siblings_.neighbours(false).at(pod.front()).size() + 1 !=
        siblings_.neighbours(false).at(usual->second.front()->front()).size())
      return;
    tell_absent(pod, ports, last_leaf(pod), kSomethingElse);
    findings_.back().level = FindingLevel::kNote;
    findings_.back().detail = "all other pods have it";
  }

  /// Those that lead down from any of a group.
  std::set<int> ports_of(const std::vector<std::size_t>& group) const {
    std::set<int> ports;
    for (const std::size_t one : group) {
      for (const auto& [port, cable] : shape_.ports[one]) {
        if (siblings_.neighbours(false).at(one).contains(fabric_.cables[cable].other(one).node)) ports.insert(port);
      }
    }
    return ports;
  }

  bool is_before(std::size_t one, std::size_t other) const { return cluster::comes_before(name(one), name(other)); }

  std::size_t last_leaf(const std::vector<std::size_t>& pod) const {
    const auto& leaves = siblings_.neighbours(false).at(pod.front());
    return *std::max_element(leaves.begin(), leaves.end(), [&](auto one, auto other) { return is_before(one, other); });
  }

  /// The last pod, if a pod has many leaves: often there were not hosts enough for all of them.
  bool may_not_be_full(const std::vector<std::size_t>& pod) const {
    constexpr std::size_t kManyLeaves = 8;
    return siblings_.neighbours(false).at(pod.front()).size() >= kManyLeaves && last_leaf(pod) == last_leaf_of_all();
  }

  std::size_t last_leaf_of_all() const {
    std::size_t last = siblings_.neighbours(true).begin()->first;
    for (const auto& [one, uppers] : siblings_.neighbours(true)) {
      if (shape_.tiers[one] == 1 && (shape_.tiers[last] != 1 || is_before(last, one))) last = one;
    }
    return last;
  }

  /// The switches that the ports of a group lead to, where most of it agrees and the port is used at all.
  std::map<int, std::size_t> usual_ports(const std::vector<std::size_t>& group, bool above) const {
    std::map<int, std::map<std::size_t, std::size_t>> targets;
    for (const std::size_t one : group) {
      for (const auto& [port, cable] : shape_.ports[one]) ++targets[port][fabric_.cables[cable].other(one).node];
    }
    std::map<int, std::size_t> usual;
    for (const auto& [port, counts] : targets) {
      const auto most = most_common(counts);
      const bool agree =
          4 * most->second >= 3 * group.size() && siblings_.neighbours(above).at(group.front()).contains(most->first);
      usual[port] = agree ? most->first : kSomethingElse;
    }
    return usual;
  }

  void tell_absent(const std::vector<std::size_t>& group, bool above) {
    const std::map<int, std::size_t> usual = usual_ports(group, above);
    std::map<std::size_t, int> uses;
    for (const auto& [port, target] : usual) ++uses[target];
    uses.erase(kSomethingElse);
    if (uses.size() < 2) return;
    const int width = uses.begin()->second;
    if (std::any_of(uses.begin(), uses.end(), [&](const auto& use) { return use.second != width; })) return;
    // Free ports by what they are between: all in one place, or one of each row of ports.
    std::map<SwitchPair, std::pair<int, std::set<int>>> gaps;
    int last = 0;
    std::size_t before = kSomethingElse;
    for (const auto& [port, target] : usual) {
      const bool is_between = before != kSomethingElse || (last == 0 && is_second(target));
      if (port > last + 1 && is_between && target != kSomethingElse && target != before) {
        auto& [count, ports] = gaps[{before, target}];
        ++count;
        for (int free = last + 1; free < port; ++free) ports.insert(free);
      }
      last = port;
      before = target;
    }
    for (const auto& [between, gap] : gaps) {
      const bool fits = gap.first == 1 || gap.first == width;
      if (fits && static_cast<int>(gap.second.size()) == width) {
        tell_absent(group, gap.second, between.first, between.second);
      }
    }
  }

  bool is_second(std::size_t node) const {
    if (node == kSomethingElse) return false;
    const std::vector<std::int64_t> numbers = numbered_name(name(node)).numbers;
    return !numbers.empty() && numbers.back() == 2;
  }

  void tell_absent(const std::vector<std::size_t>& group, const std::set<int>& ports, std::size_t before,
                   std::size_t after) {
    Finding finding{FindingKind::kAbsentSwitch, FindingLevel::kWarning, {}, {}, ""};
    std::vector<std::string> names;
    names.reserve(group.size());
    for (const std::size_t one : group) names.push_back(name(one));
    std::sort(names.begin(), names.end());
    const bool is_range = ports.size() > 1 && *ports.rbegin() - *ports.begin() + 1 == static_cast<int>(ports.size());
    const std::string of = is_range ? fmt::format("ports {}-{}", *ports.begin(), *ports.rbegin())
                                    : fmt::format("port{} {}", ports.size() > 1 ? "s" : "", fmt::join(ports, ","));
    finding.ends = {after == kSomethingElse    ? fmt::format("a switch after {}", name(before))
                    : before == kSomethingElse ? fmt::format("a switch before {}", name(after))
                                               : fmt::format("a switch between {} and {}", name(before), name(after)),
                    fmt::format("{} of {}", of, fmt::join(names, ", "))};
    findings_.push_back(std::move(finding));
  }

  std::string name(std::size_t node) const { return shown_name(fabric_.nodes[node]); }

  const Fabric& fabric_;
  const Shape& shape_;
  const Siblings& siblings_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> absent_switch_findings(const Fabric& fabric, const Shape& shape, const Siblings& siblings) {
  return AbsentSwitches(fabric, shape, siblings).findings();
}

}  // namespace fabricbench::fabric
