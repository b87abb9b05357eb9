#include "cluster/pairs/attribution/links.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "cluster/pairs/attribution/findings.h"
#include "cluster/pairs/attribution/units.h"
#include "cluster/pairs/robust.h"
#include "cluster/pairs/sets.h"
#include "cluster/pairs/thresholds.h"
#include "common/core/statistics.h"

namespace fabricbench::cluster {
namespace {

/// A reading between two leaves.
struct Crossing {
  std::int32_t from;  // leaves
  std::int32_t to;
  std::int32_t from_host;
  std::int32_t to_host;
  double log_rate;
};

/// Comparable readings of one round.
using Round = std::vector<Crossing>;

/// Out of a leaf (`to` is kAny), into a leaf (`from` is kAny), or from one leaf to another.
struct LeafPath {
  static constexpr std::int32_t kAny = -1;
  std::int32_t from = kAny;
  std::int32_t to = kAny;

  [[nodiscard]] bool is_path() const { return from != kAny && to != kAny; }
  [[nodiscard]] std::int32_t leaf() const { return std::max(from, to); }
  [[nodiscard]] LeafPath back() const { return {to, from}; }
  [[nodiscard]] bool has(const Crossing& each) const {
    return each.from != each.to && (from == kAny || each.from == from) && (to == kAny || each.to == to);
  }
  /// Whether a reading takes the way, or the way back.
  [[nodiscard]] bool touches(const Crossing& each) const {
    if (is_path()) return has(each) || back().has(each);
    return each.from == leaf() || each.to == leaf();
  }
  friend bool operator<(const LeafPath& a, const LeafPath& b) {
    return std::pair(a.from, a.to) < std::pair(b.from, b.to);
  }
};

/// A sum of logarithms of rates.
struct Sum {
  double of = 0;
  std::int64_t count = 0;
  void add(double value) {
    of += value;
    ++count;
  }
  [[nodiscard]] double mean() const { return of / static_cast<double>(count); }
  friend Sum operator-(const Sum& a, const Sum& b) { return {a.of - b.of, a.count - b.count}; }
};

/// The readings of a way on one rail in one round, and what is usual there, as logarithms.
struct InRound {
  std::size_t round = 0;  ///< place in LeafContrasts::rounds_
  double usual = 0;
  double contrast = 0;
};

/// How far a way is below the others of the same rounds.
struct Contrast {
  double mean = 0;
  double chance = 1;  // that any healthy way's is as low
  std::vector<InRound> rounds;
  std::int64_t readings = 0;
};

class LeafContrasts {
 public:
  LeafContrasts(const Sweep& sweep, const Structure& structure, const VerdictSettings& settings,
                const std::vector<char>& left_out, bool links_are_shared)
      : structure_(structure),
        leaves_(structure.levels.front()),
        settings_(settings),
        are_shared_(links_are_shared),
        rest_(leaves_.parts == 1 ? 1 : LeafPath::kAny),
        slow_(std::log1p(-settings.tolerance)) {
    list_rounds(sweep, left_out);
  }

  /// After `find`: leaves that are slow, though chance may make them look so.
  [[nodiscard]] const std::set<std::int32_t>& open() const { return open_; }

  /// The slow ways, the worst first; each explains its readings for the others.
  std::vector<Finding> find() {
    std::vector<Finding> findings;
    while (const std::optional<Finding> leaf = worst(false)) findings.push_back(*leaf);
    const auto leaves = at(leaves_.parts);
    const bool are_too_many = leaves * leaves > readings_;  // few paths have more than one reading
    if (are_shared_ || are_too_many) return findings;
    while (const std::optional<Finding> path = worst(true)) findings.push_back(*path);
    return findings;
  }

