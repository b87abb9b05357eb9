#include "common/backends/gpu/gpu_sessions.h"

#include <fmt/format.h>

#include "common/core/error.h"

namespace fabricbench::gpu {
namespace {

constexpr const char* kWhyNoSessions =
    "this program was built without CUDA and NCCL; install the CUDA toolkit (nvcc) and NCCL's header (libnccl-dev), "
    "and "
    "build it anew";

}  // namespace

/// What to do about it is for those who asked.
std::string why_no_nccl(const Team& /*team*/, const ProcessLocation& /*placed*/, const Options& options) {
  return options.backend == "nccl" ? kWhyNoSessions : "this program was built without CUDA and NCCL";
}

Opened open_nccl(const Team& /*team*/, const ProcessLocation& /*placed*/, const Options& /*options*/,
                 const Purpose& /*purpose*/) {
  throw Error(ExitStatus::kMissing, kWhyNoSessions);
}

Opened open_mpi_on_cuda(const Team& /*team*/, const ProcessLocation& /*placed*/, const Options& /*options*/) {
  throw Error(ExitStatus::kMissing, kWhyNoSessions);
}

OpenedBuffers open_buffers(const Team& /*team*/, const ProcessLocation& /*placed*/, const Options& /*options*/) {
  throw Error(ExitStatus::kMissing, fmt::format("--memory cuda: {}", kWhyNoSessions));
}

std::vector<int> choose_gpus(const Team& /*team*/, const ProcessLocation& /*placed*/, const Options& /*options*/) {
  throw Error(ExitStatus::kMissing, fmt::format("--memory cuda: {}", kWhyNoSessions));
}

std::vector<GpuFacts> describe_gpus(const std::vector<int>& /*devices*/) { return {}; }

std::unique_ptr<MessageReader> open_reader(int /*device*/) {
  throw Error(ExitStatus::kMissing,
              "this program was built without CUDA and NCCL, and what reads on a GPU takes them; install the CUDA "
              "toolkit (nvcc) and NCCL's header (libnccl-dev), and build it anew");
}

}  // namespace fabricbench::gpu
