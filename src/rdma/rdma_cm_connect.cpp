// rdma_cm_connect: connections over rdma_cm, and messages over each of them, as udaddy and cmtime make them.

#include "common/backends/rdma/connect_work.h"
#include "common/options/verbs_programs.h"

namespace fabricbench {

int rdma_cm_connect(int argc, char** argv) {
  return run_connections(connection_program("rdma_cm_connect", "Time of connections over rdma_cm, step by step."), argc,
                         argv);
}

}  // namespace fabricbench
