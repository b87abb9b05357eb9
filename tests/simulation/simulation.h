// Sweeps over simulated fabrics: driven by the planner as real ones are, and held against what was put in.
#pragma once

#include <cstdint>

#include "cluster/pairs/planning/planner.h"
#include "cluster/pairs/readings.h"
#include "cluster/pairs/verdict.h"
#include "simulation/fabric.h"

namespace fabricbench::cluster {

struct SimulatedSweep {
  Sweep sweep;
  Verdict verdict;
  std::int64_t rounds = 0;
  std::int64_t meetings = 0;
};

/// Measures the planner's rounds until the sweep is over. `plan` has as many endpoints as the fabric has hosts.
[[nodiscard]] SimulatedSweep simulate(const Fabric& fabric, const SweepPlan& plan, const VerdictSettings& settings);

/// Measures the rounds of the plan's schedule, then all follow-ups of the verdict, each once and as many as possible at
/// the same time, and judges again; until none is left, or for `most_extra_rounds`. Unlike the planner, it does not
/// judge after each round: all pairs of 1,024 hosts take seconds instead of an hour.
[[nodiscard]] SimulatedSweep simulate_in_batches(const Fabric& fabric, const SweepPlan& plan,
                                                 const VerdictSettings& settings);

/// Findings compared with faults, as counts that can be added over sweeps.
struct Score {
  std::int64_t sweeps = 0;
  std::int64_t slow_hosts = 0;        ///< with a fault of their own
  std::int64_t slow_hosts_named = 0;  ///< of these, hosts that were blamed, with the right direction
  std::int64_t hosts_wronged = 0;     ///< blamed, and healthy
  std::int64_t slow_pairs = 0;
  std::int64_t slow_pairs_named = 0;
  std::int64_t pairs_wronged = 0;
  std::int64_t blocks = 0;  ///< leaves, pairs of leaves and rails with a fault
  std::int64_t blocks_named = 0;
  std::int64_t blocks_wronged = 0;
  std::int64_t rounds = 0;
  std::int64_t meetings = 0;
};

[[nodiscard]] Score score_of(const Fabric& fabric, const SimulatedSweep& sweep);
[[nodiscard]] Score operator+(const Score& a, const Score& b);

}  // namespace fabricbench::cluster
