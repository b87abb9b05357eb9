#pragma once

#include <string>

namespace fabricbench::mpi {

/// Why this process's MPI library does not accept GPU memory; empty if it says that it does. Asked at run time: Open
/// MPI's MPIX_Query_cuda_support, MPICH's MPIX_GPU_query_support.
[[nodiscard]] std::string why_not_cuda_aware();

}  // namespace fabricbench::mpi
