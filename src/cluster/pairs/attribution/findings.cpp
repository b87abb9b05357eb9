#include "cluster/pairs/attribution/findings.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "cluster/pairs/attribution/units.h"
#include "cluster/pairs/robust.h"
#include "cluster/pairs/sets.h"
#include "cluster/pairs/thresholds.h"

namespace fabricbench::cluster {
namespace {

/// If a host needs more partners than this, readings are too noisy, and no follow-up is added.
constexpr std::int32_t kHopeless = 40;

/// The blamed effects of a host, or of one rail of it, over all kinds of readings.
struct SlowUnit {
  bool sends = false;
  bool receives = false;
  const UnitEffect* worst = nullptr;
  std::set<std::int32_t> effects;  ///< that are slow
  double false_alarm = 1;

  void add(const SlowUnit& other) {
    sends = sends || other.sends;
    receives = receives || other.receives;
    if (worst == nullptr || other.worst->score.median < worst->score.median) worst = other.worst;
    effects.insert(other.effects.begin(), other.effects.end());
    false_alarm = std::min(false_alarm, other.false_alarm);
  }
};

/// Whether the other direction is as slow, though the evidence for it is weaker.
bool other_way_too(const Model& model, const UnitEffect& found) {
  if (EffectIds::role(found.effect) == Role::kEither) return true;
  const std::int32_t other = EffectIds::other_way(found.effect);
  const UnitScore score = score_effect(model, other);
  const bool is_alike = score.informative >= 2 && score.median < std::min(found.score.median / 2, model.slow / 2);
  return is_alike && (score.median < model.slow || may_be_slow(model, other));
}

SlowUnit slow_unit(const Model& model, const UnitEffect& found) {
  const Role role = EffectIds::role(found.effect);
  const bool both = other_way_too(model, found);
  SlowUnit unit{
      both || role == Role::kSender, both || role == Role::kReceiver, &found, {found.effect}, found.false_alarm};
  if (both) unit.effects.insert(EffectIds::other_way(found.effect));
  return unit;
}

/// Whether an effect is fine: its median is not close to the limit, and nearly all partners are not slow. Only partners
/// with which a cap, the logarithm of a rate, would show are counted, at least one.
bool is_fine(const Model& model, std::int32_t effect, double cap = -std::numeric_limits<double>::infinity()) {
  if (score_effect(model, effect).median < model.slow / 2) return false;
  std::vector<PartnerResidual> by_partner = partner_residuals(model, effect);
  std::erase_if(by_partner,
                [&](const PartnerResidual& with_partner) { return with_partner.centre + model.slow < cap; });
  const auto fine = std::ranges::count_if(
      by_partner, [&](const PartnerResidual& with_partner) { return with_partner.residual >= model.slow; });
  return fine > 0 && static_cast<double>(fine) >= kMost * static_cast<double>(by_partner.size());
}

/// Sets of partners: different hosts.
struct PartnerSets {
  std::set<std::int32_t> met;
  std::set<std::int32_t> shown;
  std::set<std::int32_t> slow;

