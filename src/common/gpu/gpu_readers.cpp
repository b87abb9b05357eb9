#include "common/harness/gpu_readers.h"

#include "common/cuda/reader.h"

namespace fabricbench::gpu {

std::unique_ptr<Reader> open_reader(int device) { return std::make_unique<cuda::CudaReader>(device); }

}  // namespace fabricbench::gpu
