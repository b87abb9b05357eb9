// Owners of CUDA's streams and events.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include <cuda_runtime_api.h>

#include "common/core/ownership.h"
#include "common/core/session.h"
#include "common/core/units.h"

namespace fabricbench::cuda {

/// Throws Error (failure) as `cuda: CALL: meaning (cudaErrorName)`, and clears the error that CUDA keeps for this
/// thread, so that it is not reported twice.
[[noreturn]] void fail(cudaError_t code, const char* call);

/// Throws as `fail` if a call failed. `call` is the function's name.
inline void check(cudaError_t code, const char* call) {
  if (code != cudaSuccess) [[unlikely]]
    fail(code, call);
}

/// Makes a device current in this thread, until another one is. Throws Error (failure) if there is no such device.
void make_current(int device);

/// Makes a device current in this thread for the guard's lifetime. Afterwards the device is current that this thread
/// has chosen before. If it has chosen none, the guard's device stays: CUDA would give it device 0, and since version
/// 12 going back there creates a context on it, which takes some hundred MiB of a device that may be another process's.
class DeviceGuard : NotCopied {
 public:
  /// Throws Error (failure) if there is no such device.
  explicit DeviceGuard(int device);
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

/// Operations on a process's streams, recorded once as CUDA graphs, one per stream, and launched as a whole. All calls
/// come from one thread. None of the streams is a default stream, which CUDA cannot record.
class Recording final : public Recorder {
 public:
  /// Does not own the streams, which must outlive it. `mode` determines the calls that CUDA refuses while it records:
  /// in thread-local mode only this thread's, as NCCL requires if other threads drive other devices.
  explicit Recording(std::vector<DeviceStream> streams, cudaStreamCaptureMode mode = cudaStreamCaptureModeThreadLocal);
  /// Ends a recording that an exception left open.
  ~Recording();

  /// Drops the previous recording. Operations started from now on are recorded instead of executed. Throws Error
  /// (failure).
  void begin() override;
  /// Throws Error (failure) if an operation cannot be recorded; the streams then work as before.
  void end() override;
  /// Launches all recorded operations in order on every stream. Throws Error (failure), also if there are none.
  void launch() override;
  /// Drops the recording, even while it executes, and ends an open one.
  void drop() noexcept;

 private:
  using Graph = Handle<CUgraph_st, cudaGraphDestroy>;
  using Executable = Handle<CUgraphExec_st, cudaGraphExecDestroy>;

  void drop_open() noexcept;

  std::vector<DeviceStream> streams_;
  cudaStreamCaptureMode mode_;
  std::size_t open_ = 0;  // number of streams, from the first, that record now
  std::vector<Executable> executables_;
};

/// Returns when all work started on the streams has completed. In between it calls `poll`, if given, which can end the
/// wait by throwing, and yields to other threads. Allocates nothing. Throws Error (timeout) with the device after
/// `limit` seconds, 0 for no limit, and Error (failure) if the device failed.
void wait_for(std::span<const DeviceStream> streams, Seconds limit, const std::function<void()>& poll = {});

}  // namespace fabricbench::cuda
