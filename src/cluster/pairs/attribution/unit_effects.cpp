#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <limits>
#include <queue>
#include <set>
#include <utility>
#include <vector>

#include "cluster/pairs/attribution/model.h"
#include "cluster/pairs/attribution/units.h"
#include "cluster/pairs/sets.h"
#include "cluster/pairs/thresholds.h"

namespace fabricbench::cluster {
namespace {

/// Passes of peeling and testing. Each leaves out the effects that failed an earlier test.
constexpr int kPasses = 3;

/// Effects with enough slow readings to be slow with most partners. Saves time: only these are scored.
std::vector<std::int32_t> worth_a_look(const Model& model) {
  std::vector<std::int64_t> slow(model.cap.size(), 0);
  for (const Point& point : model.points) {
    if (point.residual >= model.slow) continue;
    ++slow[at(point.sender)];
    ++slow[at(point.receiver)];
  }
  std::vector<std::int32_t> effects;
  for (std::size_t effect = 0; effect < slow.size(); ++effect) {
    const auto id = static_cast<std::int32_t>(effect);
    if (slow[effect] > 0 &&
        readings_to_a_slow_one(model) * slow[effect] >= static_cast<std::int64_t>(model.entries_of(id).size())) {
      effects.push_back(id);
    }
  }
  return effects;
}

/// Blames effects, the one that explains most first. A heap with lazy updates: scores only shrink as others are blamed,
/// so an effect that is still on top after it was scored again explains most.
std::vector<std::int32_t> peel(Model& model, const std::vector<char>& barred) {
  const std::int32_t needed = partners_needed(model);
  std::priority_queue<std::pair<double, std::int32_t>> worst;  // how much an effect explains, and its number
  for (const std::int32_t effect : worth_a_look(model)) {
    if (barred[at(effect)] != 0) continue;
    const UnitScore score = score_effect(model, effect);
    if (is_slow_unit(model, score, needed)) worst.emplace(-score.burden, effect);
  }
  std::vector<std::int32_t> peeled;
  while (!worst.empty()) {
    const auto [burden, effect] = worst.top();
    worst.pop();
    const UnitScore score = score_effect(model, effect);
    if (!is_slow_unit(model, score, needed)) continue;
    if (!worst.empty() && -score.burden < worst.top().first && -score.burden < burden) {
      worst.emplace(-score.burden, effect);
      continue;
    }
    model.blame(effect, score.cap);
    peeled.push_back(effect);
  }
  return peeled;
}

/// Whether a reading is healthy, though what is blamed explains a deficit.
bool contradicts(const Model& model, const Point& point) {
  return point.residual > model.explained(point) / 2 && point.residual > model.slow;
}

/// The effect with its score, and the probability of a false alarm. `tests`: effects_tested.
UnitEffect scored(const Model& model, std::int32_t effect, double tests) {
  const UnitScore score = score_effect(model, effect);
  const bool met_all = score.partners + 1 >= model.hosts_present;
  return {effect, score, family_wise(chance_of(model, score, met_all), tests)};
}

/// Whether the readings of a peeled effect with other peeled effects are mostly healthy.
bool is_fine_with_peeled(const Model& model, std::int32_t effect) {
  std::int64_t among = 0;
  std::int64_t healthy = 0;
  for (const Entry entry : model.entries_of(effect)) {
    if (!model.is_flagged(entry.other)) continue;
    ++among;
    healthy += contradicts(model, model.point_of(entry)) ? 1 : 0;
  }
  return healthy >= 2 && 2 * healthy > among;
}

void clear_all_blame(Model& model) {
  std::ranges::fill(model.flagged, 0);
  std::ranges::fill(model.near_limit, 0);
  std::ranges::fill(model.cap, kNoCap);
}

/// Adds the peeled effects that pass the test to `blamed`. The others are returned, and blamed no more.
std::vector<std::int32_t> test_peeled(Model& model, const std::vector<std::int32_t>& peeled,
                                      std::vector<UnitEffect>& blamed) {
  const auto tests = static_cast<double>(effects_tested(model));
  std::vector<std::int32_t> failed;
  for (const std::int32_t effect : peeled) {
    const UnitEffect found = scored(model, effect, tests);
    if (found.false_alarm < model.settings.false_alarm) {
      blamed.push_back(found);
    } else {
      failed.push_back(effect);
    }
  }
  for (const std::int32_t effect : failed) model.clear_blame(effect);
  return failed;
}

/// Takes out peeled effects that pass the test, and are fine with each other: their hosts are apart. Returns these
/// effects.
std::vector<std::int32_t> set_apart(Model& model, std::vector<std::int32_t>& peeled, std::vector<std::int32_t>& apart) {
  const auto tests = static_cast<double>(effects_tested(model));
  std::vector<std::int32_t> fine;
  std::ranges::copy_if(peeled, std::back_inserter(fine), [&](std::int32_t effect) {
    return is_fine_with_peeled(model, effect) && scored(model, effect, tests).false_alarm < model.settings.false_alarm;
  });
  for (const std::int32_t effect : fine) {
    apart.push_back(model.ids.host(effect));
    model.clear_blame(effect);
    std::erase(peeled, effect);
  }
  return fine;
}

/// Effects that are slow with most partners, but with too few of them, or on too little evidence.
std::vector<UnitEffect> suspected_effects(const Model& model, const std::vector<std::int32_t>& apart) {
  std::vector<UnitEffect> suspected;
  const auto tests = static_cast<double>(effects_tested(model));
  for (const std::int32_t effect : worth_a_look(model)) {
    if (model.is_flagged(effect)) continue;
    if (std::ranges::binary_search(apart, model.ids.host(effect))) continue;
    const UnitEffect found = scored(model, effect, tests);
    if (is_slow_unit(model, found.score, 0)) suspected.push_back(found);
  }
  return suspected;
}

/// Scores blamed effects again, now that no healthy effect is among them.
void estimate_again(Model& model, std::vector<UnitEffect>& blamed) {
  for (UnitEffect& found : blamed) {
    found.score = score_effect(model, found.effect);
    model.cap[at(found.effect)] = static_cast<float>(found.score.cap);
  }
}

using Hosts = std::set<std::int32_t>;

/// By host, the second fastest of its readings, as a logarithm, without drift. The fastest one may be chance.
std::vector<double> fast_rates(const Model& model) {
  std::vector<std::array<double, 2>> fastest(at(model.ids.hosts));
  for (auto& two : fastest) two.fill(-std::numeric_limits<double>::infinity());
  for (const Point& point : model.points) {
    const double rate = point.residual + model.centre_of(point);
    for (const std::int32_t effect : {point.sender, point.receiver}) {
      auto& [first, second] = fastest[at(model.ids.host(effect))];
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
  return fast[at(host)] > found.score.cap - found.score.median / 2;
}

/// Whether a blamed effect is slow with a host that is not blamed, and that is faster with others.
bool is_slow_with_fine_ones(const Model& model, const UnitEffect& found, const Hosts& blamed,
                            const std::vector<double>& fast) {
  const std::vector<PartnerResidual> by_partner = partner_residuals(model, found.effect);
  return std::ranges::any_of(by_partner, [&](const PartnerResidual& with_partner) {
    return with_partner.residual < model.slow && !blamed.contains(with_partner.host) &&
           is_faster(fast, with_partner.host, found);
  });
}

/// The hosts of effects that are slow with each other only, and their slow partners that are fast with nobody.
std::vector<std::int32_t> hosts_of_circle(const Model& model, const std::vector<UnitEffect>& circle,
                                          const Hosts& blamed, const std::vector<double>& fast) {
  Hosts hosts = hosts_of(model, circle);
  for (const UnitEffect& found : circle) {
    for (const PartnerResidual& with_partner : residuals_as_measured(model, found.effect)) {
      const bool may_be_slow = with_partner.residual < model.slow && !is_faster(fast, with_partner.host, found);
      if (may_be_slow && !blamed.contains(with_partner.host)) hosts.insert(with_partner.host);
    }
  }
  return {hosts.begin(), hosts.end()};
}

/// Whether other blamed effects explain all slow readings of an effect.
bool is_explained(const Model& model, std::int32_t effect) {
  const std::vector<PartnerResidual> by_partner = partner_residuals(model, effect);
  return std::ranges::none_of(by_partner,
                              [&](const PartnerResidual& with_partner) { return with_partner.residual < model.slow; });
}

/// Takes hosts out of `units.blamed` that are slow only with blamed hosts, or with hosts that are fast with nobody. If
/// the hosts that stay blamed explain all of their slow readings, they are fine. If not, they go to `units.mutual`: all
/// but one of them are slow, and readings cannot tell which one is fine.
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
  std::ranges::copy_if(cleared, std::back_inserter(units.mutual),
                       [&](const UnitEffect& found) { return !is_explained(model, found.effect); });
  for (const UnitEffect& found : units.mutual) model.blame(found.effect, found.score.cap);
  units.mutual_hosts = hosts_of_circle(model, units.mutual, blamed, fast);
}

}  // namespace

std::int32_t partners_needed(const Model& model) {
  return std::max(2, std::min(model.settings.partners, model.hosts_present - 1));
}

std::int32_t shows_within_level(const Model& model, const UnitEffect& found) {
  if (found.score.informative_hosts == found.score.partners) return FollowUp::kNoLevel;
  const auto host = at(model.ids.host(found.effect));
  const std::vector<PartnerResidual> partners = partner_residuals(model, found.effect);
  const std::vector<Level>& levels = model.structure.levels;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const std::vector<std::int32_t>& part_of = levels[i].part_of;
    const bool all = part_of[host] >= 0 && std::ranges::all_of(partners, [&](const PartnerResidual& each) {
                       return part_of[at(each.host)] == part_of[host];
                     });
    if (all) return static_cast<std::int32_t>(i);
  }
  return FollowUp::kNoLevel;
}

UnitEffects find_units(Model& model) {
  std::vector<char> barred(model.cap.size(), 0);
  std::vector<std::int32_t> apart;
  UnitEffects result;
  bool settled = false;
  for (int pass = 0; pass < kPasses && !settled; ++pass) {
    clear_all_blame(model);
    result = {};
    std::vector<std::int32_t> peeled = peel(model, barred);
    // One of four hosts takes part in half of all readings, so centres must not rest on it.
    if (model.hosts_present <= kFew) note_near_limit(model);
    fit_clean(model);
    const std::size_t before = peeled.size();
    for (const std::int32_t effect : set_apart(model, peeled, apart)) barred[at(effect)] = 1;
    for (const std::int32_t effect : test_peeled(model, peeled, result.blamed)) {
      barred[at(effect)] = 1;
    }
    // The first pass used centres that slow hosts may have biased.
    settled = pass > 0 && result.blamed.size() == before;
  }
  if (!settled) fit_clean(model);
  result.apart = sorted_unique(std::move(apart));
  find_near_limit(model);
  result.suspected = suspected_effects(model, result.apart);
  estimate_again(model, result.blamed);
  set_mutual_aside(model, result);
  return result;
}

}  // namespace fabricbench::cluster
