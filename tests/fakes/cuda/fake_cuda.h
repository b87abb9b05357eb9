// A CUDA runtime on host memory, for tests: the shared library fabricbench_fake_cuda defines the functions of
// cuda_runtime_api.h that we use, with a thread for each stream that carries out its work in order.
//
// Environment, read at each call:
//   FAKE_CUDA_DEVICES      devices of the host (1); CUDA_VISIBLE_DEVICES chooses from them by number, as CUDA does
//   FAKE_CUDA_MEMORY       bytes of each device (4 GiB); more cannot be allocated
//   FAKE_CUDA_NO_DRIVER    any value: every call answers cudaErrorInsufficientDriver
#pragma once

#include <cstddef>
#include <functional>

#include <cuda_runtime_api.h>

extern "C" {

/// Puts work into a stream, as a kernel launch would: it is carried out later by the stream's thread, or, while the
/// stream is captured, kept and carried out at every launch of the graph. Copies `work`, which must not throw and may
/// call nothing of CUDA; it may block, and the stream then does.
cudaError_t fake_cuda_enqueue(cudaStream_t stream, const std::function<void()>& work);

/// The same, where the work can fail: the stream then fails as after a bad kernel, and says so at every later call.
cudaError_t fake_cuda_enqueue_fallible(cudaStream_t stream, const std::function<cudaError_t()>& work);

/// The number of the device that a stream belongs to; the current one for the default stream.
int fake_cuda_device_of(cudaStream_t stream);

/// Bytes allocated by cudaMalloc and not freed, over all devices.
std::size_t fake_cuda_allocated();
}
