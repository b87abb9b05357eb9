// rdma_atomic_bw: a stream of atomic operations on another rank's memory, as ib_atomic_bw measures them.

#include "common/backends/rdma/verbs_program.h"

namespace fabricbench {

int rdma_atomic_bw(int argc, char** argv) {
  return run_verbs_program<RequestStream>(
      "rdma_atomic_bw", "Rate of atomic operations on another rank's memory, as ib_atomic_bw measures it.",
      {.verb = Verb::kAtomic}, argc, argv);
}

}  // namespace fabricbench
