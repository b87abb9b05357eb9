#include "cluster/attribution/circular.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "cluster/attribution/unit_scores.h"
#include "cluster/robust.h"

namespace fabricbench::cluster {
namespace {

using Hosts = std::set<std::int32_t>;

Hosts hosts_of(const Model& model, const std::vector<UnitEffect>& effects) {
  Hosts hosts;
  for (const UnitEffect& each : effects) hosts.insert(model.ids.host(each.effect));
  return hosts;
}

/// What an effect has with one partner: the median residual, and the median rate, as a logarithm, without what its time
/// took.
struct WithPartner {
  std::int32_t host = 0;
  double residual = 0;
  double rate = 0;
  double error = 0;  ///< of the medians, a standard error
};

std::vector<WithPartner> by_partner(const Model& model, std::int32_t effect) {
  std::vector<WithPartner> all;
  const std::span<const Entry> entries = model.entries_of(effect);
  for (std::size_t begin = 0; begin < entries.size();) {
    const std::int32_t host = model.ids.host(entries[begin].other);
    std::vector<double> residuals;
    std::vector<double> rates;
    const double scale = model.scale_of(model.point_of(entries[begin]));
    for (; begin < entries.size() && model.ids.host(entries[begin].other) == host; ++begin) {
      const Point& point = model.point_of(entries[begin]);
      residuals.push_back(point.residual);
      rates.push_back(point.residual + model.centre_of(point));
    }
    const double error = kMedianOverMeanError * scale / std::sqrt(static_cast<double>(rates.size()));
    all.push_back({host, median_of(residuals), median_of(rates), error});
  }
  return all;
}

/// Whether it is much faster than its cap with two partners or more, and with `accused` ones alone.
bool is_refuted(const Model& model, std::int32_t effect, double cap, const Hosts& accused) {
  constexpr double kErrors = 3;
  constexpr double kTolerances = 2;
  std::size_t fast = 0;
  for (const WithPartner& with : by_partner(model, effect)) {
    if (with.rate < cap + std::max(-kTolerances * model.slow, kErrors * with.error)) continue;
    if (!accused.contains(with.host)) return false;
    ++fast;
  }
  return fast >= 2;
}

void unflag(Model& model, std::int32_t effect) {
  model.flagged[static_cast<std::size_t>(effect)] = 0;
  model.cap[static_cast<std::size_t>(effect)] = kNoCap;
}

/// By host, the second fastest of its readings, as a logarithm, without what their time took: one alone may be chance.
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

/// Whether a host is faster with somebody than a blamed effect is, by more than half of what that lacks: it cannot be
/// what makes that slow.
bool is_faster(const std::vector<double>& fast, std::int32_t host, const UnitEffect& found) {
  return fast[static_cast<std::size_t>(host)] > found.score.cap - found.score.median / 2;
}

/// Whether a blamed effect is slow with somebody who is not blamed, and is faster with others.
bool is_slow_with_fine_ones(const Model& model, const UnitEffect& found, const Hosts& blamed,
                            const std::vector<double>& fast) {
  const std::vector<PartnerLevel> levels = partner_levels(model, found.effect);
  return std::any_of(levels.begin(), levels.end(), [&](const PartnerLevel& level) {
    return level.residual < model.slow && !blamed.contains(level.host) && is_faster(fast, level.host, found);
  });
}

/// Whether it is of the slower kind of hosts, which does not reach what is expected.
bool is_known_to_be_slow(const Model& model, std::int32_t host) {
  return !model.is_too_slow.empty() && model.is_too_slow[static_cast<std::size_t>(host)] != 0;
}

/// The hosts of effects that are slow with each other alone, and those of their slow partners that are nowhere faster.
std::vector<std::int32_t> hosts_of_circle(const Model& model, const std::vector<UnitEffect>& circle,
                                          const Hosts& blamed, const std::vector<double>& fast) {
  Hosts hosts = hosts_of(model, circle);
  for (const UnitEffect& found : circle) {
    for (const WithPartner& with : by_partner(model, found.effect)) {
      const bool may_be_slow = with.residual < model.slow && !is_faster(fast, with.host, found);
      if (may_be_slow && !blamed.contains(with.host)) hosts.insert(with.host);
    }
  }
  return {hosts.begin(), hosts.end()};
}

/// Whether nothing slow is left of it that others do not explain.
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
    if (is_known_to_be_slow(model, host)) continue;
    if (is_refuted(model, found.effect, found.score.cap, accused)) refuted.insert(host);
  }
  std::erase_if(units.blamed, [&](const UnitEffect& found) {
    if (!refuted.contains(model.ids.host(found.effect))) return false;
    unflag(model, found.effect);
    return true;
  });
  units.apart.insert(units.apart.end(), refuted.begin(), refuted.end());
  std::sort(units.apart.begin(), units.apart.end());
  units.apart.erase(std::unique(units.apart.begin(), units.apart.end()), units.apart.end());
  return !refuted.empty();
}

void set_mutual_aside(Model& model, UnitEffects& units) {
  const Hosts blamed = hosts_of(model, units.blamed);
  const std::vector<double> fast = blamed.empty() ? std::vector<double>() : fast_rates(model);
  Hosts needed;
  for (const UnitEffect& found : units.blamed) {
    const std::int32_t host = model.ids.host(found.effect);
    if (is_known_to_be_slow(model, host) || is_slow_with_fine_ones(model, found, blamed, fast)) needed.insert(host);
  }
  if (needed.size() == blamed.size()) return;
  std::vector<UnitEffect> circular;
  std::erase_if(units.blamed, [&](const UnitEffect& found) {
    if (needed.contains(model.ids.host(found.effect))) return false;
    circular.push_back(found);
    return true;
  });
  for (const UnitEffect& found : circular) unflag(model, found.effect);
  std::erase_if(circular, [&](const UnitEffect& found) { return is_explained(model, found.effect); });
  for (const UnitEffect& found : circular) {  // as they were: their readings are explained, if not by whom
    model.flagged[static_cast<std::size_t>(found.effect)] = 1;
    model.cap[static_cast<std::size_t>(found.effect)] = static_cast<float>(found.score.cap);
  }
  units.mutual_hosts = hosts_of_circle(model, circular, blamed, fast);
  units.mutual = std::move(circular);
}

}  // namespace fabricbench::cluster
