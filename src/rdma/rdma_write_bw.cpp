// rdma_write_bw: a stream of writes into another rank's memory, as ib_write_bw measures them.

#include "common/backends/rdma/verbs_program.h"

namespace fabricbench {

int rdma_write_bw(int argc, char** argv) {
  return run_verbs_program<RequestStream>("rdma_write_bw",
                                          "Bandwidth of writes into another rank's memory, as ib_write_bw measures it.",
                                          {.verb = Verb::kWrite}, argc, argv);
}

}  // namespace fabricbench
