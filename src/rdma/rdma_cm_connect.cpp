// rdma_cm_connect: connections over rdma_cm, and messages over each of them, as udaddy and cmtime make them.

#include "common/rdma/connect_program.h"

namespace fabricbench {

int rdma_cm_connect(int argc, char** argv) { return run_connections(argc, argv); }

}  // namespace fabricbench
