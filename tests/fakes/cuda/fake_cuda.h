// A CUDA runtime on host memory, for tests: the shared library fabricbench_fake_cuda defines the functions of
// cuda_runtime_api.h that we use, with a thread for each stream that carries out its work in order.
//
// Environment, read at each call:
//   FAKE_CUDA_DEVICES      devices of the host (1); CUDA_VISIBLE_DEVICES chooses from them by number, as CUDA does
//   FAKE_CUDA_MEMORY       bytes of each device (4 GiB); more cannot be allocated
//   FAKE_CUDA_NO_DRIVER    any value: every call answers cudaErrorInsufficientDriver
//   FAKE_CUDA_COPY_MB_PER_S  what a copy carries, in 10^6 bytes per second; none: as fast as the host can. A list such
//                          as `2000,3:500,1:h2d:700`: of all devices, of device 3, and of its copies of one kind (h2d,
//                          d2h, d2d, p2p); the last entry that fits counts. A copy is of the device whose stream has it
//   FAKE_CUDA_NO_PEERS     any value: no device reaches another's memory
//   FAKE_CUDA_COPY_FAULT   `wrong:3`: copies of device 3 are wrong in their last byte, those of less than 64 KiB
//                          excepted, which are not the data measured; `hang:3`: they never end
//   FAKE_CUDA_NO_GPU_DIRECT  any value: other devices may not be given a device's memory
//   FAKE_CUDA_NO_DMA_BUF   any value: the driver exports no memory; FAKE_CUDA_EXPORT_FAILS: it says so when it is asked
//   CUDA_LAUNCH_BLOCKING   1: whatever is put into a stream is done before the call returns
//   FAKE_CUDA_EXCLUSIVE    a folder: each device has contexts of one process only, as in EXCLUSIVE_PROCESS mode, which
//   files
//                          there stand for
//   FAKE_CUDA_WITHOUT      a function that the driver does not have
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

/// Time on the devices as a test says: `host_s` is the host's clock for kernels that have a limit, and of a stream time
/// passes by its copies, by fake_cuda_spend, and by what it waits for: gates, events of other streams, its next work.
/// nullptr: real time again, as at first. Not while a stream is busy.
void fake_cuda_script_time(double (*host_s)());

/// In a stream's work: takes so long.
void fake_cuda_spend(double seconds);

/// The number of the device that a stream belongs to; the current one for the default stream.
int fake_cuda_device_of(cudaStream_t stream);

/// Copies that hang now: a test that goes on before they have begun to would free what they write to.
int fake_cuda_hanging_copies();

/// Ends copies that hang, those under way and all later ones, and returns when they have copied after all. (A variable
/// must not change while a stream may read it.)
void fake_cuda_end_hanging_copies();

/// Devices on which this process has a context.
int fake_cuda_contexts();

/// Bytes allocated by cudaMalloc and not freed, over all devices.
std::size_t fake_cuda_allocated();

/// The block that was last given CU_POINTER_ATTRIBUTE_SYNC_MEMOPS.
const void* fake_cuda_synchronized_last();

/// What was exported last as a dma-buf, and its file, which whoever asked for it closes.
struct fake_cuda_export {
  const void* begin;
  std::size_t bytes;
  unsigned long long flags;
  int file;
};
fake_cuda_export fake_cuda_exported_last();
}
