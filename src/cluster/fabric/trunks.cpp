// Cables between switches. What is expected of two switches is what their siblings do: the leaves that share spines,
// the spines that share leaves.

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/fabric/findings.h"
#include "cluster/hosts/host_list.h"

namespace fabricbench::fabric {
namespace {

using Pair = std::pair<std::size_t, std::size_t>;  // a switch and one of the next tier
using Neighbours = std::map<std::size_t, std::set<std::size_t>>;

/// A pair of switches with more or fewer cables than expected.
struct Deviation {
  Pair pair;
  int cables = 0;    // without what was explained
  int expected = 0;  // of all
};

class Trunks {
 public:
  Trunks(const Fabric& fabric, const Shape& shape) : fabric_(fabric), shape_(shape) {
    for (std::size_t i = 0; i < fabric.cables.size(); ++i) add(i);
    find_siblings(up_);
    find_siblings(down_);
  }

  std::vector<Finding> findings() {
    find_deviations();
    explain_swapped();
    explain_moved();
    for (const Deviation& lack : lacks_) tell_missing(lack);
    tell_exchanged();
    tell_absent(up_);
    tell_absent(down_);
    return std::move(findings_);
  }

 private:
  void add(std::size_t i) {
    const Cable& cable = fabric_.cables[i];
    const int difference = shape_.tiers[cable.b.node] - shape_.tiers[cable.a.node];
    if (shape_.tiers[cable.a.node] == 0 || shape_.tiers[cable.b.node] == 0 || std::abs(difference) != 1) return;
    const Pair pair = difference == 1 ? Pair(cable.a.node, cable.b.node) : Pair(cable.b.node, cable.a.node);
    cables_[pair].push_back(i);
    up_[pair.first].insert(pair.second);
    down_[pair.second].insert(pair.first);
  }

  /// Switches of one tier that share at least half of their neighbours and, where ports are in order, most of the
  /// ports.
  void find_siblings(const Neighbours& side) {
    for (const auto& [one, its] : side) {
      std::map<std::size_t, std::size_t> shared;
      for (const std::size_t neighbour : its) {
        for (const std::size_t other : opposite(side).at(neighbour)) ++shared[other];
      }
      std::map<std::size_t, std::size_t> alike;
      for (const auto& [other, count] : shared) {
        if (other == one || shape_.tiers[other] != shape_.tiers[one]) continue;
        const std::size_t all = std::max(its.size(), side.at(other).size());
        if (2 * count == all && are_of_two_rails(one, other)) continue;
        if (2 * count >= all) alike[other] = ports_alike(one, other, its);
      }
      if (alike.empty()) continue;
      const std::size_t best = most_common(alike)->second;
      const bool in_order = 2 * best >= its.size();
      for (const auto& [other, ports] : alike) {
        if (!in_order || 2 * ports >= best) siblings_[{one, &side == &up_}].push_back(other);
      }
    }
  }

  bool are_of_two_rails(std::size_t one, std::size_t other) const {
    const auto rail = shape_.rails.find(one);
    const auto other_rail = shape_.rails.find(other);
    return rail != shape_.rails.end() && other_rail != shape_.rails.end() && rail->second != other_rail->second;
  }

  /// Number of ports of two switches that lead to the same neighbour.
  std::size_t ports_alike(std::size_t one, std::size_t other, const std::set<std::size_t>& neighbours) const {
    std::size_t count = 0;
    for (const auto& [port, cable] : shape_.ports[one]) {
      const auto same = shape_.ports[other].find(port);
      if (same == shape_.ports[other].end()) continue;
      const std::size_t target = fabric_.cables[cable].other(one).node;
      count += neighbours.contains(target) && target == fabric_.cables[same->second].other(other).node ? 1 : 0;
    }
    return count;
  }

  const Neighbours& opposite(const Neighbours& side) const { return &side == &up_ ? down_ : up_; }

