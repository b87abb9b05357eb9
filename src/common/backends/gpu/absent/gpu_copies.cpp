#include "common/backends/gpu/gpu_copies.h"

#include "common/core/error.h"

namespace fabricbench::gpu {
namespace {

constexpr const char* kWhyNoCopies =
    "this program was built without CUDA and NCCL, and copies take a GPU; install the CUDA toolkit (nvcc) and NCCL's "
    "header (libnccl-dev), and build it anew";

}  // namespace

std::string why_no_copies() { return kWhyNoCopies; }
std::vector<SeenGpu> visible_gpus() { return {}; }
std::string copy_library() { return ""; }
Bytes free_on(int /*device*/) { throw Error(ExitStatus::kMissing, kWhyNoCopies); }
std::unique_ptr<GpuCopies> open_copies(const CopyMemory& /*memory*/) {
  throw Error(ExitStatus::kMissing, kWhyNoCopies);
}

}  // namespace fabricbench::gpu
