#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cluster/hosts/host_list.h"
#include "cluster/pairs/attribution/model.h"
#include "cluster/pairs/attribution/units.h"
#include "cluster/pairs/robust.h"
#include "cluster/pairs/sets.h"
#include "cluster/pairs/thresholds.h"

namespace fabricbench::cluster {
namespace {

/// Keeps the residuals at which a cap would show: a cap at the upper median rate of the kept ones. All residuals stay
/// if they have the same centre, or if no cap shows anywhere.
void keep_what_a_cap_shows(std::vector<PartnerResidual>& by_partner, double slow) {
  const auto [lowest, highest] =
      std::ranges::minmax_element(by_partner, [](const auto& a, const auto& b) { return a.centre < b.centre; });
  if (by_partner.empty() || lowest->centre == highest->centre) return;
  std::vector<PartnerResidual> kept = by_partner;
  for (std::size_t before = 0; before != kept.size();) {
    before = kept.size();
    std::vector<double> rates;
    rates.reserve(kept.size());
    for (const PartnerResidual& with_partner : kept) rates.push_back(with_partner.rate());
    const double cap = upper_median(rates);
    std::erase_if(kept, [&](const PartnerResidual& with_partner) { return with_partner.centre + slow <= cap; });
    if (kept.empty()) return;
  }
  by_partner = std::move(kept);
}

/// The residual of the entries that `counts` accepts; all entries are of one unit.
template <typename Counts>
PartnerResidual residual_over(const Model& model, std::span<const Entry> entries, const Counts& counts) {
  PartnerResidual with_partner;
  with_partner.host = model.ids.host(entries.front().other);
  with_partner.receives = entries.front().receives();
  std::vector<float> residuals;
  for (const Entry entry : entries) {
    if (!counts(entry)) continue;
    const Point& point = model.point_of(entry);
    if (residuals.empty()) {  // the same for all entries of a unit
      with_partner.centre = model.centre_of(point);
      with_partner.scale = model.scale_of(point);
    }
    residuals.push_back(point.residual);
    with_partner.slow_readings += point.residual < model.slow ? 1 : 0;
  }
  with_partner.readings = static_cast<std::int64_t>(residuals.size());
  if (!residuals.empty()) with_partner.residual = median_of(residuals);
  return with_partner;
}

/// An effect's residuals with all partners, also those with which a cap would not show.
std::vector<PartnerResidual> residuals_with_all(const Model& model, std::int32_t effect) {
  std::vector<PartnerResidual> by_partner;
  for_each_partner(model, effect, [&](std::span<const Entry> group) {
    const PartnerResidual with_partner = residual_with(model, group);
    if (with_partner.readings > 0) by_partner.push_back(with_partner);
  });
  return by_partner;
}

/// A median between these shares of the tolerance, as logarithms, is near the limit. Slower effects are blamed or
/// suspected, or slow now and then.
constexpr double kMostShare = 1.5;
/// If a median is within so many standard errors of the limit, its side is not decided.
constexpr double kErrorsOfLimit = 2;

std::vector<float> clean_residuals(const Model& model, std::int32_t effect) {
  std::vector<float> residuals;
  for (const Entry entry : model.entries_of(effect)) {
    const Point& point = model.point_of(entry);
    if (model.is_clean(point)) residuals.push_back(point.residual);
  }
  return residuals;
}

/// The position of an effect relative to the tolerance.
enum class LimitStatus : std::uint8_t { kUsual, kWithin, kUndecided };

LimitStatus limit_status_of(const Model& model, std::int32_t effect) {
  const std::span<const Entry> entries = model.entries_of(effect);
  const double median = model.near_limit[at(effect)];
  if (median == 0) return LimitStatus::kUsual;
  // Of the difference between the effect's median and the centre.
  const Stratum& stratum = model.strata[at(model.point_of(entries.front()).stratum)];
  const double readings = 1 / (1 / static_cast<double>(entries.size()) + 1 / static_cast<double>(stratum.readings));
  const double error = kMedianOverMeanError * stratum.scale / std::sqrt(readings);
  if (median - kErrorsOfLimit * error < model.slow) return LimitStatus::kUndecided;
  return median < -kSureErrors * error ? LimitStatus::kWithin : LimitStatus::kUsual;
}

/// Names of hosts, and the largest deficit among them, as a logarithm.
struct HostsNearLimit {
  std::set<std::string> hosts;
  double least = 0;

