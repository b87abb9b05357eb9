// Turns effects into findings on hosts, rails, leaves and pairs.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/attribution/blocks.h"
#include "cluster/attribution/failures.h"
#include "cluster/attribution/model.h"
#include "cluster/attribution/pair_residuals.h"
#include "cluster/attribution/unit_effects.h"
#include "cluster/verdict.h"

namespace fabricbench::cluster {

/// The direction of a finding: slow when it sends, when it receives, or both.
[[nodiscard]] Direction direction_of(bool sends, bool receives);

void report_blocks(const Model& model, const Blocks& blocks, Verdict& verdict);
void report_rails(const std::vector<SlowRail>& rails, Verdict& verdict);
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
void report_flapping(const Model& model, const std::vector<FlappingHost>& hosts, Verdict& verdict);

/// How many different partners a host needs so that a deficit of twice the tolerance is detected.
[[nodiscard]] std::int32_t partners_to_judge(double scale, const VerdictSettings& settings);
/// The hosts with too few readings, and those that are `in_doubt` (by host; empty: none): Verdict::not_judged.
[[nodiscard]] std::vector<std::int32_t> find_not_judged(const Model& model, const Failures& failures,
                                                        const UnitEffects& units, const std::vector<char>& in_doubt);

}  // namespace fabricbench::cluster
