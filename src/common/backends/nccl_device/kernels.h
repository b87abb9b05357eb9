// Starts the kernels. lsa_kernels.cu and multimem_kernels.cu have them; the tests' fakes have others in their place.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>
#include <nccl_device.h>

#include "common/core/datatype.h"

namespace fabricbench::nccl_device {

/// The same on all ranks, but the windows: NCCL's handles on the device.
struct Work {
  ncclWindow_t send_window;
  std::uint64_t send_offset;  ///< bytes
  ncclWindow_t recv_window;
  std::uint64_t recv_offset;
  std::uint64_t count;  ///< elements; of one block for an all-to-all
};

/// Whether a thread moves an element at once, or 16 bytes (4 where multimem kernels move elements).
enum class Width { kElement, kVector };

/// A kernel for the current device; `ctas` blocks of it. Its ranks' LSA team is the whole communicator. The version of
/// the headers is part of the type: where nvcc finds other ones than the C++ compiler, the program does not link.
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
/// By the switch: float, half and bfloat16 (else cudaErrorInvalidValue), of a communicator with lsaMultimem, on compute
/// capability 9.0 and newer.
[[nodiscard]] cudaError_t launch_multimem_all_reduce(const Launch& launch, const Work& work);

/// Loads the kernels of a datatype onto the current device. CUDA may otherwise do it at the first launch, and then
/// waits for kernels that run and may wait for that launch.
[[nodiscard]] cudaError_t load_lsa_kernels(DataType datatype, Width width);
[[nodiscard]] cudaError_t load_multimem_kernels(DataType datatype, Width width);

}  // namespace fabricbench::nccl_device
