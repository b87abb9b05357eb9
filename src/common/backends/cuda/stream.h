// Owners of CUDA's streams and events.
#pragma once

#include <cuda_runtime_api.h>

#include "common/core/handle.h"

namespace fabricbench::cuda {

/// Makes a device current in this thread, until another one is. Throws Error (failure) if there is no such device.
void make_current(int device);

/// Makes a device current in this thread for the guard's lifetime. Afterwards the device is current that this thread
/// has chosen before. If it has chosen none, the guard's device stays: CUDA would give it device 0, and since version
/// 12 going back there creates a context on it, which takes some hundred MiB of a device that may be another process's.
class DeviceGuard {
 public:
  /// Throws Error (failure) if there is no such device.
  explicit DeviceGuard(int device);
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;
  ~DeviceGuard();

 private:
  int previous_;  // -1: none
};

/// Whether every launch waits for the end of its work: with CUDA_LAUNCH_BLOCKING set to anything but 0. Work that is
/// launched before a gate is opened would then wait for the gate.
[[nodiscard]] bool launches_block();

/// A stream and its device; owns neither. A null stream is the device's default stream.
struct DeviceStream {
  int device = 0;
  cudaStream_t stream = nullptr;
};

/// A stream of a device. Destruction does not wait for its work.
class Stream {
 public:
  /// A stream that does not wait for the default stream. Throws Error (failure).
  [[nodiscard]] static Stream create(int device);
  /// The device's default stream, which is not owned. It cannot be recorded.
  [[nodiscard]] static Stream null(int device) { return {device, nullptr}; }

  [[nodiscard]] cudaStream_t get() const { return handle_.get(); }
  [[nodiscard]] int device() const { return device_; }
  [[nodiscard]] DeviceStream view() const { return {device_, get()}; }

 private:
  Stream(int device, cudaStream_t stream) : device_(device), handle_(stream) {}

  int device_;
  Handle<CUstream_st, cudaStreamDestroy> handle_;
};

using Event = Handle<CUevent_st, cudaEventDestroy>;

/// An event with a time stamp, on the current device. Throws Error (failure).
[[nodiscard]] Event create_event();

}  // namespace fabricbench::cuda
