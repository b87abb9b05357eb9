// From the structure of a sweep to what is said of groups and kinds of hosts.
#pragma once

#include "cluster/attribution/model.h"
#include "cluster/attribution/unit_effects.h"
#include "cluster/verdict.h"

namespace fabricbench::cluster {

/// Sets the verdict's groupings and kinds, whether groups are open, and notes on them.
void report_groups(const Model& model, Verdict& verdict);

/// Where there are two groups and nothing else, no third one tells whether the one's uplinks are slow or the two stand
/// apart: says so where one is much smaller and the way to it much slower, so that slow uplinks are likely.
void report_small_group(const Model& model, Verdict& verdict);

/// A host of no group that is slow both ways with everybody, by as much as hosts of two groups are with each other, is
/// alone in its leaf, or slow: takes it from those that are blamed, and says that nobody can tell.
void report_lone_hosts(const Model& model, UnitEffects& units, Verdict& verdict);

/// Adds a finding where not even the fastest pairs reach what was expected; with the strata of the verdict.
void report_all(const Model& model, Verdict& verdict);

}  // namespace fabricbench::cluster
