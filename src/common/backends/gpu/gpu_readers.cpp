#include "common/backends/gpu/gpu_readers.h"

#include "common/backends/cuda/reader.h"

namespace fabricbench::gpu {

std::unique_ptr<MessageReader> open_reader(int device) { return std::make_unique<cuda::CudaReader>(device); }

}  // namespace fabricbench::gpu
