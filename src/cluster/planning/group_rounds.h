// Rounds that tell which hosts are of one group, and what each reaches with others of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cluster/planning/planner.h"
#include "cluster/planning/survey.h"
#include "cluster/readings.h"
#include "cluster/verdict.h"

namespace fabricbench::cluster {

/// By host, its group; -1: of none.
[[nodiscard]] std::vector<std::int32_t> groups_of(const Grouping& grouping, std::size_t hosts);

/// A round, without its number, of groups that may be one. Nothing where there are none, or more than so many rounds
/// can tell.
[[nodiscard]] std::optional<PlannedRound> round_between_groups(const Sweep& sweep, const Survey& survey,
                                                               const Verdict& verdict, std::int64_t at_once,
                                                               std::int64_t most_rounds);

/// A round, without its number, for hosts that were measured with fewer than so many `partners` of their own group, or
/// with fewer than all where it has no more: of the finest groups first. Nothing where there is no such host, or where
/// groups are open, or no faster within than across by more than `tolerance`: uplinks limit everybody, and hide what a
/// host reaches with others that are near it.
[[nodiscard]] std::optional<PlannedRound> round_within_groups(const Sweep& sweep, const Survey& survey,
                                                              const Verdict& verdict, std::int64_t at_once,
                                                              std::int64_t partners, double tolerance);

}  // namespace fabricbench::cluster