  /// Adds the partners of an effect. Partners that were met over any slow rail and kind count as met.
  void add(const Model& model, const std::set<std::int32_t>& effects, std::int32_t effect,
           const std::vector<PartnerResidual>& by_partner) {
    for (const std::int32_t rail_of : effects) {
      for (const std::int32_t kind_of : effects) {
        const std::int32_t alike = model.ids.of(model.ids.kind(kind_of), model.ids.host(effect),
                                                model.ids.rail(rail_of), EffectIds::role(effect));
        for (const Entry entry : model.entries_of(alike)) met.insert(model.ids.host(entry.other));
      }
    }
    for (const PartnerResidual& with_partner : by_partner) {
      shown.insert(with_partner.host);
      if (with_partner.residual < model.slow) slow.insert(with_partner.host);
    }
  }
  [[nodiscard]] PartnerCount counted() const {
    return {static_cast<std::int64_t>(met.size()), static_cast<std::int64_t>(shown.size()),
            static_cast<std::int64_t>(slow.size())};
  }
};

/// Counts the partners in each direction, and the readings.
void count_partners(const Model& model, const SlowUnit& unit, Finding& finding) {
  PartnerSets all;
  PartnerSets sends;
  PartnerSets receives;
  for (const std::int32_t effect : unit.effects) {
    const std::vector<PartnerResidual> by_partner = partner_residuals(model, effect);
    const Role role = EffectIds::role(effect);
    all.add(model, unit.effects, effect, by_partner);
    if (role != Role::kReceiver) sends.add(model, unit.effects, effect, by_partner);
    if (role != Role::kSender) receives.add(model, unit.effects, effect, by_partner);
    finding.both_ways = finding.both_ways || role == Role::kEither;
    for (const PartnerResidual& with_partner : by_partner) {
      finding.readings += with_partner.readings;
      finding.slow += with_partner.slow_readings;
    }
  }
  finding.sends = sends.counted();
  finding.receives = receives.counted();
  finding.partners = all.counted().shown;
  finding.slow_partners = all.counted().slow;
}

/// The kinds of readings in which a host is slow; empty: all kinds that it was measured with.
std::vector<std::int16_t> kinds_of(const Model& model, const std::set<std::int32_t>& effects) {
  std::set<std::int16_t> slow;
  std::set<std::int16_t> all;
  for (const std::int32_t effect : effects) {
    slow.insert(static_cast<std::int16_t>(model.ids.kind(effect)));
    for (const std::int32_t own : effects_of(model, model.ids.host(effect))) {
      if (model.ids.rail(own) == model.ids.rail(effect)) all.insert(static_cast<std::int16_t>(model.ids.kind(own)));
    }
  }
  if (slow.size() == all.size()) return {};
  return {slow.begin(), slow.end()};
}

/// Whether it was slow again in a later round, as the only pair.
bool is_confirmed_alone(const Model& model, const std::set<std::int32_t>& effects) {
  std::int32_t first = std::numeric_limits<std::int32_t>::max();
  std::int32_t last_alone = -1;
  for (const std::int32_t effect : effects) {
    for (const Entry entry : model.entries_of(effect)) {
      const Point& point = model.point_of(entry);
      const Reading& reading = model.reading_of(point);
      // It has to be slower than among many pairs too: alone it should be faster.
      if (std::max<double>(point.residual, point.log_rate - model.centre_of(point)) >= model.slow) continue;
      first = std::min(first, reading.round);
      if (reading.concurrent == 1) last_alone = std::max(last_alone, reading.round);
    }
  }
  return last_alone > first;
}

Finding from_unit(const Model& model, const SlowUnit& unit) {
  Finding finding;
  finding.hosts = {model.ids.host(unit.worst->effect)};
  finding.direction = direction_of(unit.sends, unit.receives);
  finding.ratio = std::exp(unit.worst->score.median);
  std::vector<double> centres;
  for (const PartnerResidual& with_partner : partner_residuals(model, unit.worst->effect))
    centres.push_back(with_partner.centre);
  finding.expected = std::exp(median_of(centres));
  finding.rate = finding.expected * finding.ratio;
  count_partners(model, unit, finding);
  for (const std::int32_t effect : unit.effects) {
    if (EffectIds::role(effect) == Role::kEither) continue;
    double& ratio = finding.ratios[EffectIds::role(effect) == Role::kSender ? 0 : 1];
    const double own = std::exp(score_effect(model, effect).median);
    ratio = ratio > 0 ? std::min(ratio, own) : own;
  }
  finding.tests = kinds_of(model, unit.effects);
  finding.other_way_fine =
      finding.direction != Direction::kBoth && std::ranges::all_of(unit.effects, [&](std::int32_t effect) {
        return is_fine(model, EffectIds::other_way(effect), score_effect(model, effect).cap);
      });
  finding.confirmed = is_confirmed_alone(model, unit.effects);
  finding.false_alarm = unit.false_alarm;
  return finding;
}

/// The rails of a host that have readings.
std::set<std::int32_t> rails_of(const Model& model, std::int32_t host) {
  std::set<std::int32_t> rails;
  for (const std::int32_t effect : effects_of(model, host)) rails.insert(model.ids.rail(effect));
  return rails;
}

/// Whether all effects of a rail of a host are fine.
bool is_fine_rail(const Model& model, std::int32_t host, std::int32_t rail) {
  const std::vector<std::int32_t> effects = effects_of(model, host);
  return std::ranges::all_of(
      effects, [&](std::int32_t effect) { return model.ids.rail(effect) != rail || is_fine(model, effect); });
}

using SlowRails = std::map<std::int32_t, SlowUnit>;

/// Adds the findings on a host: one if all of its rails are slow, or else one for each slow rail.
void add_unit_findings(const Model& model, std::int32_t host, const SlowRails& slow, Verdict& verdict) {
  const std::set<std::int32_t> rails = rails_of(model, host);
  if (slow.size() == rails.size() && (slow.size() > 1 || model.ids.rails == 1)) {
    SlowUnit all;
    for (const auto& [rail, unit] : slow) all.add(unit);
    Finding finding = from_unit(model, all);
    finding.blame = Blame::kHost;
    verdict.findings.push_back(std::move(finding));
    return;
  }
  for (const auto& [rail, unit] : slow) {
    Finding finding = from_unit(model, unit);
    finding.blame = Blame::kNic;
    finding.rail = rail;
    finding.other_rails = static_cast<std::int64_t>(rails.size()) - 1;
    finding.fine_rails = std::ranges::count_if(
        rails, [&](std::int32_t other) { return !slow.contains(other) && is_fine_rail(model, host, other); });
    verdict.findings.push_back(std::move(finding));
  }
}

/// The pairs of these hosts, ascending, that have readings; the lower host first.
std::set<HostPair> pairs_met(const Model& model, const std::vector<std::int32_t>& hosts) {
  const auto wanted = [&](std::int32_t host) { return std::ranges::binary_search(hosts, host); };
  std::set<HostPair> met;
  for (const Point& point : model.points) {
    const Reading& reading = model.reading_of(point);
    if (wanted(reading.from) && wanted(reading.to)) met.insert(std::minmax(reading.from, reading.to));
  }
  return met;
}

void follow_up_unit(const Model& model, const UnitEffect& found, Verdict& verdict) {
  const UnitScore& score = found.score;
  const double scale = model.scale_of(model.point_of(model.entries_of(found.effect).front()));
  const std::int32_t wanted = partners_to_judge(scale, model.settings);
  if (wanted > kHopeless) return;  // a note says how noisy it is
  const Role role = EffectIds::role(found.effect);
  const char* direction = role == Role::kEither ? "" : role == Role::kSender ? " when it sends" : " when it receives";
  verdict.follow_ups.push_back(
      {model.ids.host(found.effect), -1, static_cast<std::int16_t>(model.ids.rail(found.effect)),
       std::max(2, wanted - score.informative),
       fmt::format("slow with {} of {} partners{}, {:.0f} % below the others", score.slow_hosts,
                   score.informative_hosts, direction, -100 * std::expm1(score.median)),
       false, false, shows_within_level(model, found), false, is_slow_with_all(model, found.effect)});
}

/// Hosts that are slow with each other alone, and the readings among them.
struct MutualSet {
  std::vector<std::int32_t> hosts;  ///< ascending
  std::int64_t readings = 0;
  std::int64_t slow = 0;

