#include "cluster/fabric/findings.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace fabricbench::fabric {
namespace {

/// Fewer cables show no order.
constexpr std::size_t kFewestInOrder = 8;
/// More hosts that are missing in a row are no cable's fault.
constexpr std::int64_t kMostMissing = 2;
/// More possible names are no order.
constexpr double kMostNames = 1e9;

struct Place {
  std::int64_t key = 0;  // the host's number, times the devices of each host, plus the device's
  std::size_t cable = 0;
  End leaf;
};

/// The order of names that differ only by their numbers: the last number counts fastest, `r1n16` comes before `r2n01`.
class Numbering {
 public:
  void add(const NumberedName& name) {
    if (low_.empty()) {
      low_ = high_ = name.numbers;
      digits_ = name.digits;
    }
    for (std::size_t i = 0; i < low_.size(); ++i) {
      low_[i] = std::min(low_[i], name.numbers[i]);
      high_[i] = std::max(high_[i], name.numbers[i]);
      digits_[i] = std::max(digits_[i], name.digits[i]);
    }
  }

  /// Makes room for a name before the first one, which may be missing, where only one number counts.
  void extend() {
    const std::size_t first = first_counting();
    const bool only =
        first < low_.size() && std::equal(low_.begin() + static_cast<std::ptrdiff_t>(first) + 1, low_.end(),
                                          high_.begin() + static_cast<std::ptrdiff_t>(first) + 1);
    if (only && low_[first] > 0) --low_[first];
  }

  /// Names from 1 on before that of a key.
  [[nodiscard]] std::int64_t before(std::int64_t key) const {
    std::int64_t count = 0;
    for (std::size_t i = 0; i < low_.size(); ++i) {
      count = count * values(i) + (values(i) > 1 ? low_[i] - 1 : 0);
    }
    return count + key;
  }

  /// Of all names that could be.
  [[nodiscard]] double size() const {
    double size = 1;
    for (std::size_t i = 0; i < low_.size(); ++i) size *= static_cast<double>(values(i));
    return size;
  }

  [[nodiscard]] std::int64_t key_of(const NumberedName& name) const {
    std::int64_t key = 0;
    for (std::size_t i = 0; i < low_.size(); ++i) key = key * values(i) + name.numbers[i] - low_[i];
    return key;
  }

  [[nodiscard]] std::string name_of(std::string_view shape, std::int64_t key) const {
    std::vector<std::int64_t> numbers = low_;
    for (std::size_t i = low_.size(); i-- > 0 && key != 0;) {
      if (values(i) == 1) continue;
      const bool is_first = i == first_counting();
      const std::int64_t below = key < 0 ? (key + 1) / values(i) - 1 : key / values(i);  // rounded down
      numbers[i] += is_first ? key : key - below * values(i);
      key = is_first ? 0 : below;
    }
    std::string name;
    std::size_t next = 0;
    for (const char letter : shape) {
      if (letter != '#') name += letter;
      if (letter == '#') name += fmt::format("{:0{}}", numbers[next], digits_[next]), ++next;
    }
    return name;
  }

 private:
  /// The place of the first number that is not the same everywhere.
  [[nodiscard]] std::size_t first_counting() const {
    return static_cast<std::size_t>(std::mismatch(low_.begin(), low_.end(), high_.begin()).first - low_.begin());
  }

  [[nodiscard]] std::int64_t values(std::size_t i) const { return high_[i] - low_[i] + 1; }

  std::vector<std::int64_t> low_;
  std::vector<std::int64_t> high_;
  std::vector<std::size_t> digits_;
};

/// Hosts whose names differ only by their numbers.
class Family {
 public:
  Family(const Fabric& fabric, const Shape& shape, std::string name, const std::vector<const HostCable*>& cables)
      : fabric_(fabric), shape_(shape), name_(std::move(name)) {
    std::set<std::string> devices;
    for (const HostCable* cable : cables) {
      devices.insert(cable->device);
      numbering_.add(numbered_name(cable->host));
    }
    numbering_.extend();
    devices_.assign(devices.begin(), devices.end());
    if (numbering_.size() > kMostNames) return;
    for (const HostCable* cable : cables) places_.push_back(place_of(*cable));
    std::sort(places_.begin(), places_.end(), [](const Place& one, const Place& other) { return one.key < other.key; });
  }

  std::vector<Finding> findings() {
    if (!learn_step()) return {};
    while (tell_a_swap()) {
    }
    if (breaks() == leaves() - 1) tell_missing();
    return std::move(findings_);
  }

