// Turns effects into findings on hosts, rails, leaves and pairs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cluster/pairs/attribution/failures.h"
#include "cluster/pairs/attribution/model.h"
#include "cluster/pairs/attribution/pairs.h"
#include "cluster/pairs/attribution/units.h"
#include "cluster/pairs/verdict.h"

namespace fabricbench::cluster {

/// The direction of a finding: slow when it sends, when it receives, or both.
[[nodiscard]] Direction direction_of(bool sends, bool receives);

/// Adds one finding for a host if all of its rails are slow, or else one for each slow rail.
void report_units(const Model& model, const UnitEffects& units, Verdict& verdict);
/// If several hosts are suspect, adds follow-ups on pairs of them: slow hosts are slow with each other too, hosts
/// behind slow uplinks are not.
void follow_up_suspects(const Model& model, const UnitEffects& units, Verdict& verdict);
/// Both directions of a pair are one finding where both are slow. Two hosts of `units.mutual_hosts` are no pair of
/// their own. `slow_share`, by host: of a host that is slow now and then, the share of its meetings; of others 0.
void report_pairs(const Model& model, const PairEffects& pairs, const UnitEffects& units,
                  const std::vector<double>& slow_share, Verdict& verdict);
/// Adds findings on hosts that are slow now and then, and follow-ups on hosts that may be.
void report_unsteady(const std::vector<UnsteadyHost>& hosts, Verdict& verdict);

/// How many different partners a host needs so that a deficit of twice the tolerance is detected.
[[nodiscard]] std::int32_t partners_to_judge(double scale, const VerdictSettings& settings);
/// The hosts with too few readings: Verdict::not_judged. Where links are shared, a reading that tells takes a round, so
/// few have to do; `in_doubt`, by host: it is no more as fast as it was; empty: no links are shared.
[[nodiscard]] std::vector<std::int32_t> find_not_judged(const Model& model, const Failures& failures,
                                                        const UnitEffects& units, const std::vector<char>& in_doubt);

/// Sets the verdict's groupings and kinds, and whether groups are open; adds notes on them.
void report_groups(const Model& model, Verdict& verdict);

/// If there are exactly two groups, no third one shows whether the uplinks of one are slow, or the two are far apart.
/// Adds a note if one group is much smaller and the path to it much slower, so that slow uplinks are likely.
void report_small_group(const Model& model, Verdict& verdict);

/// A host of no group that is slow with everybody, by as much as hosts of different groups are with each other, is
/// alone in its leaf, or slow. Takes such hosts out of `units.blamed`, and adds a note on them.
void report_lone_hosts(const Model& model, UnitEffects& units, Verdict& verdict);

/// Adds a finding if not even the fastest stratum reaches the expected rate.
void report_all(const Model& model, Verdict& verdict);

/// Whether a pair is faster than noise and tolerance explain. Nothing makes readings faster than
/// healthy hosts are, so either the centres are not healthy rates, or some hosts are nearer each other than most pairs.
[[nodiscard]] bool any_are_faster(const Model& model);

/// Where links are shared, whether readings are much faster than what hosts reach alone or near each other. No load
/// makes them faster, so there are two kinds of hosts.
[[nodiscard]] bool are_two_kinds(const Model& model);

/// The faster pairs, if these are pairs of near hosts, as in small leaves of which few pairs were measured. Nothing if
/// they are too few, or if other explanations are possible: faster hosts, or leaves with the only healthy uplinks,
/// would be as fast in all pairs with each other.
[[nodiscard]] std::optional<NearPairs> find_near_pairs(const Model& model);

}  // namespace fabricbench::cluster