  /// Of a switch, by its neighbours above or below.
  const std::vector<std::size_t>& siblings(std::size_t one, bool above) const {
    static const std::vector<std::size_t> none;
    const auto found = siblings_.find({one, above});
    return found == siblings_.end() ? none : found->second;
  }

  int count(Pair pair) const {
    const auto found = cables_.find(pair);
    return found == cables_.end() ? 0 : static_cast<int>(found->second.size());
  }

  /// Number of cables that siblings of both have between each other, if half of them agree or none is far off.
  std::optional<int> usual_count(Pair pair) const {
    std::vector<std::size_t> lower = siblings(pair.first, true);
    std::vector<std::size_t> upper = siblings(pair.second, false);
    lower.push_back(pair.first);
    upper.push_back(pair.second);
    std::vector<int> counts;
    for (const std::size_t low : lower) {
      for (const std::size_t high : upper) {
        if (const int cables = count({low, high}); cables > 0) counts.push_back(cables);
      }
    }
    if (counts.empty()) return std::nullopt;
    std::sort(counts.begin(), counts.end());
    const int median = counts[counts.size() / 2];
    const auto agree = std::count(counts.begin(), counts.end(), median);
    const bool are_near = counts.front() >= median - 1 && counts.back() <= median + 1;
    return are_near || 2 * static_cast<std::size_t>(agree) >= counts.size() ? std::optional(median) : std::nullopt;
  }

  /// Whether siblings of the one have the other, and the other way round; nothing: there are none, or they disagree.
  std::optional<bool> are_connected_elsewhere(Pair pair) const {
    std::size_t yes = 0;
    const auto& lower = siblings(pair.first, true);
    const auto& upper = siblings(pair.second, false);
    for (const std::size_t low : lower) yes += count({low, pair.second}) > 0 ? 1 : 0;
    for (const std::size_t high : upper) yes += count({pair.first, high}) > 0 ? 1 : 0;
    const std::size_t all = lower.size() + upper.size();
    if (all < 2) return std::nullopt;
    if (3 * yes >= 2 * all) return true;
    return 3 * yes <= all ? std::optional(false) : std::nullopt;
  }

  void find_deviations() {
    std::set<Pair> pairs;
    for (const auto& [low, uppers] : up_) {
      for (const std::size_t high : uppers) pairs.insert({low, high});
      for (const std::size_t sibling : siblings(low, true)) {
        for (const std::size_t high : up_.at(sibling)) pairs.insert({low, high});
      }
    }
    for (const Pair& pair : pairs) judge(pair);
  }

  void judge(Pair pair) {
    const auto connected = are_connected_elsewhere(pair);
    const auto usual = usual_count(pair);
    if (!connected || (*connected && !usual)) return;
    const int expected = *connected ? *usual : 0;
    const int cables = count(pair);
    if (cables < expected) lacks_.push_back({pair, expected - cables, expected});
    if (cables > expected) extras_.push_back({pair, cables - expected, expected});
  }

  static Deviation* find(std::vector<Deviation>& deviations, Pair pair) {
    const auto found = std::find_if(deviations.begin(), deviations.end(),
                                    [&](const Deviation& one) { return one.pair == pair && one.cables > 0; });
    return found == deviations.end() ? nullptr : &*found;
  }

  /// Two cables too many, one too few in each of the pairs crosswise: their ends were exchanged.
  void explain_swapped() {
    for (Deviation& first : extras_) {
      for (Deviation& second : extras_) {
        if (!(first.pair < second.pair) || first.cables == 0 || second.cables == 0) continue;
        const Pair one(first.pair.first, second.pair.second);
        const Pair two(second.pair.first, first.pair.second);
        Deviation* const lack = find(lacks_, one);
        Deviation* const other = find(lacks_, two);
        if (lack == nullptr || other == nullptr || lack == other) continue;
        for (Deviation* explained : {&first, &second, lack, other}) --explained->cables;
        tell_swapped(wrong_cable(first.pair, one.second, two.first), wrong_cable(second.pair, two.second, one.first),
                     false);
      }
    }
  }