 private:
  Place place_of(const HostCable& cable) const {
    const auto device = std::lower_bound(devices_.begin(), devices_.end(), cable.device) - devices_.begin();
    return {numbering_.key_of(numbered_name(cable.host)) * static_cast<std::int64_t>(devices_.size()) + device,
            cable.cable, cable.leaf};
  }

  /// Ports from one key to the next, if three quarters of neighbours on a leaf agree.
  bool learn_step() {
    std::map<std::int64_t, std::size_t> steps;
    std::size_t all = 0;
    for (std::size_t i = 1; i < places_.size(); ++i) {
      const std::int64_t keys = places_[i].key - places_[i - 1].key;
      const std::int64_t ports = places_[i].leaf.port - places_[i - 1].leaf.port;
      if (places_[i].leaf.node != places_[i - 1].leaf.node) continue;
      ++all;
      if (keys > 0 && ports > 0 && ports % keys == 0) ++steps[ports / keys];
    }
    if (steps.empty()) return false;
    const auto most = most_common(steps);
    step_ = most->first;
    return 4 * most->second >= 3 * all && 4 * all >= 2 * places_.size();
  }

  [[nodiscard]] bool follows(std::size_t i) const {
    const Place& before = places_[i - 1];
    const Place& place = places_[i];
    return place.leaf.node == before.leaf.node &&
           place.leaf.port - before.leaf.port == step_ * (place.key - before.key);
  }

  [[nodiscard]] std::size_t breaks() const {
    std::size_t count = 0;
    for (std::size_t i = 1; i < places_.size(); ++i) count += follows(i) ? 0 : 1;
    return count;
  }

  [[nodiscard]] std::size_t leaves() const {
    std::set<std::size_t> nodes;
    for (const Place& place : places_) nodes.insert(place.leaf.node);
    return nodes.size();
  }

