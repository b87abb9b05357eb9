// Rounds for the follow-ups of a verdict.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/planning/planner.h"
#include "cluster/planning/sweep_progress.h"
#include "cluster/readings.h"
#include "cluster/verdict.h"

namespace fabricbench::cluster {

/// By host, whether it is a suspect: a finding names it, or a follow-up is about it alone. The hosts of a slow pair are
/// no suspects, since they are fine with all others.
[[nodiscard]] std::vector<std::uint8_t> suspects_of(const Verdict& verdict, std::size_t hosts);

/// The next round for follow-ups, without its number. Suspected hosts come first, each with the partner that it has met
/// least, preferably no suspect. Then pairs follow, each alone. If there are more pairs than rounds left, they are
/// first measured beside each other, without a host in common, and without a leaf in common as long as that suffices.
/// `among_many`: other pairs are measured in the same round, so no pair is alone, and as many as possible are measured.
/// No meetings: nothing is left to follow up.
[[nodiscard]] PlannedRound round_of_follow_ups(const Sweep& sweep, const SweepProgress& progress,
                                               const Verdict& verdict, std::int64_t at_once, std::int64_t rounds_left,
                                               bool among_many);

/// Dead hosts with each other. No meetings: there are no such follow-ups.
[[nodiscard]] PlannedRound round_for_the_dead(const Sweep& sweep, const SweepProgress& progress, const Verdict& verdict,
                                              std::int64_t at_once);

/// The approximate number of rounds that the follow-ups will take, up to `most`.
[[nodiscard]] std::int64_t rounds_of_follow_ups(const Verdict& verdict, std::int64_t most);

/// Host and follow-up in a few words each, as many as fit into a line.
[[nodiscard]] std::string text_of_follow_ups(const Sweep& sweep, const std::vector<const FollowUp*>& follow_ups);

}  // namespace fabricbench::cluster
