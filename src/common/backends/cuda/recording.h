#pragma once

#include <vector>

#include "common/backends/cuda/stream.h"
#include "common/core/handle.h"
#include "common/core/session.h"

namespace fabricbench::cuda {

/// Operations on a process's streams, recorded once as CUDA graphs, one per stream, and launched as a whole. All calls
/// come from one thread. None of the streams is a default stream, which CUDA cannot record.
class Recording final : public Recorder {
 public:
  /// Does not own the streams, which must outlive it. `mode` determines the calls that CUDA refuses while it records:
  /// in thread-local mode only this thread's, as NCCL requires if other threads drive other devices.
  explicit Recording(std::vector<DeviceStream> streams, cudaStreamCaptureMode mode = cudaStreamCaptureModeThreadLocal);
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
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

}  // namespace fabricbench::cuda