  [[nodiscard]] std::vector<std::size_t> alone() const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if ((i == 0 || !follows(i)) && (i + 1 == places_.size() || !follows(i + 1))) found.push_back(i);
    }
    return found;
  }

  /// The two places that restore the most of the order when exchanged.
  bool tell_a_swap() {
    const std::size_t before = breaks();
    const std::vector<std::size_t> candidates = alone();
    constexpr std::size_t kMostCandidates = 24;
    if (before < leaves() || candidates.size() > kMostCandidates) return false;
    std::size_t best = before - 1;
    std::pair<std::size_t, std::size_t> pair(0, 0);
    for (const std::size_t one : candidates) {
      for (const std::size_t other : candidates) {
        if (other <= one) continue;
        exchange(one, other);
        const std::size_t after = breaks();
        exchange(one, other);
        if (after >= best) continue;
        best = after;
        pair = {one, other};
      }
    }
    if (pair.first == pair.second) return false;
    tell_swapped(places_[pair.first].cable, places_[pair.second].cable);
    exchange(pair.first, pair.second);
    return true;
  }

  void exchange(std::size_t one, std::size_t other) {
    std::swap(places_[one].leaf, places_[other].leaf);
    std::swap(places_[one].cable, places_[other].cable);
  }

  void tell_swapped(std::size_t one, std::size_t other) {
    Finding finding{FindingKind::kSwappedCables, FindingLevel::kNote, {}, {}, "by the order of names and ports"};
    for (const std::size_t i : {one, other}) {
      const Cable& cable = fabric_.cables[i];
      finding.ends.insert(finding.ends.end(), {text_of(fabric_, cable.a), text_of(fabric_, cable.b)});
      for (const std::string& host : hosts_behind(fabric_, shape_, cable)) finding.hosts.push_back(host);
    }
    findings_.push_back(std::move(finding));
  }

  /// The ports on which most leaves begin and end.
  void learn_bounds() {
    std::map<int, std::size_t> firsts;
    std::map<int, std::size_t> lasts;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (i == 0 || !follows(i)) ++firsts[places_[i].leaf.port];
      if (i + 1 == places_.size() || !follows(i + 1)) ++lasts[-places_[i].leaf.port];
    }
    first_port_ = most_common(firsts)->first;
    last_port_ = -most_common(lasts)->first;  // of equals the largest: the last leaf may not be full
  }

  void tell_missing() {
    learn_bounds();
    const Place& first = places_.front();
    if (first.leaf.port - first_port_ == step_ && first.key > 0) tell_missing(first.key - 1, first, -1);
    if (first.leaf.port == first_port_ && lacks_first_leaf(first)) tell_absent_before(first);
    for (std::size_t i = 1; i < places_.size(); ++i) {
      const Place& before = places_[i - 1];
      const std::int64_t gap = places_[i].key - before.key - 1;
      if (gap == 0) continue;
      follows(i) ? tell_within(before, gap) : tell_between(before, places_[i], gap);
    }
  }

  [[nodiscard]] std::int64_t hosts_of_a_leaf() const { return (last_port_ - first_port_) / step_ + 1; }

  /// Names begin a leaf's worth after the first one, and a switch above has its first port free.
  [[nodiscard]] bool lacks_first_leaf(const Place& first) const {
    if (devices_.size() > 1 || leaves() < 2 || numbering_.before(first.key) != hosts_of_a_leaf()) return false;
    for (const auto& [port, cable] : shape_.ports[first.leaf.node]) {
      const std::size_t above = fabric_.cables[cable].other(first.leaf.node).node;
      if (shape_.tiers[above] == 2 && !shape_.ports[above].contains(1)) return true;
    }
    return false;
  }

  void tell_absent_before(const Place& first) {
    findings_.push_back({FindingKind::kAbsentSwitch,
                         FindingLevel::kNote,
                         {fmt::format("a leaf before {}", shown_name(fabric_.nodes[first.leaf.node]))},
                         {},
                         "names of hosts begin a leaf's worth late, and ports above are free"});
    for (std::int64_t i = hosts_of_a_leaf(); i > 0; --i) findings_.back().hosts.push_back(host_of(first.key - i));
  }

  void tell_within(const Place& before, std::int64_t gap) {
    for (std::int64_t i = 1; i <= gap && gap <= kMostMissing; ++i) tell_missing(before.key + i, before, i);
  }

  /// The last of one leaf or the first of the next, or a whole leaf of them.
  void tell_between(const Place& before, const Place& after, std::int64_t gap) {
    const std::int64_t at_end = (last_port_ - before.leaf.port) / step_;
    const std::int64_t at_begin = (after.leaf.port - first_port_) / step_;
    if (at_end == 0 && at_begin == 0 && gap % hosts_of_a_leaf() == 0 && leaves() > 2) return tell_absent(before, after);
    if (at_end < 0 || at_begin < 0 || at_end + at_begin != gap || gap > kMostMissing) return;
    for (std::int64_t i = 1; i <= at_end; ++i) tell_missing(before.key + i, before, i);
    for (std::int64_t i = 1; i <= at_begin; ++i) tell_missing(after.key - i, after, -i);
  }

  [[nodiscard]] std::string host_of(std::int64_t key) const {
    return numbering_.name_of(name_, key / static_cast<std::int64_t>(devices_.size()));
  }

  void tell_missing(std::int64_t key, const Place& near, std::int64_t steps) {
    const int port = near.leaf.port + static_cast<int>(steps * step_);
    if (shape_.ports[near.leaf.node].contains(port)) return;
    const std::string& device = devices_[static_cast<std::size_t>(key % static_cast<std::int64_t>(devices_.size()))];
    Finding finding{FindingKind::kMissingCable,
                    FindingLevel::kNote,
                    {},
                    {host_of(key)},
                    "by the order of names and ports; or the host is off"};
    finding.ends = {text_of(fabric_, {near.leaf.node, port}), host_of(key) + (device.empty() ? "" : " " + device)};
    findings_.push_back(std::move(finding));
  }

  void tell_absent(const Place& before, const Place& after) {
    Finding finding{FindingKind::kAbsentSwitch,
                    FindingLevel::kWarning,
                    {},
                    {},
                    "a leaf's worth of hosts is missing in the order of names"};
    std::set<std::string> hosts;
    for (std::int64_t key = before.key + 1; key < after.key; ++key) hosts.insert(host_of(key));
    finding.hosts.assign(hosts.begin(), hosts.end());
    finding.ends = {fmt::format("a leaf between {} and {}", shown_name(fabric_.nodes[before.leaf.node]),
                                shown_name(fabric_.nodes[after.leaf.node]))};
    findings_.push_back(std::move(finding));
  }

  const Fabric& fabric_;
  const Shape& shape_;
  std::string name_;  // with # for numbers
  Numbering numbering_;
  std::vector<std::string> devices_;
  std::vector<Place> places_;
  std::int64_t step_ = 1;
  int first_port_ = 1;
  int last_port_ = 1;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> host_order_findings(const Fabric& fabric, const Shape& shape) {
  std::map<std::string, std::vector<const HostCable*>> families;
  for (const HostCable& cable : shape.host_cables) families[numbered_name(cable.host).shape].push_back(&cable);
  std::vector<Finding> all;
  for (const auto& [name, cables] : families) {
    if (cables.size() < kFewestInOrder) continue;
    for (Finding& finding : Family(fabric, shape, name, cables).findings()) all.push_back(std::move(finding));
  }
  return all;
}

}  // namespace fabricbench::fabric