  [[nodiscard]] bool has(std::int32_t host) const { return std::ranges::binary_search(hosts, host); }
};

/// The sets of these hosts, ascending, that slow readings connect; in the order of each set's first host.
std::vector<MutualSet> mutual_sets(const Model& model, const std::vector<std::int32_t>& hosts) {
  const MutualSet all{hosts};
  const auto is_among = [&](const MutualSet& set, const Point& point) {
    return set.has(model.ids.host(point.sender)) && set.has(model.ids.host(point.receiver));
  };
  DisjointSets connected(at(model.ids.hosts));
  for (const Point& point : model.points) {
    if (point.residual >= model.slow || !is_among(all, point)) continue;
    connected.join(model.ids.host(point.sender), model.ids.host(point.receiver));
  }
  std::vector<MutualSet> sets;
  for (const std::int32_t host : hosts) {
    const auto own = std::ranges::find_if(sets, [&](const MutualSet& set) {
      return connected.representative(set.hosts.front()) == connected.representative(host);
    });
    (own == sets.end() ? sets.emplace_back() : *own).hosts.push_back(host);
  }
  for (MutualSet& set : sets) {
    for (const Point& point : model.points) {
      if (!is_among(set, point)) continue;
      ++set.readings;
      set.slow += point.residual < model.slow ? 1 : 0;
    }
  }
  return sets;
}

/// Adds one finding for each set of hosts that are slow with each other alone.
void report_mutual(const Model& model, const UnitEffects& units, Verdict& verdict) {
  if (units.mutual_hosts.empty()) return;
  for (MutualSet& set : mutual_sets(model, units.mutual_hosts)) {
    Finding finding;
    const UnitEffect* worst = nullptr;
    for (const UnitEffect& found : units.mutual) {
      if (!set.has(model.ids.host(found.effect))) continue;
      finding.false_alarm = std::min(finding.false_alarm, found.false_alarm);
      if (worst == nullptr || found.score.median < worst->score.median) worst = &found;
    }
    if (worst == nullptr) continue;
    finding.ratio = std::exp(worst->score.median);
    finding.rate = std::exp(worst->score.cap);
    finding.expected = finding.rate / finding.ratio;
    finding.readings = set.readings;
    finding.slow = set.slow;
    finding.partners = static_cast<std::int64_t>(set.hosts.size());
    finding.hosts = std::move(set.hosts);
    verdict.findings.push_back(std::move(finding));
  }
}

}  // namespace

Direction direction_of(bool sends, bool receives) {
  if (sends == receives) return Direction::kBoth;
  return sends ? Direction::kSends : Direction::kReceives;
}

void report_units(const Model& model, const UnitEffects& units, Verdict& verdict) {
  std::map<std::int32_t, SlowRails> slow;  // by host
  for (const UnitEffect& found : units.blamed) {
    slow[model.ids.host(found.effect)][model.ids.rail(found.effect)].add(slow_unit(model, found));
  }
  for (const auto& [host, rails] : slow) add_unit_findings(model, host, rails, verdict);
  report_mutual(model, units, verdict);
  for (const UnitEffect& found : units.suspected) {
    if (!slow.contains(model.ids.host(found.effect))) follow_up_unit(model, found, verdict);
  }
}

void follow_up_suspects(const Model& model, const UnitEffects& units, Verdict& verdict) {
  std::set<std::int32_t> either = hosts_of(model, units.blamed);
  either.merge(hosts_of(model, units.suspected));
  const std::vector<std::int32_t> suspects(either.begin(), either.end());
  if (suspects.size() < 2) return;
  const std::set<HostPair> met = pairs_met(model, suspects);
  std::map<std::int32_t, std::size_t> partners;
  for (const auto& [host, other] : met) {
    ++partners[host];
    ++partners[other];
  }
  const std::size_t wanted = std::min<std::size_t>(kMoreThanOne, suspects.size() - 1);
  for (std::size_t step = 1; step <= suspects.size() / 2; ++step) {
    for (std::size_t i = 0; i < suspects.size(); ++i) {
      const auto [host, other] = std::minmax(suspects[i], suspects[(i + step) % suspects.size()]);
      if (partners[host] >= wanted || partners[other] >= wanted || met.contains({host, other})) continue;
      ++partners[host];
      ++partners[other];
      verdict.follow_ups.push_back({host, other, 0, 1, "both are slow with others", true});
    }
  }
}

std::int32_t partners_to_judge(double scale, const VerdictSettings& settings) {
  // Power: all but one in a thousand units with twice the tolerance are detected (three standard errors of the median).
  const double gap = std::log1p(-settings.tolerance) - std::log1p(-std::min(2 * settings.tolerance, 0.9));
  const double wanted = std::pow(kErrors * kMedianOverMeanError * scale / gap, 2);
  const double demanded =
      wanted > kHopeless ? wanted : std::min(wanted, kMany / 2.0);  // with much noise they detect less
  return std::max(settings.partners, static_cast<std::int32_t>(std::ceil(std::min(demanded, 1e6))));
}

std::vector<std::int32_t> find_not_judged(const Model& model, const Failures& failures, const UnitEffects& units,
                                          const std::vector<char>& in_doubt) {
  const auto hosts = at(model.sweep->hosts.size());
  std::vector<char> settled(hosts, 0);  // blamed, dead, or silent
  for (const std::int32_t host : hosts_of(model, units.blamed)) settled[at(host)] = 1;
  std::int32_t alive = 0;
  for (std::size_t host = 0; host < hosts; ++host) {
    const bool dead = failures.is_dead[host] != 0;
    if (dead) settled[host] = 1;
    alive += dead ? 0 : 1;
  }
  std::vector<char> sends(hosts, 0);
  std::vector<char> receives(hosts, 0);
  std::vector<char> lacking = in_doubt.empty() ? std::vector<char>(hosts, 0) : in_doubt;
  for (std::int32_t effect = 0; effect < model.effects() && hosts > 0; ++effect) {
    if (model.entries_of(effect).empty() || model.directions_pooled) continue;
    const auto host = at(model.ids.host(effect));
    const Role role = EffectIds::role(effect);
    if (role != Role::kReceiver) sends[host] = 1;
    if (role != Role::kSender) receives[host] = 1;
    const double scale = model.scale_of(model.point_of(model.entries_of(effect).front()));
    std::int32_t wanted = in_doubt.empty() ? partners_to_judge(scale, model.settings) : model.settings.partners;
    if (wanted <= kHopeless) wanted = std::max(2, std::min(wanted, alive - 1));
    if (partners_met(model, effect) < wanted) lacking[host] = 1;
  }
  std::vector<std::int32_t> not_judged;
  for (std::size_t host = 0; host < hosts; ++host) {
    const bool apart = std::ranges::binary_search(units.apart, static_cast<std::int32_t>(host));
    const bool judged = sends[host] != 0 && receives[host] != 0 && lacking[host] == 0 && !apart;
    if (settled[host] == 0 && !judged) not_judged.push_back(static_cast<std::int32_t>(host));
  }
  return not_judged;
}

}  // namespace fabricbench::cluster
