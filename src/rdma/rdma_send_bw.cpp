// rdma_send_bw: a stream of sends to another rank, as ib_send_bw measures them.

#include "common/backends/rdma/verbs_program.h"

namespace fabricbench {

int rdma_send_bw(int argc, char** argv) {
  return run_verbs_program<RequestStream>("rdma_send_bw",
                                          "Bandwidth of sends to another rank, as ib_send_bw measures it.",
                                          {.verb = Verb::kSend}, argc, argv);
}

}  // namespace fabricbench