 private:
  [[nodiscard]] std::int32_t leaf_of(std::int32_t host) const {
    const std::int32_t leaf = leaves_.part_of[at(host)];
    return leaf < 0 ? rest_ : leaf;
  }
  /// Lists the readings between leaves by round, rail, kind, distance and kind of hosts, and those within leaves.
  void list_rounds(const Sweep& sweep, const std::vector<char>& left_out) {
    std::map<std::tuple<std::int32_t, std::int16_t, std::int16_t, bool, std::int32_t, bool>, Round> rounds;
    std::map<std::tuple<std::int16_t, std::int16_t, bool>, std::vector<std::pair<std::int32_t, double>>> inside;
    const std::set<std::int32_t> repeated = are_shared_ ? repeated_rounds(sweep) : std::set<std::int32_t>();
    for (std::size_t i = 0; i < sweep.readings.size(); ++i) {
      const Reading& reading = sweep.readings[i];
      if (repeated.contains(reading.round)) continue;
      const std::int32_t from = leaf_of(reading.from);
      const std::int32_t to = leaf_of(reading.to);
      if (!has_rate(reading) || from < 0 || to < 0 || (!left_out.empty() && left_out[i] != 0)) continue;
      const double log_rate = std::log(double{reading.rate});
      if (from == to) inside[{reading.from_rail, reading.test, reading.both_ways}].emplace_back(from, log_rate);
      if ((from == to && from != rest_) || (are_shared_ && reading.concurrent == 1)) continue;
      const std::int32_t distance = std::max(structure_.distance(reading.from, reading.to), 1);
      Round& round = rounds[{reading.round, reading.from_rail, reading.test, reading.both_ways, distance,
                             structure_.is_of_slow_kind(reading)}];
      round.push_back({from, to, reading.from, reading.to, log_rate});
      ++readings_;
      if (!reading.both_ways) continue;
      both_ways_ = true;
      round.push_back({to, from, reading.to, reading.from, log_rate});
    }
    rounds_.reserve(rounds.size());
    for (auto& [key, round] : rounds) {
      rounds_.push_back(std::move(round));
      times_.push_back(std::get<0>(key));
    }
    inside_.resize(at(leaves_.parts) + 1);
    for (const auto& [key, readings] : inside) {
      std::vector<double> rates;
      rates.reserve(readings.size());
      for (const auto& [leaf, rate] : readings) rates.push_back(rate);
      const double usual = quantile(rates, kUpper);
      for (const auto& [leaf, rate] : readings) inside_[at(leaf)].push_back(rate - usual);
    }
  }

  [[nodiscard]] bool is_explained(const Crossing& each) const {
    return std::ranges::any_of(explained_, [&](const LeafPath& path) { return path.touches(each); });
  }
  [[nodiscard]] bool is_known(std::int32_t leaf) const {
    return leaf == rest_ || std::ranges::any_of(explained_, [&](const LeafPath& path) {
             return !path.is_path() && path.leaf() == leaf;
           });
  }
  /// Adds how far the readings of each way are below those of a round that do not touch it; of two leaves, below those
  /// in the other direction.
  void add_round(std::size_t number, bool of_paths, std::map<LeafPath, Contrast>& contrasts) const {
    std::map<LeafPath, Sum> own;
    std::map<LeafPath, Sum> touching;  // by path, the lower leaf first, or by leaf, as the way out of it
    Sum all;
    const auto touched = [&](const LeafPath& path) {
      return of_paths ? std::min(path, path.back()) : LeafPath{path.leaf(), LeafPath::kAny};
    };
    for (const Crossing& each : rounds_[number]) {
      if (is_explained(each)) continue;
      all.add(each.log_rate);
      const LeafPath path{each.from, each.to};
      if (of_paths) {
        own[path].add(each.log_rate);
        touching[touched(path)].add(each.log_rate);
        continue;
      }
      touching[{each.from, LeafPath::kAny}].add(each.log_rate);
      if (each.from == each.to) continue;
      touching[{each.to, LeafPath::kAny}].add(each.log_rate);
      own[{each.from, LeafPath::kAny}].add(each.log_rate);
      own[{LeafPath::kAny, each.to}].add(each.log_rate);
    }
    for (const auto& [path, sum] : own) {
      Sum others = all - touching[touched(path)];
      if (others.count == 0 && leaves_.parts == 2) others = all - sum;
      if (others.count == 0 || (!of_paths && is_known(path.leaf()))) continue;
      Contrast& contrast = contrasts[path];
      contrast.rounds.push_back({number, others.mean(), sum.mean() - others.mean()});
      contrast.readings += sum.count;
    }
  }

  [[nodiscard]] std::map<LeafPath, Contrast> contrasts_of(bool paths) const {
    std::map<LeafPath, Contrast> contrasts;
    for (std::size_t round = 0; round < rounds_.size(); ++round) add_round(round, paths, contrasts);
    std::erase_if(contrasts, [&](const auto& each) { return by_time(each.second).size() < kFew; });
    for (auto& [path, contrast] : contrasts) {
      for (const InRound& each : contrast.rounds) contrast.mean += each.contrast;
      contrast.mean /= static_cast<double>(contrast.rounds.size());
    }
    return contrasts;
  }

