// Sweeps over simulated fabrics: driven by the planner as real ones are, and held against what was put in.
#pragma once

#include <cstdint>

#include "cluster/planning/planner.h"
#include "cluster/readings.h"
#include "cluster/simulation/fabric.h"
#include "cluster/verdict.h"

namespace fabricbench::cluster {

struct SimulatedSweep {
  Sweep sweep;
  Verdict verdict;
  std::int64_t rounds = 0;
  std::int64_t meetings = 0;
};

/// Measures what the planner asks for until it has enough. `plan` has as many endpoints as the fabric has hosts.
[[nodiscard]] SimulatedSweep simulate(const Fabric& fabric, const SweepPlan& plan, const VerdictSettings& settings);

/// The rounds of the plan's schedule, and then all questions that the verdict leaves open, each once and as many at the
/// same time as can be, before it is judged again; until none is left, or for `most_extra_rounds`. Judges a few times
/// where the planner does so after each round, which of all pairs of 1,024 hosts takes an hour for what takes seconds.
[[nodiscard]] SimulatedSweep simulate_in_batches(const Fabric& fabric, const SweepPlan& plan,
                                                 const VerdictSettings& settings);

/// Findings beside faults, in numbers that add up over sweeps.
struct Score {
  std::int64_t sweeps = 0;
  std::int64_t slow_hosts = 0;        ///< with a fault of their own
  std::int64_t slow_hosts_named = 0;  ///< of them, with the right direction
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
