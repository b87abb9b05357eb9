// Readings that are faster than their centres.
#pragma once

#include <optional>

#include "cluster/attribution/model.h"
#include "cluster/verdict.h"

namespace fabricbench::cluster {

/// Whether a few readings, or one pair, are faster than noise and tolerance explain. Nothing makes readings faster than
/// healthy hosts are, so either the centres are not healthy rates, or some hosts are nearer each other than most pairs.
[[nodiscard]] bool any_are_faster(const Model& model);

/// The faster pairs, if these are pairs of near hosts, as in small leaves of which few pairs were measured. Nothing if
/// they are too few, or if other explanations are possible: faster hosts, or leaves with the only healthy uplinks,
/// would be as fast in all pairs with each other.
[[nodiscard]] std::optional<NearPairs> find_near_pairs(const Model& model);

}  // namespace fabricbench::cluster
