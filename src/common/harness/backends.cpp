#include "common/harness/backends.h"

#include <fmt/format.h>

#include "common/core/error.h"
#include "common/mpi/mpi_backend.h"

namespace fabricbench {
namespace {

/// MPI on host memory has neither GPUs nor threads to drive them.
void refuse_gpu_options(const Options& options) {
  std::string given;
  if (options.gpus > 1) given = fmt::format("-g {}", options.gpus);
  if (options.threads > 1) given = fmt::format("-t {}", options.threads);
  if (!options.gpu_only.empty()) given = options.gpu_only.front();
  if (given.empty()) return;
  throw Error(ExitStatus::kMissing,
              fmt::format("{} is for GPUs, and the mpi backend works on host memory with one rank a process; leave it "
                          "out, and start more ranks with mpirun -np",
                          given));
}

}  // namespace

BackendChoice choose_backend(const mpi::Communicator& world, const Options& options) {
  if (options.backend == "nccl") {
    throw Error(
        ExitStatus::kMissing,
        "the nccl backend is not built into this program, which measures MPI on host memory; use --backend mpi");
  }
  refuse_gpu_options(options);
  const bool asked = options.backend == "mpi";
  return {std::make_unique<mpi::MpiBackend>(world), "mpi",
          asked ? "--backend mpi asks for it" : "no backend for GPUs is built in"};
}

}  // namespace fabricbench
