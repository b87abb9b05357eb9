// rdma_atomic_lat: an atomic operation on the other rank's memory, until it has completed.

#include "common/backends/rdma/verbs_program.h"

namespace fabricbench {

int rdma_atomic_lat(int argc, char** argv) {
  return run_verbs_program<RequestAlone>(
      "rdma_atomic_lat", "Latency of an atomic operation on another rank's memory, until it has completed.",
      {.verb = Verb::kAtomic, .latency = true}, argc, argv);
}

}  // namespace fabricbench
