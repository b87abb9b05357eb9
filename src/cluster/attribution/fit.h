// What healthy readings of a sweep are like: centres, scales, drift, and how often they are slow all the same.
#pragma once

#include "cluster/attribution/model.h"

namespace fabricbench::cluster {

/// Centres from the medians of the hosts' medians, which stand though many hosts are slow: with a third of all hosts
/// slow, most pairs are. Sets residuals, scales and drift, and forgets flags and blocks.
void fit_first(Model& model);

/// Centres alone from clean readings, and residuals.
void fit_centres(Model& model);

/// Centres, scales, drift, quiet gain and the tail again, from clean readings alone; centres without those of hosts
/// near the limit (Model::near_limit), which would draw them down where hosts are few.
void fit_clean(Model& model);

}  // namespace fabricbench::cluster