  /// A cable too many at a switch and one too few: it is in the wrong place.
  void explain_moved() {
    for (Deviation& extra : extras_) {
      for (Deviation& lack : lacks_) {
        const bool is_lower = lack.pair.first == extra.pair.first;
        if (extra.cables == 0 || lack.cables == 0 || is_lower == (lack.pair.second == extra.pair.second)) continue;
        --extra.cables;
        --lack.cables;
        const std::size_t cable = wrong_cable(extra.pair, lack.pair.second, lack.pair.first);
        Finding finding = finding_on(FindingKind::kSwappedCables, cable);
        finding.detail =
            fmt::format("a cable between {} and {} is missing instead", name(lack.pair.first), name(lack.pair.second));
        findings_.push_back(std::move(finding));
      }
    }
  }

  /// Of the cables between two switches, the one on a port that leads siblings to another switch: from the lower one to
  /// `upper`, from the upper one to `lower`.
  std::size_t wrong_cable(Pair pair, std::size_t upper, std::size_t lower) const {
    const auto& cables = cables_.at(pair);
    const auto score = [&](std::size_t cable) {
      const int low = fabric_.cables[cable].own(pair.first).port;
      const int high = fabric_.cables[cable].own(pair.second).port;
      return (usual_neighbour(pair.first, low, true) == upper ? 1 : 0) +
             (usual_neighbour(pair.second, high, false) == lower ? 1 : 0);
    };
    return *std::max_element(cables.begin(), cables.end(),
                             [&](std::size_t one, std::size_t other) { return score(one) < score(other); });
  }

  /// Where a port of this number leads from most of a switch's siblings.
  std::optional<std::size_t> usual_neighbour(std::size_t one, int port, bool above) const {
    std::map<std::size_t, std::size_t> targets;
    const auto& others = siblings(one, above);
    for (const std::size_t other : others) {
      const auto found = shape_.ports[other].find(port);
      if (found != shape_.ports[other].end()) ++targets[fabric_.cables[found->second].other(other).node];
    }
    if (targets.empty()) return std::nullopt;
    const auto most = most_common(targets);
    return 4 * most->second >= 3 * others.size() ? std::optional(most->first) : std::nullopt;
  }

  /// The free port of a switch where a cable to `other` is missing; 0: unknown.
  int free_port(std::size_t one, std::size_t other, bool above) const {
    const int last = fabric_.nodes[one].port_count > 0 ? fabric_.nodes[one].port_count : 256;
    std::vector<int> free;
    for (int port = 1; port <= last; ++port) {
      if (!shape_.ports[one].contains(port) && !told_.contains({one, port})) free.push_back(port);
    }
    for (const int port : free) {
      if (usual_neighbour(one, port, above) == other) return port;
    }
    return port_in_steps(one, other, free);
  }

  /// Where the ports to another switch have equal distances but for one.
  int port_in_steps(std::size_t one, std::size_t other, const std::vector<int>& free) const {
    std::vector<int> used;
    for (const auto& [port, cable] : shape_.ports[one]) {
      if (fabric_.cables[cable].other(one).node == other) used.push_back(port);
    }
    std::map<int, int> steps;
    for (std::size_t i = 1; i < used.size(); ++i) ++steps[used[i] - used[i - 1]];
    const int step = steps.empty() ? 1 : steps.begin()->first;
    const auto is_free = [&](int port) { return std::find(free.begin(), free.end(), port) != free.end(); };
    for (std::size_t i = 1; i < used.size(); ++i) {
      if (used[i] - used[i - 1] == 2 * step && is_free(used[i - 1] + step)) return used[i - 1] + step;
    }
    if (used.empty()) return 0;
    // Ports behind all that are used were perhaps never used.
    const int most = shape_.ports[one].rbegin()->first;
    for (const int port : {used.back() + step, used.front() - step}) {
      if (port < most && is_free(port)) return port;
    }
    return is_free(used.back() + step) ? used.back() + step : 0;
  }

