// Circular blame: hosts that are slow only with other blamed hosts, and whether each of them is needed as an
// explanation.
#pragma once

#include "cluster/attribution/unit_effects.h"

namespace fabricbench::cluster {

/// Moves blamed hosts to `units.apart` if they are much faster than their cap with two hosts or more, and all of these
/// are blamed or apart too. A slow host is slow with all partners; such hosts are a group with a slow path to all
/// others. Returns whether there were any.
bool set_refuted_apart(Model& model, UnitEffects& units);

/// Takes hosts out of `units.blamed` that are slow only with blamed hosts, or with hosts that are fast with nobody. If
/// the hosts that stay blamed explain all of their slow readings, they are fine. If not, they go to `units.mutual`: all
/// but one of them are slow, and readings cannot tell which one is fine.
void set_mutual_aside(Model& model, UnitEffects& units);

}  // namespace fabricbench::cluster
