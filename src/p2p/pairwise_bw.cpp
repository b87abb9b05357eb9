// pairwise_bw: every pair of hosts, ranks or GPUs, in rounds of disjoint pairs, in one job.

#include "cluster/sweep/sweep_work.h"
#include "common/options/program.h"

namespace fabricbench {

int pairwise_bw(int argc, char** argv) {
  const std::string summary = "Bandwidth and latency of every pair of hosts, ranks or GPUs, in rounds of pairs.";
  return sweep::run_sweep(sweep_program("pairwise_bw", summary), argc, argv);
}

}  // namespace fabricbench