  std::string name(std::size_t node) const { return shown_name(fabric_.nodes[node]); }

  std::string end_text(std::size_t node, int port) const {
    return port > 0 ? text_of(fabric_, {node, port}) : name(node) + " port unknown";
  }

  Finding finding_on(FindingKind kind, std::size_t cable) const {
    const Cable& of = fabric_.cables[cable];
    return {kind,
            FindingLevel::kWarning,
            {text_of(fabric_, of.a), text_of(fabric_, of.b)},
            hosts_behind(fabric_, shape_, of),
            ""};
  }

  void tell_swapped(std::size_t one, std::size_t other, bool is_note) {
    for (const std::size_t cable : {one, other}) {
      for (const End& end : {fabric_.cables[cable].a, fabric_.cables[cable].b}) told_.insert(end);
    }
    Finding finding = finding_on(FindingKind::kSwappedCables, one);
    const Finding second = finding_on(FindingKind::kSwappedCables, other);
    if (is_note) finding.level = FindingLevel::kNote;
    finding.ends.insert(finding.ends.end(), second.ends.begin(), second.ends.end());
    std::set<std::string> hosts(finding.hosts.begin(), finding.hosts.end());
    hosts.insert(second.hosts.begin(), second.hosts.end());
    finding.hosts.assign(hosts.begin(), hosts.end());
    if (is_note) finding.detail = "by the order of ports; paths are the same";
    findings_.push_back(std::move(finding));
  }

  void tell_missing(const Deviation& lack) {
    for (int i = 0; i < lack.cables; ++i) {
      const End low{lack.pair.first, free_port(lack.pair.first, lack.pair.second, true)};
      const End high{lack.pair.second, free_port(lack.pair.second, lack.pair.first, false)};
      told_.insert({low, high});
      Finding finding{FindingKind::kMissingCable, FindingLevel::kWarning, {}, {}, ""};
      finding.ends = {end_text(low.node, low.port), end_text(high.node, high.port)};
      finding.hosts = hosts_behind(fabric_, shape_, {low, high, {}});
      finding.detail = fmt::format("{} of {} cables", count(lack.pair), lack.expected);
      findings_.push_back(std::move(finding));
    }
  }

  /// Two cables of one switch that lead crosswise to where its siblings' ports lead.
  void tell_exchanged() {
    for (const bool above : {true, false}) {
      for (const auto& [one, neighbours] : above ? up_ : down_) tell_exchanged(one, above);
    }
  }

  void tell_exchanged(std::size_t one, bool above) {
    struct Odd {
      std::size_t cable, leads_to, expected;
    };
    std::vector<Odd> odd;
    std::size_t judged = 0;
    for (const auto& [port, cable] : shape_.ports[one]) {
      const std::size_t target = fabric_.cables[cable].other(one).node;
      const auto expected = usual_neighbour(one, port, above);
      if (!expected || told_.contains({one, port}) || !(above ? up_ : down_).at(one).contains(target)) continue;
      ++judged;
      if (*expected != target) odd.push_back({cable, target, *expected});
    }
    const std::size_t others = siblings(one, above).size();
    if (odd.size() != 2 || judged + others < 5) return;
    if (others == 1 && disorder(one, above) <= disorder(siblings(one, above).front(), above)) return;
    if (odd[0].leads_to != odd[1].expected || odd[1].leads_to != odd[0].expected) return;
    tell_swapped(odd[0].cable, odd[1].cable, true);
  }

