#pragma once

namespace fabricbench {

/// The whole of the program that makes connections over rdma_cm. Starts and ends MPI; does not throw.
[[nodiscard]] int run_connections(int argc, char** argv);

}  // namespace fabricbench
