// Units: one rail of a host in one direction. Their scores, from their readings partner by partner, and those that are
// slow with most partners.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "cluster/pairs/attribution/model.h"
#include "cluster/pairs/robust.h"
#include "cluster/pairs/verdict.h"

namespace fabricbench::cluster {

/// The score of an effect, from readings that nothing else explains. Rates are logarithms, relative to healthy rates.
struct UnitScore {
  std::int32_t partners = 0;  ///< different hosts
  /// Different units of partners that are informative: nothing else explains their readings, and the cap would make
  /// these slow.
  std::int32_t informative = 0;
  std::int32_t slow = 0;               ///< informative units that are slow
  std::int32_t informative_hosts = 0;  ///< different hosts of the informative units
  std::int32_t slow_hosts = 0;         ///< informative hosts with a slow unit
  double cap = 0;                      ///< the logarithm of the median rate with informative partners
  double median = 0;                   ///< of the informative partners' medians
  double upper = 0;                    ///< the upper median of the same
  double highest = 0;                  ///< the highest of the same
  double scale = 0;                    ///< root mean square of the informative partners' scales
  double burden = 0;          ///< the mean deficit over informative partners, at most 0: how much this effect explains
  std::int64_t readings = 0;  ///< that are informative
  std::int64_t slow_readings = 0;
};

/// The residual of an effect's readings with one unit of a partner.
struct PartnerResidual {
  std::int32_t host = 0;
  bool receives = false;  ///< the first of its readings, from the partner
  double centre = 0;      ///< the logarithm of the healthy rate with this partner
  double scale = 0;       ///< standard deviation of one healthy reading, as a logarithm
  double residual = 0;    ///< the median
  std::int64_t readings = 0;
  std::int64_t slow_readings = 0;

