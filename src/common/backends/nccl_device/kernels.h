// Launches the kernels of lsa_kernels.cu, multimem_kernels.cu and gin_kernels.cu; tests replace them with fakes.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>
#include <nccl_device.h>

#include "common/core/datatype.h"

namespace fabricbench::nccl_device {

/// The same on all ranks, except for the windows: NCCL's handles on the device.
struct Work {
  ncclWindow_t send_window;
  std::uint64_t send_offset;  ///< bytes
  ncclWindow_t recv_window;
  std::uint64_t recv_offset;
  std::uint64_t count;  ///< elements; per block for an all-to-all
};

/// The unit that a thread moves: an element, or 16 bytes (multimem kernels: 4 bytes instead of an element).
enum class Width { kElement, kVector };

/// The ranks whose blocks of an all-to-all go through network adapters; the others' are stored.
enum class GinReach { kAllRanks, kBeyondLoads };

/// A kernel for the current device, with `ctas` blocks. Without network adapters, its ranks' LSA team is the whole
/// communicator. The version of
/// the headers is part of the type: if nvcc and the C++ compiler find different ones, the program does not link.
template <int kHeaderVersion>
struct VersionedLaunch {
  const ncclDevComm& communicator;
  DataType datatype;
  Width width;
  unsigned ctas;
  cudaStream_t stream;
};
using Launch = VersionedLaunch<NCCL_VERSION_CODE>;

/// The sum over all ranks, by loads and stores.
[[nodiscard]] cudaError_t launch_lsa_all_reduce(const Launch& launch, const Work& work);
[[nodiscard]] cudaError_t launch_lsa_all_to_all(const Launch& launch, const Work& work);
/// By the switch: float, half and bfloat16 (else cudaErrorInvalidValue), for a communicator with lsaMultimem, on
/// compute capability 9.0 and newer.
[[nodiscard]] cudaError_t launch_multimem_all_reduce(const Launch& launch, const Work& work);

/// Through network adapters (GIN), for a communicator with a barrier and a GIN signal for each block.
[[nodiscard]] cudaError_t launch_gin_all_to_all(const Launch& launch, const Work& work, GinReach reach);

/// Loads the kernels of a datatype onto the current device. Otherwise CUDA may load them at the first launch, and then
/// wait for running kernels that may wait for that launch.
[[nodiscard]] cudaError_t load_lsa_kernels(DataType datatype, Width width);
[[nodiscard]] cudaError_t load_multimem_kernels(DataType datatype, Width width);
[[nodiscard]] cudaError_t load_gin_kernels(DataType datatype, GinReach reach);

}  // namespace fabricbench::nccl_device
