#include "common/backends/gpu/gpu_readers.h"

#include <fmt/format.h>

#include "common/backends/cuda/device.h"
#include "common/backends/cuda/reader.h"
#include "common/core/error.h"

namespace fabricbench::gpu {

std::unique_ptr<MessageReader> open_reader(int device) {
  if (!cuda::keeps_order_of_rdma_writes(device)) {
    const cuda::DeviceFacts gpu = cuda::device_facts(device);
    throw Error(
        ExitStatus::kMissing,
        fmt::format("--seen-by gpu: GPU {} ({}, {}) does not keep the order of RDMA writes "
                    "(cudaDevAttrGPUDirectRDMAWritesOrdering is 0), so its kernel could see the flag before the "
                    "data; choose --seen-by cq+flush",
                    device, gpu.model, gpu.pci_address));
  }
  return std::make_unique<cuda::CudaReader>(device);
}

}  // namespace fabricbench::gpu
