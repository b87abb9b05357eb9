#include "common/backends/gpu/mpi_on_cuda.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "common/backends/cuda/check.h"
#include "common/backends/cuda/device.h"
#include "common/mpi/environment.h"
#include "common/mpi/mpi_session.h"

namespace fabricbench::gpu {
namespace {

constexpr std::size_t kMostPerCall = std::size_t{1} << 30;
constexpr double kUsableShare = 0.9;  // of what is free: MPI stages messages on the device too

/// Completes before it returns, as MPI's calls do.
void copy_on_device(const void* from, void* into, std::size_t bytes) {
  cuda::check(cudaMemcpy(into, from, bytes, cudaMemcpyDeviceToDevice), "cudaMemcpy");
  cuda::check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
}

int made_current(int device) {
  cuda::make_current(device);  // for the process's whole life: MPI uses the current device
  return device;
}

bool is_reduced_by_us(DataType datatype) { return datatype == DataType::kHalf || datatype == DataType::kBfloat16; }

}  // namespace

MpiOnCuda::MpiOnCuda(const mpi::Communicator& group, int device, int sharing, Seconds time_limit)
    : sharing_(sharing),
      stream_(cuda::Stream::create(made_current(device))),
      memory_(stream_.view(), time_limit),
      backend_(group, kMostPerCall, &copy_on_device) {}

std::string MpiOnCuda::library() const { return fmt::format("{}, in GPU memory", mpi::library()); }
Conventions MpiOnCuda::conventions() const { return mpi::conventions(); }

std::string MpiOnCuda::why_not(DataType datatype, Reduction reduction) const {
  std::string why_not = mpi::why_not(datatype, reduction);
  if (!why_not.empty() || reduction == Reduction::kNone) return why_not;
  // Both are completed by functions of ours that run on the host.
  if (reduction == Reduction::kAvg) return "MPI has no avg, and the division that completes a sum runs in host memory";
  if (is_reduced_by_us(datatype)) {
    return fmt::format("MPI has no {}, and what reduces it instead runs in host memory", facts(datatype).name);
  }
  return "";
}

void MpiOnCuda::release(const std::vector<std::byte*>& blocks) noexcept {
  for (std::byte* block : blocks) memory_.release(block);
}

std::optional<Bytes> MpiOnCuda::device_memory() const {
  const auto free = static_cast<double>(cuda::free_memory(stream_.device()));
  return static_cast<Bytes>(free * kUsableShare / sharing_);
}

}  // namespace fabricbench::gpu
