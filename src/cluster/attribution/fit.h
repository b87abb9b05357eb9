// Fits the model of healthy readings: centres, scales, drift and the lower tail.
#pragma once

#include "cluster/attribution/model.h"

namespace fabricbench::cluster {

/// The first fit, from all readings. Centres are medians of the hosts' medians, which are robust: if a third of all
/// hosts are slow, most pairs are slow. Sets residuals, scales and drift. Clears flags, and what leaves and devices
/// explain.
void fit_first(Model& model);

/// Fits only the centres, from clean readings, and sets residuals.
void fit_centres(Model& model);

/// Fits centres, scales, drift, light-load gain and the tail again, from clean readings only. Centres leave out hosts
/// near the limit (Model::near_limit), which would lower them if there are few hosts.
void fit_clean(Model& model);

}  // namespace fabricbench::cluster
