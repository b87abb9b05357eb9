// Cables between switches: too few, too many, or exchanged.

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "cluster/fabric/findings.h"
#include "cluster/fabric/siblings.h"
#include "cluster/hosts/host_list.h"

namespace fabricbench::fabric {
namespace {

/// A pair of switches with more or fewer cables than expected.
struct Deviation {
  SwitchPair pair;
  int cables = 0;    // without what was explained
  int expected = 0;  // of all
};

class Trunks {
 public:
  Trunks(const Fabric& fabric, const Shape& shape, const Siblings& siblings)
      : fabric_(fabric), shape_(shape), siblings_(siblings) {}

  std::vector<Finding> findings() {
    find_deviations();
    explain_swapped();
    explain_moved();
    for (const Deviation& lack : lacks_) tell_missing(lack);
    tell_exchanged();
    return std::move(findings_);
  }

 private:
  void find_deviations() {
    std::set<SwitchPair> pairs;
    for (const auto& [low, uppers] : siblings_.neighbours(true)) {
      for (const std::size_t high : uppers) pairs.insert({low, high});
      for (const std::size_t sibling : siblings_.of(low, true)) {
        for (const std::size_t high : siblings_.neighbours(true).at(sibling)) pairs.insert({low, high});
      }
    }
    for (const SwitchPair& pair : pairs) judge(pair);
  }

  void judge(SwitchPair pair) {
    const int cables = siblings_.count(pair);
    const int expected = siblings_.expected_count(pair).value_or(cables);
    if (cables < expected) lacks_.push_back({pair, expected - cables, expected});
    if (cables > expected) extras_.push_back({pair, cables - expected, expected});
  }

  static Deviation* find(std::vector<Deviation>& deviations, SwitchPair pair) {
    const auto found = std::find_if(deviations.begin(), deviations.end(),
                                    [&](const Deviation& one) { return one.pair == pair && one.cables > 0; });
    return found == deviations.end() ? nullptr : &*found;
  }

  /// Two cables too many, one too few in each of the pairs crosswise: their ends were exchanged.
  void explain_swapped() {
    for (Deviation& first : extras_) {
      for (Deviation& second : extras_) {
        if (!(first.pair < second.pair) || first.cables == 0 || second.cables == 0) continue;
        const SwitchPair one(first.pair.first, second.pair.second);
        const SwitchPair two(second.pair.first, first.pair.second);
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
  std::size_t wrong_cable(SwitchPair pair, std::size_t upper, std::size_t lower) const {
    const auto& cables = siblings_.cables(pair);
    const auto score = [&](std::size_t cable) {
      const int low = fabric_.cables[cable].own(pair.first).port;
      const int high = fabric_.cables[cable].own(pair.second).port;
      return (siblings_.usual_neighbour(pair.first, low, true) == upper ? 1 : 0) +
             (siblings_.usual_neighbour(pair.second, high, false) == lower ? 1 : 0);
    };
    return *std::max_element(cables.begin(), cables.end(),
                             [&](std::size_t one, std::size_t other) { return score(one) < score(other); });
  }

  /// The free port of a switch where a cable to `other` is missing; 0: unknown.
  int free_port(std::size_t one, std::size_t other, bool above) const {
    const int last = fabric_.nodes[one].port_count > 0 ? fabric_.nodes[one].port_count : 256;
    std::vector<int> free;
    for (int port = 1; port <= last; ++port) {
      if (!shape_.ports[one].contains(port) && !told_.contains({one, port})) free.push_back(port);
    }
    for (const int port : free) {
      if (siblings_.usual_neighbour(one, port, above) == other) return port;
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
      finding.detail = fmt::format("{} of {} cables", siblings_.count(lack.pair), lack.expected);
      findings_.push_back(std::move(finding));
    }
  }

  /// Two cables of one switch that lead crosswise to where its siblings' ports lead.
  void tell_exchanged() {
    for (const bool above : {true, false}) {
      for (const auto& [one, neighbours] : siblings_.neighbours(above)) tell_exchanged(one, above);
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
      const auto expected = siblings_.usual_neighbour(one, port, above);
      if (!expected || told_.contains({one, port}) || !siblings_.neighbours(above).at(one).contains(target)) continue;
      ++judged;
      if (*expected != target) odd.push_back({cable, target, *expected});
    }
    const std::size_t others = siblings_.of(one, above).size();
    if (odd.size() != 2 || judged + others < 5) return;
    if (others == 1 && disorder(one, above) <= disorder(siblings_.of(one, above).front(), above)) return;
    if (odd[0].leads_to != odd[1].expected || odd[1].leads_to != odd[0].expected) return;
    tell_swapped(odd[0].cable, odd[1].cable, true);
  }

  /// How often a switch's ports, in their order, lead back in the order of its neighbours' names, or to a neighbour
  /// again as others of its ports do not: tells which of two switches is in order.
  std::size_t disorder(std::size_t one, bool above) const {
    std::vector<std::string> targets;
    for (const auto& [port, cable] : shape_.ports[one]) {
      const std::size_t target = fabric_.cables[cable].other(one).node;
      if (siblings_.neighbours(above).at(one).contains(target)) targets.push_back(name(target));
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

  const Fabric& fabric_;
  const Shape& shape_;
  const Siblings& siblings_;
  std::vector<Deviation> lacks_;
  std::vector<Deviation> extras_;
  std::set<End> told_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> trunk_findings(const Fabric& fabric, const Shape& shape, const Siblings& siblings) {
  return Trunks(fabric, shape, siblings).findings();
}

}  // namespace fabricbench::fabric