  /// The mean contrast of each round of the sweep: the same pairs meet on all rails, and perhaps the same load.
  [[nodiscard]] std::vector<double> by_time(const Contrast& contrast) const {
    std::vector<double> means;
    for (auto each = contrast.rounds.begin(); each != contrast.rounds.end();) {
      Sum sum;
      for (const std::int32_t time = times_[each->round]; each != contrast.rounds.end() && times_[each->round] == time;
           ++each)
        sum.add(each->contrast);
      means.push_back(sum.mean());
    }
    return means;
  }

  /// The probability that any healthy way has such a contrast: Student's t with the variance within this way and within
  /// all others of its direction, without readings that touch this one: one way's own few rounds tell little of the
  /// noise, and if it is slow, so are the others in rounds in which they meet it.
  [[nodiscard]] double chance_of(const LeafPath& path, const Contrast& contrast, bool of_paths, std::size_t paths) {
    if (rest_ != LeafPath::kAny) return std::exp(-leaves_.gain);  // hosts were chosen because they are slow
    constexpr double kSmallestVariance = 1e-6;                    // a simulator's readings may have no noise
    double squares = 0;
    double degrees = 0;
    const auto add = [&](const Contrast& each) {
      const std::vector<double> means = by_time(each);
      for (const double mean : means) squares += std::pow(mean - each.mean, 2);
      degrees += static_cast<double>(means.size()) - 1;
      return means.size();
    };
    const std::size_t rounds = add(contrast);
    explained_.push_back(path);
    for (const auto& [other, each] : contrasts_of(of_paths)) {
      if ((other.from == LeafPath::kAny) == (path.from == LeafPath::kAny)) add(each);
    }
    explained_.pop_back();
    const double variance = std::max(squares / degrees, kSmallestVariance);
    const double t = -contrast.mean / std::sqrt(variance / static_cast<double>(rounds));
    return t > 0 ? std::min(1.0, student_tail(t, degrees) * static_cast<double>(paths)) : 1;
  }

  /// Whether most hosts of a way are slow, whatever chance says.
  [[nodiscard]] bool is_slow(const LeafPath& path, const Contrast& contrast) const {
    if (contrast.mean > (are_shared_ ? -kLeastLoad : slow_) || is_slow_inside(path, contrast)) return false;
    const PartnerCount from = hosts_of(path, contrast, true);
    const PartnerCount to = hosts_of(path, contrast, false);
    const auto are = [](bool most, const PartnerCount& hosts) {
      if (hosts.shown < kMoreThanOne) return false;
      return most ? static_cast<double>(hosts.slow) >= kMost * static_cast<double>(hosts.shown)
                  : 2 * hosts.slow > hosts.shown;
    };
    // Of a leaf, half of the others are slow with it too: else it is the path to one of them.
    return are(path.from != LeafPath::kAny, from) && are(path.to != LeafPath::kAny, to);
  }

  /// Whether a leaf's hosts are nearly as slow with each other: then they are slow, and not the uplinks or the path.
  [[nodiscard]] bool is_slow_inside(const LeafPath& path, const Contrast& contrast) const {
    const auto is_slow = [&](std::int32_t leaf) {
      if (leaf == LeafPath::kAny) return false;
      std::vector<double> inside = inside_[at(leaf)];
      return !inside.empty() && median_of(inside) < std::min(slow_, contrast.mean / 2);
    };
    return is_slow(path.from) || is_slow(path.to);
  }

  /// Counts the hosts on one side of a way, and those that are slow.
  [[nodiscard]] PartnerCount hosts_of(const LeafPath& path, const Contrast& contrast, bool senders) const {
    std::map<std::int32_t, Sum> hosts;
    for (const InRound& in_round : contrast.rounds) {
      for (const Crossing& each : rounds_[in_round.round]) {
        if (path.has(each) && !is_explained(each))
          hosts[senders ? each.from_host : each.to_host].add(each.log_rate - in_round.usual);
      }
    }
    PartnerCount count;
    for (const auto& [host, sum] : hosts) count.slow += sum.mean() < slow_ ? 1 : 0;
    count.met = count.shown = std::ssize(hosts);
    return count;
  }

