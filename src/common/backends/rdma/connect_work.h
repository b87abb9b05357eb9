#pragma once

#include "common/options/program.h"

namespace fabricbench {

/// Runs a program that makes connections over rdma_cm. Starts and ends MPI; does not throw.
[[nodiscard]] int run_connections(const Program& program, int argc, char** argv);

}  // namespace fabricbench
