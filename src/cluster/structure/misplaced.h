// Hosts that the locality has in the wrong leaf, as happens after cables or machines were moved.
#pragma once

#include <vector>

#include "cluster/structure/comparison_table.h"
#include "cluster/structure/split.h"
#include "cluster/structure/structure.h"

namespace fabricbench::cluster {

/// Moves hosts that are clearly slower with their own leaf to the leaf with which they have the rate within leaves; the
/// host that gains most first. Returns these hosts with their new leaves. If that would be more than a quarter of all
/// hosts, nothing is changed: the locality is of another cluster, or something else is wrong.
[[nodiscard]] std::vector<Misplaced> correct_locality(const ComparisonTable& table, const SplitSettings& settings,
                                                      Nearness& given);

}  // namespace fabricbench::cluster
