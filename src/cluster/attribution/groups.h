// Turns the structure of a sweep into the verdict on groups and kinds of hosts.
#pragma once

#include "cluster/attribution/model.h"
#include "cluster/attribution/unit_effects.h"
#include "cluster/verdict.h"

namespace fabricbench::cluster {

/// Sets the verdict's groupings and kinds, and whether groups are open; adds notes on them.
void report_groups(const Model& model, Verdict& verdict);

/// If there are exactly two groups, no third one shows whether the uplinks of one are slow, or the two are far apart.
/// Adds a note if one group is much smaller and the path to it much slower, so that slow uplinks are likely.
void report_small_group(const Model& model, Verdict& verdict);

/// A host of no group that is slow with everybody, by as much as hosts of different groups are with each other, is
/// alone in its leaf, or slow. Takes such hosts out of `units.blamed`, and adds a note on them.
void report_lone_hosts(const Model& model, UnitEffects& units, Verdict& verdict);

/// Adds a finding if not even the fastest stratum reaches the expected rate.
void report_all(const Model& model, Verdict& verdict);

}  // namespace fabricbench::cluster
