// rdma_write_lat: a write into the other rank's memory and one back; the time is half of the round trip.

#include "common/backends/rdma/verbs_program.h"

namespace fabricbench {

int rdma_write_lat(int argc, char** argv) {
  return run_verbs_program<RequestPingPong>("rdma_write_lat",
                                            "Latency of a write into another rank's memory: half of a round trip.",
                                            {.verb = Verb::kWrite, .latency = true, .by_memory = true}, argc, argv);
}

}  // namespace fabricbench
