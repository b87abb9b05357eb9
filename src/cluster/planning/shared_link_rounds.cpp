#include "cluster/planning/shared_link_rounds.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "cluster/planning/follow_up_rounds.h"
#include "cluster/planning/group_rounds.h"
#include "cluster/robust.h"

namespace fabricbench::cluster {
namespace {

using Pair = std::pair<std::int32_t, std::int32_t>;

constexpr std::size_t kPairs = 6;        // compared
constexpr std::size_t kFewestPairs = 2;  // without a host in common: fewer are of one host
constexpr std::int64_t kPasses = 2;      // alone and among others

Pair pair_of(const Reading& reading) { return std::minmax(reading.from, reading.to); }

struct PairReadings {
  std::set<std::int32_t> alone;  // rounds
  std::set<std::int32_t> beside_since;
};

std::map<Pair, PairReadings> pairs_alone(const Sweep& sweep) {
  std::map<Pair, PairReadings> pairs;
  for (const Reading& reading : sweep.readings) {
    if (reading.concurrent == 1 && has_rate(reading)) pairs[pair_of(reading)].alone.insert(reading.round);
  }
  if (pairs.empty()) return pairs;
  for (const Reading& reading : sweep.readings) {
    const auto own = reading.concurrent > 1 ? pairs.find(pair_of(reading)) : pairs.end();
    if (own != pairs.end() && reading.round > *own->second.alone.begin())
      own->second.beside_since.insert(reading.round);
  }
  return pairs;
}

struct SlowReading {
  bool is_new = false;  // its pair was never alone
  double ratio = 0;     // of the usual rate
  std::int32_t from = 0;
  std::int32_t to = 0;
};

struct Met {
  std::int64_t all = 0;
  std::int64_t slow = 0;
};

/// What the fastest of comparable readings reach, whatever the distance of their hosts.
struct Fastest {
  double rate = 0;   // bytes per second
  double scale = 0;  // of their stratum
};

/// By stratum.
std::vector<Fastest> fastest_of(const Sweep& sweep, const Verdict& verdict, double tolerance) {
  constexpr double kUpper = 0.9;
  const auto alike = [](const Stratum& stratum) {
    return std::tuple{stratum.kind, stratum.from_rail, stratum.to_rail, stratum.both_ways};
  };
  std::map<std::tuple<std::int16_t, std::int16_t, std::int16_t, bool>, std::vector<float>> rates;
  for (const Reading& reading : sweep.readings) {
    if (has_rate(reading))
      rates[{reading.kind, reading.from_rail, reading.to_rail, reading.both_ways}].push_back(reading.rate);
  }
  std::vector<Fastest> fastest;
  for (const Stratum& own : verdict.strata) {
    fastest.push_back({(1 - tolerance) * quantile(rates.at(alike(own)), kUpper), own.scale});
    for (const Stratum& other : verdict.strata) {
      if (alike(other) == alike(own) && other.pairs >= Stratum::kPairsOfNorm && other.centre > fastest.back().rate) {
        fastest.back() = {other.centre, other.scale};
      }
    }
  }
  return fastest;
}

/// Readings beside others that are slow, before their pair was measured alone, without those that one host
/// explains; nothing, if they are few and no two paths are slow.
std::vector<SlowReading> unexplained(const Sweep& sweep, const Verdict& verdict,
                                     const std::map<Pair, PairReadings>& alone, double tolerance) {
  constexpr double kScales = 3;
  constexpr double kMostNoise = 0.2;  // where pairs share links, what they get scatters by more
  constexpr double kFew = 0.02;       // of the readings: outliers of a healthy network
  std::vector<SlowReading> slow;
  std::vector<Met> met(sweep.hosts.size());
  const std::vector<Fastest> fastest = fastest_of(sweep, verdict, tolerance);
  std::int64_t all = 0;
  for (std::size_t i = 0; i < sweep.readings.size(); ++i) {
    const Reading& reading = sweep.readings[i];
    if (!has_rate(reading) || reading.concurrent < 2 || verdict.usual.at(i) <= 0) continue;
    const auto own = alone.find(pair_of(reading));
    if (own != alone.end() && reading.round > *own->second.alone.begin()) continue;
    const auto stratum = static_cast<std::size_t>(verdict.stratum_of[i]);
    const double drift = verdict.usual[i] / verdict.strata[stratum].centre;
    const double ratio = reading.rate / (fastest[stratum].rate * drift);
    const bool is_slow = ratio < 1 - std::clamp(kScales * fastest[stratum].scale, tolerance, kMostNoise);
    ++all;
    for (const std::int32_t host : {reading.from, reading.to}) {
      ++met[static_cast<std::size_t>(host)].all;
      met[static_cast<std::size_t>(host)].slow += is_slow ? 1 : 0;
    }
    if (is_slow) slow.push_back({own == alone.end(), ratio, reading.from, reading.to});
  }
  std::set<std::int32_t> slow_hosts;
  for (std::size_t host = 0; host < met.size(); ++host) {
    if (2 * met[host].slow > met[host].all) slow_hosts.insert(static_cast<std::int32_t>(host));
  }
  if (slow_hosts.size() == 1) {
    std::erase_if(slow, [&](const SlowReading& reading) {
      return slow_hosts.contains(reading.from) || slow_hosts.contains(reading.to);
    });
  }
  const auto paths = std::count_if(verdict.findings.begin(), verdict.findings.end(),
                                   [](const Finding& finding) { return is_path(finding) && finding.rate > 0; });
  const bool are_few = static_cast<double>(slow.size()) < kFew * static_cast<double>(all);
  if (are_few && paths < 2) slow.clear();
  return slow;
}

std::vector<Meeting> pairs_to_compare(const Sweep& sweep, const SweepProgress& progress, const Verdict& verdict,
                                      const std::map<Pair, PairReadings>& alone, double tolerance) {
  std::vector<SlowReading> slow = unexplained(sweep, verdict, alone, tolerance);
  std::sort(slow.begin(), slow.end(), [](const SlowReading& a, const SlowReading& b) {
    return std::tie(a.is_new, a.ratio, a.from, a.to) < std::tie(b.is_new, b.ratio, b.from, b.to);
  });
  std::vector<Meeting> pairs;
  std::set<std::int32_t> used;
  for (const SlowReading& each : slow) {
    const bool takes_part = progress.left_out[static_cast<std::size_t>(each.from)] == 0 &&
                            progress.left_out[static_cast<std::size_t>(each.to)] == 0;
    if (pairs.size() == kPairs || !takes_part || used.contains(each.from) || used.contains(each.to)) continue;
    pairs.push_back({each.from, each.to});
    used.insert({each.from, each.to});
  }
  if (pairs.size() < kFewestPairs) pairs.clear();
  return pairs;
}

constexpr std::int64_t kAnyNumber = std::numeric_limits<std::int64_t>::max();

/// Partners for hosts that are not judged: others of these, and hosts that are no suspects.
class ProbePartners {
 public:
  ProbePartners(const Sweep& sweep, const Verdict& verdict) : group_of_(sweep.hosts.size(), -1) {
    if (!verdict.groupings.empty()) group_of_ = groups_of(verdict.groupings.front(), sweep.hosts.size());
    hosts_ = verdict.not_judged;
    const std::vector<std::uint8_t> suspects = suspects_of(verdict, sweep.hosts.size());
    for (std::size_t host = 0; host < suspects.size(); ++host) {
      if (suspects[host] == 0) hosts_.push_back(static_cast<std::int32_t>(host));
    }
    for (const Reading& reading : sweep.readings) {
      if (reading.concurrent == 1 || is_near(reading.from, reading.to)) ++met_[pair_of(reading)];
    }
  }