  /// The slowest of these ways, which is then explained. With two leaves, what one sends the other receives: the
  /// smaller leaf is blamed.
  [[nodiscard]] std::optional<Finding> worst(bool of_paths) {
    const double false_alarm = (are_shared_ ? settings_.false_alarm : 1) * settings_.false_alarm;
    std::map<LeafPath, Contrast> contrasts = contrasts_of(of_paths);
    const auto size_of = [&](const LeafPath& path) { return std::ranges::count(leaves_.part_of, path.leaf()); };
    open_.clear();
    auto found = contrasts.end();
    for (auto each = contrasts.begin(); each != contrasts.end(); ++each) {
      const bool are_its_hosts = is_slow(each->first, each->second);
      if (!are_its_hosts && (!are_shared_ || each->second.mean > slow_)) continue;
      each->second.chance = chance_of(each->first, each->second, of_paths, contrasts.size());
      if (are_shared_ && each->second.chance < settings_.false_alarm) open_.insert(each->first.leaf());
      if (each->second.chance >= false_alarm || !are_its_hosts) continue;
      const bool is_worse =
          found == contrasts.end() || each->second.mean < found->second.mean / (1 - settings_.tolerance);
      const bool is_smaller = found != contrasts.end() &&
                              each->second.mean < found->second.mean * (1 - settings_.tolerance) &&
                              size_of(each->first) < size_of(found->first);
      if (is_worse || is_smaller) found = each;
    }
    if (found == contrasts.end()) return std::nullopt;
    const auto back = contrasts.find(found->first.back());
    Finding finding = finding_of(found->first, found->second, back == contrasts.end() ? Contrast{} : back->second);
    explained_.push_back(found->first);
    return finding;
  }

  [[nodiscard]] Finding finding_of(const LeafPath& path, const Contrast& contrast, const Contrast& back) const {
    Finding finding;
    finding.blame = path.is_path() ? Blame::kLeafPair : Blame::kLeaf;
    finding.leaf = path.is_path() ? path.from : path.leaf();
    if (path.is_path()) finding.other_leaf = path.to;
    const bool both = back.mean < std::min(slow_, kPart * contrast.mean);
    finding.direction = direction_of(both || path.from != LeafPath::kAny, both || path.from == LeafPath::kAny);
    std::vector<double> usual;
    usual.reserve(contrast.rounds.size());
    for (const InRound& each : contrast.rounds) usual.push_back(std::exp(each.usual));
    finding.ratio = std::exp(contrast.mean);
    finding.expected = median_of(usual);
    finding.rate = finding.expected * finding.ratio;
    finding.readings = contrast.readings + (both && !both_ways_ ? back.readings : 0);
    finding.false_alarm = contrast.chance;
    finding.both_ways = both_ways_;
    if (path.is_path()) {
      finding.partners = std::min(hosts_of(path, contrast, true).shown, hosts_of(path, contrast, false).shown);
      finding.fine_elsewhere = true;
      return finding;
    }
    finding.fine_elsewhere = !inside_[at(path.leaf())].empty() || are_shared_;
    const auto add = [&](const LeafPath& each, const Contrast& of_way) {
      const bool sends = each.from != LeafPath::kAny;
      PartnerCount hosts = hosts_of(each, of_way, sends);
      hosts.met = std::ranges::count(leaves_.part_of, path.leaf());
      (sends ? finding.sends : finding.receives) = hosts;
      finding.partners = std::max(finding.partners, hosts.shown);
    };
    add(path, contrast);
    if (both) add(path.back(), back);
    return finding;
  }

