// Hosts that are blamed for readings with others that are blamed: whether each is needed to explain them.
#pragma once

#include "cluster/attribution/unit_effects.h"

namespace fabricbench::cluster {

/// Sets hosts apart that are much faster than what they are blamed for with two others or more, all of which are blamed
/// or apart too: a slow host is slow with everybody, and these are a group that the way to all others slows down.
/// Unflags their effects. Whether there were any.
bool set_refuted_apart(Model& model, UnitEffects& units);

/// Takes hosts out of the blamed ones that are slow with blamed hosts alone, or with such as are nowhere faster. Where
/// all of these are slow with somebody else too, they explain it. Where not, all but one of them are slow, and which
/// one may be fine the readings cannot say: they go to `units.mutual`.
void set_mutual_aside(Model& model, UnitEffects& units);

}  // namespace fabricbench::cluster
