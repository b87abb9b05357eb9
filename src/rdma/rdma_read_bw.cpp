// rdma_read_bw: a stream of reads of another rank's memory, as ib_read_bw measures them.

#include "common/backends/rdma/verbs_program.h"

namespace fabricbench {

int rdma_read_bw(int argc, char** argv) {
  return run_verbs_program<RequestStream>("rdma_read_bw",
                                          "Bandwidth of reads of another rank's memory, as ib_read_bw measures it.",
                                          {.verb = Verb::kRead}, argc, argv);
}

}  // namespace fabricbench
