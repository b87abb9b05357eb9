// How many hypotheses a sweep tests, and what that makes of the chance of one (Bonferroni).
#pragma once

#include <algorithm>
#include <cstdint>

#include "cluster/attribution/model.h"

namespace fabricbench::cluster {

/// Units, pairs, leaves and hosts that are slow now and then are tested; each family gets an equal share.
constexpr double kFamilies = 4;

/// The chance of one false alarm or more in the whole sweep, from that of one test of a family of `tests`.
[[nodiscard]] inline double family_wise(double chance, double tests) {
  return std::min(1.0, chance * std::max(tests, 1.0) * kFamilies);
}

/// Effects with readings, those of devices too.
[[nodiscard]] inline std::int64_t effects_tested(const Model& model) {
  std::int64_t tests = model.device_effects;
  for (std::int32_t effect = 0; effect < model.effects(); ++effect) tests += model.entries_of(effect).empty() ? 0 : 1;
  return tests;
}

}  // namespace fabricbench::cluster
