// Multiple testing: how many hypotheses a sweep tests, and Bonferroni's correction for them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cluster/attribution/model.h"

namespace fabricbench::cluster {

/// Families of tests, which share the false alarms equally: units, pairs, leaves, hosts that are slow now and then.
constexpr double kFamilies = 4;

/// The probability of a false alarm anywhere in the sweep. `chance`: of one test; `tests`: how many tests the family
/// has.
[[nodiscard]] inline double family_wise(double chance, double tests) {
  return std::min(1.0, chance * std::max(tests, 1.0) * kFamilies);
}

/// The number of effects with readings, including those of devices.
[[nodiscard]] inline std::int64_t effects_tested(const Model& model) {
  std::int64_t tests = model.device_effects;
  for (std::int32_t effect = 0; effect < model.effects(); ++effect) tests += model.entries_of(effect).empty() ? 0 : 1;
  return tests;
}

}  // namespace fabricbench::cluster
