#include "cluster/attribution/circular.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "cluster/attribution/unit_scores.h"
#include "cluster/sorted_unique.h"

namespace fabricbench::cluster {
namespace {

using Hosts = std::set<std::int32_t>;

Hosts hosts_of(const Model& model, const std::vector<UnitEffect>& effects) {
  Hosts hosts;
  for (const UnitEffect& each : effects) hosts.insert(model.ids.host(each.effect));
  return hosts;
}

/// Whether an effect is much faster than its cap with two hosts or more, and only with `accused` hosts.
bool is_refuted(const Model& model, std::int32_t effect, double cap, const Hosts& accused) {
  constexpr double kErrors = 3;
  constexpr double kTolerances = 2;
  Hosts fast;
  for (const PartnerLevel& level : levels_as_measured(model, effect)) {
    if (level.rate() < cap + std::max(-kTolerances * model.slow, kErrors * level.error())) continue;
    if (!accused.contains(level.host)) return false;
    fast.insert(level.host);
  }
  return fast.size() >= 2;
}

/// By host, the second fastest of its readings, as a logarithm, without drift. The fastest one may be chance.
std::vector<double> fast_rates(const Model& model) {
  std::vector<std::array<double, 2>> fastest(static_cast<std::size_t>(model.ids.hosts));
  for (auto& two : fastest) two.fill(-std::numeric_limits<double>::infinity());
  for (const Point& point : model.points) {
    const double rate = point.residual + model.centre_of(point);
    for (const std::int32_t effect : {point.sender, point.receiver}) {
      auto& [first, second] = fastest[static_cast<std::size_t>(model.ids.host(effect))];
      if (rate > first) {
        second = std::exchange(first, rate);
      } else {
        second = std::max(second, rate);
      }
    }
  }
  std::vector<double> rates;
  rates.reserve(fastest.size());
  for (const auto& [first, second] : fastest) rates.push_back(second);
  return rates;
}

/// Whether a host reaches, with any partner, a rate above a blamed effect's cap by more than half of its deficit. Then
/// the host cannot be what slows that effect.
bool is_faster(const std::vector<double>& fast, std::int32_t host, const UnitEffect& found) {
  return fast[static_cast<std::size_t>(host)] > found.score.cap - found.score.median / 2;
}

/// Whether a blamed effect is slow with a host that is not blamed, and that is faster with others.
bool is_slow_with_fine_ones(const Model& model, const UnitEffect& found, const Hosts& blamed,
                            const std::vector<double>& fast) {
  const std::vector<PartnerLevel> levels = partner_levels(model, found.effect);
  return std::any_of(levels.begin(), levels.end(), [&](const PartnerLevel& level) {
    return level.residual < model.slow && !blamed.contains(level.host) && is_faster(fast, level.host, found);
  });
}

/// The hosts of effects that are slow with each other only, and their slow partners that are fast with nobody.
std::vector<std::int32_t> hosts_of_circle(const Model& model, const std::vector<UnitEffect>& circle,
                                          const Hosts& blamed, const std::vector<double>& fast) {
  Hosts hosts = hosts_of(model, circle);
  for (const UnitEffect& found : circle) {
    for (const PartnerLevel& level : levels_as_measured(model, found.effect)) {
      const bool may_be_slow = level.residual < model.slow && !is_faster(fast, level.host, found);
      if (may_be_slow && !blamed.contains(level.host)) hosts.insert(level.host);
    }
  }
  return {hosts.begin(), hosts.end()};
}

/// Whether other blamed effects explain all slow readings of an effect.
bool is_explained(const Model& model, std::int32_t effect) {
  const std::vector<PartnerLevel> levels = partner_levels(model, effect);
  return std::none_of(levels.begin(), levels.end(),
                      [&](const PartnerLevel& level) { return level.residual < model.slow; });
}

}  // namespace

bool set_refuted_apart(Model& model, UnitEffects& units) {
  Hosts accused = hosts_of(model, units.blamed);
  accused.insert(units.apart.begin(), units.apart.end());
  Hosts refuted;
  for (const UnitEffect& found : units.blamed) {
    const std::int32_t host = model.ids.host(found.effect);
    if (model.is_known_to_be_slow(host)) continue;
    if (is_refuted(model, found.effect, found.score.cap, accused)) refuted.insert(host);
  }
  std::erase_if(units.blamed, [&](const UnitEffect& found) {
    if (!refuted.contains(model.ids.host(found.effect))) return false;
    model.clear_blame(found.effect);
    return true;
  });
  units.apart.insert(units.apart.end(), refuted.begin(), refuted.end());
  units.apart = sorted_unique(std::move(units.apart));
  return !refuted.empty();
}

void set_mutual_aside(Model& model, UnitEffects& units) {
  const Hosts blamed = hosts_of(model, units.blamed);
  const std::vector<double> fast = blamed.empty() ? std::vector<double>() : fast_rates(model);
  Hosts needed;
  for (const UnitEffect& found : units.blamed) {
    const std::int32_t host = model.ids.host(found.effect);
    if (model.is_known_to_be_slow(host) || is_slow_with_fine_ones(model, found, blamed, fast)) needed.insert(host);
  }
  if (needed.size() == blamed.size()) return;
  const auto circular = std::stable_partition(units.blamed.begin(), units.blamed.end(), [&](const UnitEffect& found) {
    return needed.contains(model.ids.host(found.effect));
  });
  const std::vector<UnitEffect> cleared(circular, units.blamed.end());
  units.blamed.erase(circular, units.blamed.end());
  for (const UnitEffect& found : cleared) model.clear_blame(found.effect);
  // Effects that the remaining blamed hosts do not explain stay blamed, as sets of hosts.
  std::copy_if(cleared.begin(), cleared.end(), std::back_inserter(units.mutual),
               [&](const UnitEffect& found) { return !is_explained(model, found.effect); });
  for (const UnitEffect& found : units.mutual) model.blame(found.effect, found.score.cap);
  units.mutual_hosts = hosts_of_circle(model, units.mutual, blamed, fast);
}

}  // namespace fabricbench::cluster
