#pragma once

#include "cluster/pairs/readings.h"
#include "cluster/pairs/verdict.h"

namespace fabricbench::cluster {

/// Judges a sweep: a pure function of its readings. Time and memory grow with the readings.
[[nodiscard]] Verdict judge(const Sweep& sweep, const VerdictSettings& settings = {});

}  // namespace fabricbench::cluster
