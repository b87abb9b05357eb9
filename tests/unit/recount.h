// Counts straight from a sweep's readings, to compare the record of a verdict with. It knows nothing of how a verdict
// is reached: from a verdict it takes only what a reading of each stratum should be.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "cluster/pairs/readings.h"
#include "cluster/pairs/verdict.h"

namespace fabricbench::cluster {

/// Which readings a sentence is about; -1, or empty: all.
struct About {
  enum class Way : std::uint8_t { kEither, kSends, kReceives };
  std::int32_t host = -1;
  Way way = Way::kEither;  ///< what the host does
  std::int32_t other = -1;
  std::int32_t rail = -1;  ///< of the host
  std::int32_t other_rail = -1;
  std::set<std::int32_t> kinds = {};
};

class Recount {
 public:
  Recount(const Sweep& sweep, const Verdict& verdict, double tolerance)
      : sweep_(sweep), verdict_(verdict), slow_(1 - tolerance) {}

  /// A reading from the host's side.
  struct Seen {
    const Reading* reading = nullptr;
    std::int32_t other = 0;
    std::int32_t rail = 0;
    std::int32_t other_rail = 0;
    double share = 0;  ///< of what is usual; 0 of a failed one

    [[nodiscard]] bool failed() const { return reading->outcome == Outcome::kFailed; }
  };

  /// Measured and failed ones.
  [[nodiscard]] std::vector<Seen> seen(const About& about) const {
    std::vector<Seen> all;
    for (std::size_t i = 0; i < sweep_.readings.size(); ++i) {
      const Reading& reading = sweep_.readings[i];
      if (reading.outcome == Outcome::kNotTried) continue;
      if (!about.kinds.empty() && !about.kinds.contains(reading.test)) continue;
      for (const bool sends : {true, false}) {
        const std::int32_t host = sends ? reading.from : reading.to;
        if (host != about.host) continue;
        const bool wanted =
            about.way == About::Way::kEither || reading.both_ways || sends == (about.way == About::Way::kSends);
        const Seen one{&reading, sends ? reading.to : reading.from, sends ? reading.from_rail : reading.to_rail,
                       sends ? reading.to_rail : reading.from_rail, share(i)};
        const bool same = (about.other < 0 || about.other == one.other) && (about.rail < 0 || about.rail == one.rail) &&
                          (about.other_rail < 0 || about.other_rail == one.other_rail);
        if (wanted && same) all.push_back(one);
      }
    }
    return all;
  }

  /// What may be slow, and what may be fine: medians of several readings are taken in other orders.
  [[nodiscard]] bool may_be_slow(double share) const { return share < slow_ + kMargin; }
  [[nodiscard]] bool may_be_fine(double share) const { return share > slow_ - kMargin; }

  /// Partners of whom some rail, in some kind and direction, is slow in the median, or fine.
  struct Partners {
    std::set<std::int32_t> met;
    std::set<std::int32_t> may_be_slow;
    std::set<std::int32_t> may_be_fine;
  };
  [[nodiscard]] Partners partners(const About& about) const {
    Partners partners;
    for (const auto& [key, level] : levels(about)) {
      const std::int32_t other = std::get<0>(key);
      partners.met.insert(other);
      if (may_be_slow(level)) partners.may_be_slow.insert(other);
      if (may_be_fine(level)) partners.may_be_fine.insert(other);
    }
    return partners;
  }

  /// Whether half of what was measured with each partner is fine, or with each but `leaving_out`, who may be to blame
  /// for it; nothing where there is none.
  [[nodiscard]] std::optional<bool> is_fine(const About& about, const std::set<std::int32_t>& leaving_out) const {
    std::vector<double> all;
    std::vector<double> shares;
    for (const auto& [key, level] : levels(about)) {
      all.push_back(level);
      if (!leaving_out.contains(std::get<0>(key))) shares.push_back(level);
    }
    if (shares.empty()) return std::nullopt;
    return may_be_fine(median(shares)) || may_be_fine(median(all));
  }

  [[nodiscard]] std::int64_t measured(const About& about) const {
    const std::vector<Seen> all = seen(about);
    return std::count_if(all.begin(), all.end(), [](const Seen& one) { return !one.failed(); });
  }
  [[nodiscard]] std::int64_t failed(const About& about) const {
    return static_cast<std::int64_t>(seen(about).size()) - measured(about);
  }
  /// Those that failed or may be slow.
  [[nodiscard]] std::int64_t bad(const About& about) const {
    const std::vector<Seen> all = seen(about);
    return std::count_if(all.begin(), all.end(), [&](const Seen& one) { return may_be_slow(one.share); });
  }
  /// Whether there is a bad reading that was taken alone, in a later round than another bad one.
  [[nodiscard]] bool seen_again_alone(const About& about) const {
    std::int32_t first = -1;
    for (const Seen& one : seen(about)) {
      if (!may_be_slow(one.share)) continue;
      if (first >= 0 && one.reading->concurrent == 1 && one.reading->round > first) return true;
      if (first < 0) first = one.reading->round;
    }
    return false;
  }
  /// Whether a rail of a host, or any, has a figure with somebody else than `besides`.
  [[nodiscard]] bool works(std::int32_t host, std::int32_t rail, std::int32_t besides) const {
    const std::vector<Seen> all = seen({.host = host, .rail = rail});
    return std::any_of(all.begin(), all.end(), [&](const Seen& one) { return !one.failed() && one.other != besides; });
  }

  [[nodiscard]] static double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  }

  /// Of what is usual; 0 of what failed.
  [[nodiscard]] double share_of(std::size_t reading) const { return share(reading); }

 private:
  static constexpr double kMargin = 0.01;

  [[nodiscard]] double share(std::size_t reading) const {
    const std::int32_t stratum = verdict_.stratum_of.at(reading);
    if (stratum < 0) return 0;
    return static_cast<double>(sweep_.readings[reading].rate) / static_cast<double>(verdict_.usual.at(reading));
  }

  /// Medians by partner, its rail, the own rail, kind and direction.
  using EndpointLevel = std::tuple<std::int32_t, std::int32_t, std::int32_t, std::int32_t, bool>;
  [[nodiscard]] std::map<EndpointLevel, double> levels(const About& about) const {
    std::map<EndpointLevel, std::vector<double>> shares;
    for (const Seen& one : seen(about)) {
      if (one.failed()) continue;
      const bool sends = one.reading->from == about.host && !one.reading->both_ways;
      shares[{one.other, one.other_rail, one.rail, one.reading->test, sends}].push_back(one.share);
    }
    std::map<EndpointLevel, double> levels;
    for (const auto& [key, values] : shares) levels[key] = median(values);
    return levels;
  }

  const Sweep& sweep_;
  const Verdict& verdict_;
  double slow_;
};

}  // namespace fabricbench::cluster