  /// How often a switch's ports, in their order, lead back in the order of its neighbours' names, or to a neighbour
  /// again as others of its ports do not: tells which of two switches is in order.
  std::size_t disorder(std::size_t one, bool above) const {
    std::vector<std::string> targets;
    for (const auto& [port, cable] : shape_.ports[one]) {
      const std::size_t target = fabric_.cables[cable].other(one).node;
      if ((above ? up_ : down_).at(one).contains(target)) targets.push_back(name(target));
    }
    std::size_t back = 0;
    std::size_t again = 0;
    for (std::size_t i = 1; i < targets.size(); ++i) {
      back += cluster::comes_before(targets[i], targets[i - 1]) ? 1 : 0;
      again += targets[i] == targets[i - 1] ? 1 : 0;
    }
    const std::size_t most = targets.size() - std::set<std::string>(targets.begin(), targets.end()).size();
    return back + std::min(again, most - again);
  }

  /// Ports that are free on all of a group of siblings, between others that lead to one switch each in equal numbers:
  /// the switch that belongs there is absent.
  void tell_absent(const Neighbours& side) {
    const bool above = &side == &up_;
    std::set<std::size_t> done;
    std::vector<std::vector<std::size_t>> groups;
    for (const auto& [one, neighbours] : side) {
      if (done.contains(one)) continue;
      std::vector<std::size_t> group = siblings(one, above);
      group.push_back(one);
      done.insert(group.begin(), group.end());
      if (group.size() > 1) tell_absent(group, above);
      if (group.size() > 1 && !above && shape_.tiers[one] == 2) groups.push_back(group);
    }
    const bool is_told = std::any_of(findings_.begin(), findings_.end(),
                                     [](const Finding& finding) { return finding.kind == FindingKind::kAbsentSwitch; });
    if (groups.size() > 2 && !is_told) tell_smaller(groups);
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
    if (down_.at(pod.front()).size() + 1 != down_.at(usual->second.front()->front()).size()) return;
    tell_absent(pod, ports, last_leaf(pod), kSomethingElse);
    findings_.back().level = FindingLevel::kNote;
    findings_.back().detail = "all other pods have it";
  }

  /// Those that lead down from any of a group.
  std::set<int> ports_of(const std::vector<std::size_t>& group) const {
    std::set<int> ports;
    for (const std::size_t one : group) {
      for (const auto& [port, cable] : shape_.ports[one]) {
        if (down_.at(one).contains(fabric_.cables[cable].other(one).node)) ports.insert(port);
      }
    }
    return ports;
  }

  bool is_before(std::size_t one, std::size_t other) const { return cluster::comes_before(name(one), name(other)); }

  std::size_t last_leaf(const std::vector<std::size_t>& pod) const {
    const auto& leaves = down_.at(pod.front());
    return *std::max_element(leaves.begin(), leaves.end(), [&](auto one, auto other) { return is_before(one, other); });
  }

  /// The last pod, if a pod has many leaves: often there were not hosts enough for all of them.
  bool may_not_be_full(const std::vector<std::size_t>& pod) const {
    constexpr std::size_t kManyLeaves = 8;
    return down_.at(pod.front()).size() >= kManyLeaves && last_leaf(pod) == last_leaf_of_all();
  }

  std::size_t last_leaf_of_all() const {
    std::size_t last = up_.begin()->first;
    for (const auto& [one, uppers] : up_) {
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
      const auto& facing = above ? up_ : down_;
      const bool agree = 4 * most->second >= 3 * group.size() && facing.at(group.front()).contains(most->first);
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
    std::map<Pair, std::pair<int, std::set<int>>> gaps;
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

  static constexpr std::size_t kSomethingElse = static_cast<std::size_t>(-1);

  const Fabric& fabric_;
  const Shape& shape_;
  std::map<Pair, std::vector<std::size_t>> cables_;
  Neighbours up_;
  Neighbours down_;
  std::map<std::pair<std::size_t, bool>, std::vector<std::size_t>> siblings_;
  std::vector<Deviation> lacks_;
  std::vector<Deviation> extras_;
  std::set<End> told_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> trunk_findings(const Fabric& fabric, const Shape& shape) {
  return Trunks(fabric, shape).findings();
}

}  // namespace fabricbench::fabric
