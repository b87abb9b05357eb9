// From effects to what is said of hosts, rails, leaves and pairs: the parts that judge() puts together.
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

/// Of what sends slowly, receives slowly, or both.
[[nodiscard]] Direction direction_of(bool sends, bool receives);

void report_blocks(const Model& model, const Blocks& blocks, Verdict& verdict);
void report_rails(const std::vector<SlowRail>& rails, Verdict& verdict);
/// One finding for each rail of a host that is slow, or one for the host if all its rails are.
void report_units(const Model& model, const UnitEffects& units, Verdict& verdict);
/// Where several hosts are slow, asks for readings of each with others of them: slow hosts are slow with each other
/// too, those behind slow uplinks are not.
void ask_suspects(const Model& model, const UnitEffects& units, Verdict& verdict);
/// Both directions of a pair are one finding where both are slow. `slow_share`: by host, of the meetings of one that is
/// slow now and then; 0 of others.
void report_pairs(const Model& model, const PairEffects& pairs, const std::vector<double>& slow_share,
                  Verdict& verdict);
/// Those for sure; of the others it asks for more readings.
void report_flapping(const Model& model, const std::vector<FlappingHost>& hosts, Verdict& verdict);

/// How many different partners a host needs, that one twice the tolerance too slow would be seen.
[[nodiscard]] std::int32_t partners_to_judge(double scale, const VerdictSettings& settings);
/// Hosts of which nothing can be said, as Verdict::not_judged.
[[nodiscard]] std::vector<std::int32_t> find_not_judged(const Model& model, const Failures& failures,
                                                        const UnitEffects& units);

}  // namespace fabricbench::cluster