  [[nodiscard]] double rate() const { return centre + residual; }
};

/// An effect that may be slow with most partners has at least one slow reading in so many. If there are groups, a cap
/// may show within a host's own group only, so fewer are slow.
[[nodiscard]] std::int64_t readings_to_a_slow_one(const Model& model);

/// Whether something else that is blamed explains a reading: a device, or the effect `other` on its other side.
[[nodiscard]] bool explained_otherwise(const Model& model, const Point& point, std::int32_t other);

/// The residual of an effect with one unit, without readings that something else explains. It has no readings if fewer
/// than half of them are left. `entries` are of one stratum.
[[nodiscard]] PartnerResidual residual_with(const Model& model, std::span<const Entry> entries);

/// The score of residuals, which are in the order of their hosts. `partners`: how many hosts the effect has any
/// readings with.
[[nodiscard]] UnitScore score_residuals(std::vector<PartnerResidual> by_partner, std::int32_t partners, double slow);

/// An effect's residuals with informative partners, in the order of their hosts: a cap would show, and nothing else
/// explains the readings.
[[nodiscard]] std::vector<PartnerResidual> partner_residuals(const Model& model, std::int32_t effect);

/// An effect's residuals with all units of partners, from all readings, also those that something else explains.
[[nodiscard]] std::vector<PartnerResidual> residuals_as_measured(const Model& model, std::int32_t effect);

/// The effects of a host that have readings.
[[nodiscard]] std::vector<std::int32_t> effects_of(const Model& model, std::int32_t host);

/// The number of different hosts that an effect has readings with.
[[nodiscard]] std::int32_t partners_met(const Model& model, std::int32_t effect);

[[nodiscard]] UnitScore score_effect(const Model& model, std::int32_t effect);

/// Whether an effect is slow with all informative partners, two or more; of pooled directions in one of them, too.
[[nodiscard]] bool is_slow_with_all(const Model& model, std::int32_t effect);

/// Whether an effect is slow with most informative partners, and with `needed` partners or more.
[[nodiscard]] bool is_slow_unit(const Model& model, const UnitScore& score, std::int32_t needed);

/// common/core/outlier_detection.h compares figures of equals with each other. A unit has none: it has a reading with
/// each partner, which may be slow itself, so the partners are counted. The probability that a healthy effect has such
/// a score: that so many partners' medians are as low as the upper median, that all are as low as the highest, or that
/// so many are slow. Distribution-free, except for the tail. `by_readings`: there are no more partners to try, so
/// readings are counted instead of partners.
[[nodiscard]] double chance_of(const Model& model, const UnitScore& score, bool by_readings);

/// An effect that is slow with most partners.
struct UnitEffect {
  std::int32_t effect = 0;
  UnitScore score;
  double false_alarm = 1;
};

/// The hosts of these.
[[nodiscard]] inline std::set<std::int32_t> hosts_of(const Model& model, const std::vector<UnitEffect>& effects) {
  std::set<std::int32_t> hosts;
  for (const UnitEffect& each : effects) hosts.insert(model.ids.host(each.effect));
  return hosts;
}

struct UnitEffects {
  std::vector<UnitEffect> blamed;
  std::vector<UnitEffect> suspected;  ///< slow, but on too little evidence
  /// Effects that are slow with each other only. In each such set of hosts all but one are slow, and that one may be
  /// any.
  std::vector<UnitEffect> mutual;
  /// The hosts of such sets, ascending, including hosts without a blamed effect.
  std::vector<std::int32_t> mutual_hosts;
  /// Hosts that are slow with all others and fine with each other, as hosts of one rack may be. They are not blamed.
  std::vector<std::int32_t> apart;
};

/// With how many partners a host has to be slow: as the settings say, or all partners if there are fewer, but at least
/// two.
[[nodiscard]] std::int32_t partners_needed(const Model& model);

/// Finds slow units by peeling: blames the effect that explains most, which explains its readings for its partners too,
/// and repeats. Then tests each blamed effect against the healthy readings. Sets flags and caps of the model, and fits
/// the healthy readings again.
[[nodiscard]] UnitEffects find_units(Model& model);

/// The finest level of which an effect shows only with hosts of its own group, though others were measured;
/// FollowUp::kNoLevel: there is no such level.
[[nodiscard]] std::int32_t shows_within_level(const Model& model, const UnitEffect& found);

/// Whether an effect shows only within its group of the finest level.
[[nodiscard]] inline bool shows_within_group(const Model& model, const UnitEffect& found) {
  return shows_within_level(model, found) == 0;
}

/// Families of tests, which share the false alarms equally: units, pairs, leaves, hosts that are slow now and then.
constexpr double kFamilies = 4;

/// The probability of a false alarm anywhere in the sweep. `chance`: of one test; `tests`: how many tests the family
/// has.
[[nodiscard]] inline double family_wise(double chance, double tests) {
  return std::min(1.0, chance * std::max(tests, 1.0) * kFamilies);
}

/// The number of effects with readings, including those of devices.
[[nodiscard]] inline std::int64_t effects_tested(const Model& model) {
  std::int64_t tests = model.device_effects;
  for (std::int32_t effect = 0; effect < model.effects(); ++effect) tests += model.entries_of(effect).empty() ? 0 : 1;
  return tests;
}

/// Sets Model::near_limit. Returns whether any effect is near the limit.
bool note_near_limit(Model& model);

/// Sets Model::near_limit, which explains readings of such hosts that noise takes below the limit, so that no pair or
/// round is blamed for them. Then fits the model again without these hosts.
void find_near_limit(Model& model);

/// Whether the readings cannot decide if an effect's deficit exceeds the tolerance.
[[nodiscard]] bool may_be_slow(const Model& model, std::int32_t effect);

/// Adds notes on these hosts, if noise does not explain their deficit, and follow-ups on those whose deficit may exceed
/// the tolerance.
void report_near_limit(const Model& model, Verdict& verdict);

}  // namespace fabricbench::cluster