  /// The one that is free and that the host has met least, near or alone, and fewer than `most` times; -1: none.
  [[nodiscard]] std::int32_t best(std::int32_t host, const std::vector<std::uint8_t>& taken, bool near,
                                  std::int64_t most) const {
    std::int32_t best = -1;
    for (const std::int32_t other : hosts_) {
      const bool fits = other != host && taken[static_cast<std::size_t>(other)] == 0 && is_near(host, other) == near;
      const auto found = met_.find(std::minmax(host, other));
      const std::int64_t met = found == met_.end() ? 0 : found->second;
      if (!fits || met >= most) continue;
      best = other;
      most = met;
      if (met == 0) break;
    }
    return best;
  }

 private:
  [[nodiscard]] bool is_near(std::int32_t a, std::int32_t b) const {
    const std::int32_t group = group_of_[static_cast<std::size_t>(a)];
    return group >= 0 && group == group_of_[static_cast<std::size_t>(b)];
  }

  std::vector<std::int32_t> group_of_;
  std::vector<std::int32_t> hosts_;
  std::map<Pair, std::int64_t> met_;  // readings
};

}  // namespace

ProbeStep next_probe(const Sweep& sweep, const SweepProgress& progress, const Verdict& verdict, double tolerance) {
  if (verdict.usual.size() != sweep.readings.size()) return {};
  const std::map<Pair, PairReadings> alone = pairs_alone(sweep);
  const std::vector<Meeting> pairs = pairs_to_compare(sweep, progress, verdict, alone, tolerance);
  ProbeStep step;
  step.pairs = static_cast<std::int64_t>(pairs.size());
  for (std::int64_t pass = 1; pass <= kPasses; ++pass) {
    if (pass > 1 && verdict.links.readings > 0 && verdict.links.slowed == 0) break;
    bool all_beside = true;
    for (const Meeting& pair : pairs) {
      const auto own = alone.find(std::minmax(pair.first, pair.second));
      if (own == alone.end() || std::cmp_less(own->second.alone.size(), pass)) {
        step.meetings = {pair};
        return step;
      }
      all_beside = all_beside && std::cmp_greater_equal(own->second.beside_since.size(), pass);
    }
    if (!all_beside) {
      step.meetings = pairs;
      step.among_others = true;
      return step;
    }
  }
  return step;
}

std::vector<Meeting> pairs_to_judge(const Sweep& sweep, const SweepProgress& progress, const Verdict& verdict,
                                    std::size_t at_once) {
  constexpr std::int64_t kOftenNear = 4;  // readings, of both directions
  const ProbePartners partners(sweep, verdict);
  std::vector<std::uint8_t> taken = progress.left_out;
  std::vector<Meeting> pairs;
  const auto add = [&](std::size_t most, const auto& choose) {
    for (const std::int32_t host : verdict.not_judged) {
      if (pairs.size() == most) return;
      if (taken[static_cast<std::size_t>(host)] != 0) continue;
      const std::int32_t other = choose(host);
      if (other < 0) continue;
      taken[static_cast<std::size_t>(host)] = taken[static_cast<std::size_t>(other)] = 1;
      pairs.push_back({host, other});
    }
  };
  add(sweep.hosts.size(), [&](std::int32_t host) { return partners.best(host, taken, true, kOftenNear); });
  if (pairs.empty()) add(at_once, [&](std::int32_t host) { return partners.best(host, taken, false, kAnyNumber); });
  return pairs;
}

}  // namespace fabricbench::cluster