  void add(const Model& model, std::int32_t effect) {
    hosts.insert(model.sweep->hosts[at(model.ids.host(effect))]);
    least = std::min(least, static_cast<double>(model.near_limit[at(effect)]));
  }
  [[nodiscard]] std::string text() const { return fold_hosts(std::vector<std::string>(hosts.begin(), hosts.end())); }
  [[nodiscard]] double percent() const { return -100 * std::expm1(least); }
};

/// Adds a follow-up: more rounds for all hosts, which make the medians of all such hosts more precise.
void ask(const Model& model, std::int32_t effect, Verdict& verdict) {
  const std::int32_t host = model.ids.host(effect);
  const bool known = std::ranges::any_of(
      verdict.follow_ups, [&](const FollowUp& follow_up) { return follow_up.host == host && follow_up.other < 0; });
  if (known) return;
  const double percent = -100 * std::expm1(model.near_limit[at(effect)]);
  verdict.follow_ups.push_back({host, -1, static_cast<std::int16_t>(model.ids.rail(effect)), 1,
                                fmt::format("{:.1f} % below others, close to the tolerance", percent), false, true});
}

}  // namespace

std::int64_t readings_to_a_slow_one(const Model& model) { return model.structure.levels.empty() ? 4 : 32; }

bool explained_otherwise(const Model& model, const Point& point, std::int32_t other) {
  if (point.over_slow_device) return true;
  const double known = model.is_flagged(other) ? model.missing(other, point) : 0;
  if (known >= 0) return false;
  return point.residual >= known + std::min(model.slow, -kErrors * model.scale_of(point));
}

PartnerResidual residual_with(const Model& model, std::span<const Entry> entries) {
  const PartnerResidual with_partner = residual_over(
      model, entries, [&](Entry entry) { return !explained_otherwise(model, model.point_of(entry), entry.other); });
  // If most readings are explained, the rest are the slowest by chance, and no evidence.
  return std::cmp_less(2 * with_partner.readings, entries.size()) ? PartnerResidual{.host = with_partner.host}
                                                                  : with_partner;
}

std::vector<PartnerResidual> residuals_as_measured(const Model& model, std::int32_t effect) {
  std::vector<PartnerResidual> by_partner;
  for_each_partner(model, effect, [&](std::span<const Entry> group) {
    by_partner.push_back(residual_over(model, group, [](Entry) { return true; }));
  });
  return by_partner;
}

UnitScore score_residuals(std::vector<PartnerResidual> by_partner, std::int32_t partners, double slow) {
  UnitScore score;
  score.partners = partners;
  keep_what_a_cap_shows(by_partner, slow);
  if (by_partner.empty()) return score;
  std::vector<double> medians;
  std::vector<double> rates;
  double missing = 0;
  double squares = 0;
  std::int32_t counted = -1;
  bool counted_slow = false;
  for (const PartnerResidual& with_partner : by_partner) {
    score.readings += with_partner.readings;
    score.slow_readings += with_partner.slow_readings;
    medians.push_back(with_partner.residual);
    rates.push_back(with_partner.rate());
    const bool is_slow = with_partner.residual < slow;
    score.slow += is_slow ? 1 : 0;
    // Levels are in the order of their hosts.
    if (score.informative_hosts == 0 || with_partner.host != counted) {
      ++score.informative_hosts;
      counted_slow = false;
    }
    if (is_slow && !counted_slow) {
      ++score.slow_hosts;
      counted_slow = true;
    }
    counted = with_partner.host;
    missing += std::min(with_partner.residual, 0.0);
    squares += with_partner.scale * with_partner.scale;
  }
  score.informative = static_cast<std::int32_t>(by_partner.size());
  score.burden = missing / static_cast<double>(by_partner.size());
  score.scale = std::sqrt(squares / static_cast<double>(by_partner.size()));
  score.cap = median_of(rates);
  score.upper = upper_median(medians);
  score.highest = *std::ranges::max_element(medians);
  score.median = median_of(medians);
  return score;
}

std::vector<PartnerResidual> partner_residuals(const Model& model, std::int32_t effect) {
  std::vector<PartnerResidual> by_partner = residuals_with_all(model, effect);
  keep_what_a_cap_shows(by_partner, model.slow);
  return by_partner;
}

std::vector<std::int32_t> effects_of(const Model& model, std::int32_t host) {
  const std::int32_t of_kind = model.ids.rails * kRoles;
  const std::int32_t kinds = model.effects() / std::max(model.ids.hosts * of_kind, 1);
  std::vector<std::int32_t> effects;
  for (std::int32_t kind = 0; kind < kinds; ++kind) {
    const std::int32_t first = model.ids.of(kind, host, 0, Role::kSender);
    for (std::int32_t effect = first; effect < first + of_kind; ++effect) {
      if (!model.entries_of(effect).empty()) effects.push_back(effect);
    }
  }
  return effects;
}

std::int32_t partners_met(const Model& model, std::int32_t effect) {
  std::int32_t met = 0;
  std::int32_t last = -1;
  for (const Entry entry : model.entries_of(effect)) {
    const std::int32_t host = model.ids.host(entry.other);
    met += host != last ? 1 : 0;
    last = host;
  }
  return met;
}

UnitScore score_effect(const Model& model, std::int32_t effect) {
  return score_residuals(residuals_with_all(model, effect), partners_met(model, effect), model.slow);
}

bool is_slow_with_all(const Model& model, std::int32_t effect) {
  std::array<std::set<std::int32_t>, 2> slow;  // hosts, by direction if these are pooled
  std::array<bool, 2> any_fast{};
  for (const PartnerResidual& with_partner : partner_residuals(model, effect)) {
    const std::size_t direction = model.directions_pooled && with_partner.receives ? 1 : 0;
    if (with_partner.residual < model.slow) {
      slow[direction].insert(with_partner.host);
    } else {
      any_fast[direction] = true;
    }
  }
  // Of pooled directions, there may be one partner in each.
  if (!any_fast[0] && !any_fast[1]) slow[0].merge(slow[1]);
  return (slow[0].size() >= 2 && !any_fast[0]) || (slow[1].size() >= 2 && !any_fast[1]);
}

bool is_slow_unit(const Model& model, const UnitScore& score, std::int32_t needed) {
  if (score.informative < 2 || score.upper >= model.slow || score.median >= model.slow) return false;
  const std::int32_t explained = score.partners - std::min(score.partners, score.informative);
  return score.slow + explained >= needed && 2 * score.slow > score.informative;
}

double chance_of(const Model& model, const UnitScore& score, bool by_readings) {
  // One outlier can make the median of two readings slow, but not that of more readings.
  const double outliers = std::clamp(static_cast<double>(score.readings) / std::max(score.informative, 1), 1.0, 2.0);
  const auto partner = [&](double residual) {
    return std::min(1.0, outliers * model.tail.below(residual, score.scale));
  };
  const double middle = binomial_tail(score.informative, partner(score.upper), score.informative / 2 + 1);
  const double all = std::pow(partner(score.highest), score.informative);
  const double slow = model.tail.below(model.slow, score.scale);
  const double count = by_readings ? binomial_tail(score.readings, slow, score.slow_readings)
                                   : binomial_tail(score.informative, slow, score.slow);
  return 3 * std::min({middle, all, count});  // Bonferroni: the best of three tests
}

bool note_near_limit(Model& model) {
  bool any = false;
  model.near_limit.assign(model.cap.size(), 0);
  for (std::int32_t effect = 0; effect < model.effects(); ++effect) {
    std::vector<float> residuals = clean_residuals(model, effect);
    if (residuals.size() < kFew || partners_met(model, effect) < kMoreThanOne) continue;
    const double median = median_of(residuals);
    if (median >= kPart * model.slow || median <= kMostShare * model.slow) continue;
    model.near_limit[at(effect)] = static_cast<float>(median);
    any = true;
  }
  return any;
}

void find_near_limit(Model& model) {
  if (!note_near_limit(model)) return;
  fit_clean(model);
  static_cast<void>(note_near_limit(model));
}

bool may_be_slow(const Model& model, std::int32_t effect) {
  return limit_status_of(model, effect) == LimitStatus::kUndecided;
}

void report_near_limit(const Model& model, Verdict& verdict) {
  std::set<std::int32_t> blamed;
  for (std::int32_t effect = 0; effect < model.effects(); ++effect) {
    if (model.is_flagged(effect)) blamed.insert(model.ids.host(effect));
  }
  HostsNearLimit within;
  HostsNearLimit undecided;
  for (std::int32_t effect = 0; effect < model.effects(); ++effect) {
    const LimitStatus status = limit_status_of(model, effect);
    if (status == LimitStatus::kUsual || blamed.contains(model.ids.host(effect))) continue;
    (status == LimitStatus::kWithin ? within : undecided).add(model, effect);
    // Where links are shared, each reading that tells takes a round, and load takes far more than the tolerance.
    if (status == LimitStatus::kUndecided && !verdict.links.are_shared) ask(model, effect, verdict);
  }
  if (!undecided.hosts.empty()) {
    verdict.notes.push_back(fmt::format(
        "hosts slower than others by up to {:.1f} %, either within the tolerance or beyond it: {}; more rounds "
        "or another --tolerance would decide",
        undecided.percent(), undecided.text()));
  }
  if (!within.hosts.empty()) {
    verdict.notes.push_back(fmt::format(
        "hosts slower than others by up to {:.1f} %, within the tolerance: {}; a lower --tolerance would blame them",
        within.percent(), within.text()));
  }
}

}  // namespace fabricbench::cluster
