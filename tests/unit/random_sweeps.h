// Sweeps with anything in them: fabrics, faults, failures, repeats, rails and leaves by chance. Made here, and not by
// tests/simulation, so that no mistake is on both sides.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cluster/pairs/readings.h"

namespace fabricbench::cluster {

/// Hosts are called h00, rails r0, leaves L0 and kinds of readings k0, so that a report is easily read.
class RandomSweep {
 public:
  explicit RandomSweep(std::uint64_t seed) : random_(seed) {}

  Sweep make() {
    plan_fabric();
    plan_faults();
    const int rounds = among(1, 2 * hosts_);
    for (int round = 0; round < rounds; ++round) measure_round();
    if (chance(0.6)) measure_again_alone();
    return std::move(sweep_);
  }

 private:
  enum class Way : std::uint8_t { kAny, kSends, kReceives };

  /// What slows readings that it is about by a factor; 0: they fail.
  struct Fault {
    int host = -1;
    int other = -1;  ///< of a path
    int leaf = -1;   ///< of uplinks
    int rail = -1;   ///< -1: all
    int kind = -1;
    int since = 0;  ///< round
    Way way = Way::kAny;
    double factor = 1;
    double share = 1;  ///< of the meetings
  };

  bool chance(double share) { return std::uniform_real_distribution<>(0, 1)(random_) < share; }
  int among(int least, int most) { return std::uniform_int_distribution<>(least, most)(random_); }
  double between(double least, double most) { return std::uniform_real_distribution<>(least, most)(random_); }

  void plan_fabric() {
    hosts_ = chance(0.1) ? 2 : among(3, chance(0.2) ? 24 : 12);
    const int rails = chance(0.7) ? 1 : among(2, 3);
    const int kinds = chance(0.7) ? 1 : 2;
    for (int host = 0; host < hosts_; ++host) sweep_.hosts.push_back(fmt::format("h{:02}", host));
    if (rails > 1) sweep_.rails.clear();
    for (int rail = 0; rail < rails && rails > 1; ++rail) sweep_.rails.push_back(fmt::format("r{}", rail));
    for (int kind = 0; kind < kinds; ++kind) {
      sweep_.tests.push_back(fmt::format("k{}", kind));
      rates_.push_back(between(1e9, 50e9));
      both_ways_.push_back(chance(0.2));
    }
    one_way_only_ = chance(0.1);
    noise_ = between(0.003, chance(0.2) ? 0.06 : 0.02);
    outliers_ = chance(0.3) ? between(0, 0.05) : 0;
    failures_ = chance(0.2) ? between(0, 0.3) : 0;
    if (chance(0.4)) plan_leaves();
    if (chance(0.1)) {
      for (int host = 0; host < hosts_ / 2 + 1; ++host) faults_.push_back({.host = host, .factor = 0.7});
    }
  }

  void plan_leaves() {
    const int leaves = among(2, 4);
    for (int leaf = 0; leaf < leaves; ++leaf) names_of_leaves_.push_back(fmt::format("L{}", leaf));
    for (int host = 0; host < hosts_; ++host) leaf_of_.push_back(chance(0.5) ? host % leaves : among(0, leaves - 1));
    crossing_ = chance(0.5) ? 1 : between(0.2, 1);
    if (!chance(0.6)) return;
    sweep_.leaves = names_of_leaves_;
    sweep_.leaf_of.assign(leaf_of_.begin(), leaf_of_.end());
  }

  void plan_faults() {
    const int faults = chance(0.2) ? 0 : among(1, 4);
    for (int i = 0; i < faults; ++i) faults_.push_back(fault());
  }

  Fault fault() {
    Fault fault;
    fault.factor = chance(0.2) ? 0 : between(0.05, 0.97);
    fault.way = static_cast<Way>(chance(0.5) ? 0 : among(1, 2));
    fault.since = chance(0.2) ? among(0, 10) : 0;
    fault.share = chance(0.2) ? between(0.1, 0.8) : 1;
    if (sweep_.rails.size() > 1 && chance(0.5)) fault.rail = among(0, static_cast<int>(sweep_.rails.size()) - 1);
    if (sweep_.tests.size() > 1 && chance(0.4)) fault.kind = among(0, 1);
    const int what = among(0, 9);
    if (what == 0 && !leaf_of_.empty()) {
      fault.leaf = leaf_of_[static_cast<std::size_t>(among(0, hosts_ - 1))];
    } else if (what == 1 && fault.rail >= 0) {
      fault.way = Way::kAny;  // of all hosts
    } else {
      fault.host = among(0, hosts_ - 1);
      if (what < 5) fault.other = (fault.host + among(1, hosts_ - 1)) % hosts_;
    }
    return fault;
  }

  [[nodiscard]] int leaf_of(int host) const { return leaf_of_.empty() ? -1 : leaf_of_[static_cast<std::size_t>(host)]; }

