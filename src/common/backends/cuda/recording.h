#pragma once

#include <vector>

#include "common/backends/cuda/stream.h"
#include "common/core/handle.h"

namespace fabricbench::cuda {

/// What is started on a process's streams, recorded once as CUDA graphs, one for each stream, and launched as a whole.
/// From one thread. None of the streams is a default stream, which CUDA cannot record.
class Recording {
 public:
  /// Owns none of the streams, which live longer. `mode` says which calls CUDA refuses while it records: in
  /// thread-local mode only this thread's, as NCCL needs where other threads drive other devices.
  explicit Recording(std::vector<DeviceStream> streams, cudaStreamCaptureMode mode = cudaStreamCaptureModeThreadLocal);
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  /// Ends a recording that an exception left open.
  ~Recording();

  /// Drops what was recorded before. What is started from now on is not carried out but kept. Throws Error (failure).
  void begin();
  /// Throws Error (failure) where something was started that cannot be recorded; the streams then work as before.
  void end();
  /// Starts everything recorded, in its order, on every stream. Throws Error (failure), also where there is nothing.
  void launch();
  /// Drops what was recorded, also while it is under way, and ends a recording that is open.
  void drop() noexcept;

 private:
  using Graph = Handle<CUgraph_st, cudaGraphDestroy>;
  using Executable = Handle<CUgraphExec_st, cudaGraphExecDestroy>;

  void drop_open() noexcept;

  std::vector<DeviceStream> streams_;
  cudaStreamCaptureMode mode_;
  std::size_t open_ = 0;  // so many of the streams, from the first, record now
  std::vector<Executable> executables_;
};

}  // namespace fabricbench::cuda
