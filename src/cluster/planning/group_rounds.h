// Rounds that show which hosts are in one group, and the rate of each host within its group.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cluster/planning/planner.h"
#include "cluster/planning/sweep_progress.h"
#include "cluster/readings.h"
#include "cluster/verdict.h"

namespace fabricbench::cluster {

/// By host, its group; -1: none.
[[nodiscard]] std::vector<std::int32_t> groups_of(const Grouping& grouping, std::size_t hosts);

/// A round, without its number, between groups that may be one. Nothing if there are none, or more than `most_rounds`
/// rounds can decide.
[[nodiscard]] std::optional<PlannedRound> round_between_groups(const Sweep& sweep, const SweepProgress& progress,
                                                               const Verdict& verdict, std::int64_t at_once,
                                                               std::int64_t most_rounds);

/// A round, without its number, for hosts that were measured with fewer than `partners` hosts of their own group, or
/// with fewer than all if the group is smaller; the finest groups first. Slow uplinks hide the rates within groups, so
/// groups are skipped whose rate across is `most_across` times that within or more. Nothing if there are no such hosts,
/// or if groups are open.
[[nodiscard]] std::optional<PlannedRound> round_within_groups(const Sweep& sweep, const SweepProgress& progress,
                                                              const Verdict& verdict, std::int64_t at_once,
                                                              std::int64_t partners, double most_across);

}  // namespace fabricbench::cluster
