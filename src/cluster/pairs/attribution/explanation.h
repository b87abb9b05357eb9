// Fits the model of a sweep, and finds what explains its readings: leaves, units and devices.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "cluster/pairs/attribution/devices.h"
#include "cluster/pairs/attribution/model.h"
#include "cluster/pairs/attribution/units.h"
#include "cluster/pairs/readings.h"
#include "cluster/pairs/verdict.h"

namespace fabricbench::cluster {

/// A model, and what explains its readings.
struct Explained {
  Model model;
  std::vector<Finding> slow_leaves;
  std::set<std::int32_t> open_leaves;  ///< SlowLeaves::open
  std::vector<char> slow_lately;       ///< by host (Loaded::slow_lately); empty where no links are shared
  std::vector<SlowDevices> devices;
  UnitEffects units;
};

/// If there are slow devices, the structure is found again without readings over them. Where pairs share links, hosts
/// and paths are judged by the readings that no other pair has a part in (shared_links.h).
[[nodiscard]] Explained explain(const Sweep& sweep, const VerdictSettings& settings, bool links_are_shared);

}  // namespace fabricbench::cluster
