// Hosts that a locality has in the wrong leaf, as a list does after somebody has moved cables or machines.
#pragma once

#include <vector>

#include "cluster/structure/comparison_table.h"
#include "cluster/structure/split.h"
#include "cluster/structure/structure.h"

namespace fabricbench::cluster {

/// Takes hosts to the leaf with which they are as fast as hosts of one leaf are, where they are clearly slower with
/// their own; the one that is farthest off first. Which ones, with their new leaf. Nothing is changed where that would
/// be more than a quarter of the hosts: then the locality is of another cluster, or something else is wrong.
[[nodiscard]] std::vector<Misplaced> correct_locality(const ComparisonTable& table, const SplitSettings& settings,
                                                      Nearness& given);

}  // namespace fabricbench::cluster
