// Fits the model of a sweep, and finds what explains its readings: leaves, units and devices.
#pragma once

#include <vector>

#include "cluster/attribution/blocks.h"
#include "cluster/attribution/device_readings.h"
#include "cluster/attribution/devices.h"
#include "cluster/attribution/model.h"
#include "cluster/attribution/unit_effects.h"
#include "cluster/readings.h"
#include "cluster/verdict.h"

namespace fabricbench::cluster {

/// A model, and what explains its readings.
struct Explained {
  Model model;
  Blocks blocks;
  DeviceReadings over_devices;
  std::vector<SlowDevices> devices;
  UnitEffects units;
};

/// Rounds differ by drift, or by the hosts in them. Takes the model with drift if it explains clearly more. Structure
/// is found without readings over slow devices.
[[nodiscard]] Explained explain(const Sweep& sweep, const VerdictSettings& settings);

/// The same where pairs share links (shared_links.h). Slow leaves are told apart among the readings that depend on the
/// load, and explain all readings that cross them.
struct ExplainedBesideLoad {
  Explained explained;
  std::vector<Finding> slow_leaves;
  std::vector<char> slow_lately;  ///< by host (shared_links.h)
};
[[nodiscard]] ExplainedBesideLoad explain_beside_load(const Sweep& sweep, const VerdictSettings& settings);

}  // namespace fabricbench::cluster
