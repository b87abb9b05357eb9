// Whether readings are faster than what is taken to be usual.
#pragma once

#include <optional>

#include "cluster/attribution/model.h"
#include "cluster/verdict.h"

namespace fabricbench::cluster {

/// Nothing makes readings faster than healthy hosts are: where a few are, the usual is not what is healthy, or groups
/// of hosts are nearer each other than most pairs are. True too where it is one pair and no chance.
[[nodiscard]] bool any_are_faster(const Model& model);

/// The pairs that are faster, where it shows that they are so because their hosts are near each other, as in small
/// leaves of which few pairs were measured. Were they faster hosts, or of leaves whose uplinks alone are well, they
/// would be as fast with each other in all pairs; nothing where they may be that, or are too few to tell.
[[nodiscard]] std::optional<NearPairs> find_near_pairs(const Model& model);

}  // namespace fabricbench::cluster
