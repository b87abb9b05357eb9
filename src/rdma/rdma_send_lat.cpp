// rdma_send_lat: a message to the other rank and one back; the time is half of the round trip.

#include "common/backends/rdma/verbs_program.h"

namespace fabricbench {

int rdma_send_lat(int argc, char** argv) {
  return run_verbs_program<RequestPingPong>("rdma_send_lat", "Latency of a send to another rank: half of a round trip.",
                                            {.verb = Verb::kSend, .latency = true}, argc, argv);
}

}  // namespace fabricbench
