#include "common/backends/gpu/gpu_readers.h"

#include "common/core/error.h"

namespace fabricbench::gpu {

std::unique_ptr<MessageReader> open_reader(int /*device*/) {
  throw Error(ExitStatus::kMissing,
              "this program was built without CUDA and NCCL, and what reads on a GPU takes them; install the CUDA "
              "toolkit (nvcc) and NCCL's header (libnccl-dev), and build it anew");
}

}  // namespace fabricbench::gpu