  const Structure& structure_;
  const Level& leaves_;
  const VerdictSettings& settings_;
  bool are_shared_;
  std::int32_t rest_;
  double slow_;
  std::vector<Round> rounds_;
  std::vector<std::int32_t> times_;          // by place in rounds_: its round of the sweep, ascending
  std::vector<std::vector<double>> inside_;  // by leaf: logarithms of rates over those of all leaves
  bool both_ways_ = false;
  std::size_t readings_ = 0;
  std::vector<LeafPath> explained_;
  std::set<std::int32_t> open_;
};

/// Whether a reading goes over what a finding is about. A host in no leaf may be in another one.
bool goes_over(const Finding& finding, const Level& leaves, const Reading& reading) {
  const std::int32_t from = leaves.part_of[at(reading.from)];
  const std::int32_t to = leaves.part_of[at(reading.to)];
  if (from == to) return false;
  const bool any = reading.both_ways || finding.direction == Direction::kBoth;
  if (finding.blame == Blame::kLeafPair)
    return (from == finding.leaf && to == finding.other_leaf) ||
           (any && to == finding.leaf && from == finding.other_leaf);
  return (from == finding.leaf && (any || finding.direction == Direction::kSends)) ||
         (to == finding.leaf && (any || finding.direction == Direction::kReceives));
}

/// By rail, the strata of one kind whose readings stay on that rail.
using Centres = std::map<std::int16_t, const Stratum*>;

/// A rail that is slower than the others, as a finding; nothing: it is not.
std::optional<Finding> compared(const Model& model, const Centres& centres, std::int16_t rail) {
  std::vector<double> others;
  for (const auto& [other, stratum] : centres) {
    if (other != rail) others.push_back(stratum->centre);
  }
  if (others.empty()) return std::nullopt;
  const Stratum& own = *centres.at(rail);
  Finding finding;
  finding.blame = Blame::kRail;
  finding.rail = rail;
  finding.rate = own.centre;
  finding.expected = upper_median(others);
  finding.ratio = finding.rate / finding.expected;
  finding.readings = own.readings;
  const double deficit = std::log(finding.ratio);
  const double error = kMedianOverMeanError * own.scale / std::sqrt(static_cast<double>(own.readings));
  finding.false_alarm =
      family_wise(normal_below(deficit / (std::sqrt(2.0) * error)), static_cast<double>(centres.size()));
  if (deficit >= model.slow || finding.false_alarm >= model.settings.false_alarm) return std::nullopt;
  return finding;
}

/// The hosts that were measured both on a rail and on others, and those that are slower on it.
PartnerCount hosts_of_rail(const Model& model, std::int16_t kind, std::int32_t rail) {
  struct Rates {
    std::vector<float> own;
    std::vector<float> others;
  };
  std::map<std::int32_t, Rates> rates;  // by host
  for (const Point& point : model.points) {
    const Reading& reading = model.reading_of(point);
    if (reading.test != kind || reading.from_rail != reading.to_rail) continue;
    for (const std::int32_t host : {reading.from, reading.to}) {
      Rates& of_host = rates[host];
      (reading.from_rail == rail ? of_host.own : of_host.others).push_back(reading.rate);
    }
  }
  PartnerCount hosts;
  for (auto& [host, of_host] : rates) {
    if (of_host.own.empty() || of_host.others.empty()) continue;
    ++hosts.met;
    const double share = median_of(of_host.own) / median_of(of_host.others);
    hosts.slow += std::log(share) < model.slow ? 1 : 0;
  }
  hosts.shown = hosts.met;
  return hosts;
}

}  // namespace

SlowLeaves find_slow_leaves(const Sweep& sweep, const Structure& structure, const VerdictSettings& settings,
                            const std::vector<char>& left_out, bool links_are_shared) {
  SlowLeaves slow;
  if (structure.levels.empty()) return slow;
  const Level& leaves = structure.levels.front();
  if (links_are_shared && !leaves.is_given && leaves.parts > 1) return slow;
  LeafContrasts contrasts(sweep, structure, settings, left_out, links_are_shared);
  slow.findings = contrasts.find();
  slow.open = contrasts.open();
  if (slow.findings.empty()) return slow;
  slow.explained.assign(sweep.readings.size(), 0);
  for (std::size_t i = 0; i < sweep.readings.size(); ++i) {
    const bool is_explained = std::ranges::any_of(
        slow.findings, [&](const Finding& finding) { return goes_over(finding, leaves, sweep.readings[i]); });
    slow.explained[i] = is_explained ? 1 : 0;
  }
  return slow;
}

void report_rails(const Model& model, Verdict& verdict) {
  std::map<std::tuple<std::int16_t, bool, std::int32_t, bool>, Centres> groups;
  for (const Stratum& stratum : model.strata) {
    if (stratum.from_rail != stratum.to_rail) continue;
    groups[{stratum.test, stratum.both_ways, stratum.distance, stratum.slow_kind}][stratum.from_rail] = &stratum;
  }
  std::map<std::int32_t, Finding> worst;  // by rail
  for (const auto& [key, centres] : groups) {
    for (const auto& [rail, stratum] : centres) {
      std::optional<Finding> slow = compared(model, centres, rail);
      if (!slow) continue;
      slow->sends = hosts_of_rail(model, stratum->test, rail);
      slow->partners = slow->sends.met;
      if (slow->partners < kMoreThanOne || 2 * slow->sends.slow <= slow->partners) continue;
      const auto [at, added] = worst.try_emplace(rail, *slow);
      if (!added && slow->ratio < at->second.ratio) at->second = *slow;
    }
  }
  for (auto& [rail, slow] : worst) verdict.findings.push_back(std::move(slow));
}

}  // namespace fabricbench::cluster
