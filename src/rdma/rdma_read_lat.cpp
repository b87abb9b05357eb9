// rdma_read_lat: a read of the other rank's memory, until it has completed.

#include "common/backends/rdma/verbs_program.h"

namespace fabricbench {

int rdma_read_lat(int argc, char** argv) {
  return run_verbs_program<RequestAlone>("rdma_read_lat",
                                         "Latency of a read of another rank's memory, until it has completed.",
                                         {.verb = Verb::kRead, .latency = true}, argc, argv);
}

}  // namespace fabricbench