  [[nodiscard]] bool is_about(const Fault& fault, const Reading& reading, bool turned) const {
    const int from = turned ? reading.to : reading.from;
    const int to = turned ? reading.from : reading.to;
    const int rail = turned ? reading.to_rail : reading.from_rail;
    if (fault.kind >= 0 && fault.kind != reading.test) return false;
    if (reading.round < fault.since) return false;
    if (fault.rail >= 0 && fault.rail != rail) return false;
    if (fault.leaf >= 0) return leaf_of(from) == fault.leaf && leaf_of(to) != fault.leaf;
    if (fault.host < 0) return true;
    return fault.host == from && (fault.other < 0 || fault.other == to);
  }

  double factor_of(const Fault& fault, const Reading& reading) {
    const bool sends = fault.way != Way::kReceives && is_about(fault, reading, false);
    const bool receives = fault.way != Way::kSends && is_about(fault, reading, true);
    if (!sends && !receives) return 1;
    return fault.share >= 1 || chance(fault.share) ? fault.factor : 1;
  }

  void measure(int from, int to, int from_rail, int to_rail, int kind, int concurrent) {
    Reading reading;
    reading.from = from;
    reading.to = to;
    reading.from_rail = static_cast<std::int16_t>(from_rail);
    reading.to_rail = static_cast<std::int16_t>(to_rail);
    reading.test = static_cast<std::int16_t>(kind);
    reading.round = round_;
    reading.concurrent = concurrent;
    reading.both_ways = both_ways_[static_cast<std::size_t>(kind)];
    double factor = leaf_of(from) == leaf_of(to) ? 1 : crossing_;
    for (const Fault& fault : faults_) factor = std::min(factor, factor_of(fault, reading));
    if (chance(failures_)) factor = 0;
    if (chance(outliers_)) factor *= between(0.1, 0.9);
    if (factor > 0) {
      const double noise = std::normal_distribution<>(0, noise_)(random_);
      reading.rate = static_cast<float>(rates_[static_cast<std::size_t>(kind)] * factor * std::exp(noise));
    } else {
      reading.outcome = chance(0.05) ? Outcome::kNotTried : Outcome::kFailed;
      if (chance(0.5)) sweep_.reasons.emplace_back(sweep_.readings.size(), fmt::format("reason {}", round_));
    }
    sweep_.readings.push_back(reading);
  }

  void measure_pair(int a, int b, int concurrent) {
    for (int kind = 0; kind < static_cast<int>(sweep_.tests.size()); ++kind) {
      if (sweep_.tests.size() > 1 && chance(0.2)) continue;
      for (int rail = 0; rail < static_cast<int>(sweep_.rails.size()); ++rail) {
        const int other = chance(0.95) ? rail : among(0, static_cast<int>(sweep_.rails.size()) - 1);
        measure(a, b, rail, other, kind, concurrent);
        const bool both = both_ways_[static_cast<std::size_t>(kind)];
        if (!both && !one_way_only_) measure(b, a, other, rail, kind, concurrent);
      }
    }
  }

  void measure_round() {
    std::vector<int> order(static_cast<std::size_t>(hosts_));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random_);
    const int pairs = chance(0.1) ? 1 : hosts_ / 2;
    for (int pair = 0; pair < pairs; ++pair) {
      measure_pair(order[static_cast<std::size_t>(2 * pair)], order[static_cast<std::size_t>(2 * pair + 1)], pairs);
    }
    ++round_;
  }

  /// Pairs that were slow or failed, as a planner would, and some others.
  void measure_again_alone() {
    std::vector<std::pair<int, int>> pairs;
    for (const Reading& reading : sweep_.readings) {
      const bool slow = reading.rate < 0.9 * rates_[static_cast<std::size_t>(reading.test)];
      if (slow ? chance(0.2) : chance(0.02)) pairs.emplace_back(reading.from, reading.to);
    }
    std::shuffle(pairs.begin(), pairs.end(), random_);
    pairs.resize(std::min<std::size_t>(pairs.size(), 12));
    for (const auto& [a, b] : pairs) {
      for (int times = among(1, 4); times > 0; --times) {
        measure_pair(a, b, 1);
        ++round_;
      }
    }
  }

  std::mt19937_64 random_;
  Sweep sweep_;
  int hosts_ = 0;
  int round_ = 0;
  std::vector<std::string> names_of_leaves_;
  std::vector<int> leaf_of_;  ///< whether or not the sweep says so
  std::vector<double> rates_;
  std::vector<bool> both_ways_;
  std::vector<Fault> faults_;
  bool one_way_only_ = false;
  double crossing_ = 1;
  double noise_ = 0;
  double outliers_ = 0;
  double failures_ = 0;
};

}  // namespace fabricbench::cluster
