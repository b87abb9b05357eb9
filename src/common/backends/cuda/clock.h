#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/backends/cuda/kernels.h"
#include "common/backends/cuda/memory.h"
#include "common/backends/cuda/stream.h"
#include "common/core/session.h"

namespace fabricbench::cuda {

/// The devices' own clocks, read by events in the streams, and a gate in each stream. All calls come from one thread,
/// except open_gate. Resolution: 32 ns on an H100; CUDA's manual says about half a microsecond (cudaEventElapsedTime).
/// Not allowed between begin and end of a Recording.
class CudaClock final : public DeviceClock {
 public:
  /// Does not own the streams, which must outlive it. A gate that is not opened opens itself after `gate_limit`
  /// seconds, so that no device hangs. Loads the gate's kernel, because that is impossible behind a closed gate; the
  /// gates for that are opened before they are launched, because a launch may wait for its kernel (launches_block,
  /// debuggers).
  explicit CudaClock(std::vector<DeviceStream> streams, Seconds gate_limit = 10);
  /// Opens the gate. Waits at most a second for the streams.
  ~CudaClock() override;

  /// Creates the events. Throws Error (failure).
  void reserve(std::size_t marks) override;
  void reset() override { marks_ = 0; }
  void mark() override;
  /// One list per stream, in the order of the streams; each is one element shorter than the number of marks. Throws
  /// Error (failure) if a mark has not been reached yet, or if a gate opened itself since the last call, because the
  /// intervals then include the launch.
  [[nodiscard]] std::vector<std::vector<Seconds>> intervals() override;

  /// The smallest difference between two intervals so far; at first CUDA's figure.
  [[nodiscard]] Seconds resolution() const override { return resolution_; }

  /// CUDA queues about a thousand launches per stream: with more behind a closed gate, the thread that should open it
  /// blocks. Calls that wait for the device, such as an allocation or a kernel's first launch, are not allowed there
  /// either.
  void close_gate() override;
  /// Opens all gates closed so far; from any thread.
  void open_gate() override;
  /// Whether a gate opened itself since the last call of intervals().
  [[nodiscard]] bool gate_gave_up() const;

 private:
  void launch_gates(std::uint32_t generation);
  void learn_resolution(Seconds interval);

  std::vector<DeviceStream> streams_;
  Seconds gate_limit_;
  std::vector<std::vector<Event>> events_;  // by stream
  std::size_t marks_ = 0;                   // number of events set
  MappedWords<GateFlags> flags_;
  std::vector<GateFlags*> device_flags_;      // the same flags in each stream's device address space
  std::atomic<std::uint32_t> generation_{0};  // of the last closed gate
  std::uint32_t gave_up_reported_ = 0;
  Seconds resolution_ = 0.5e-6;  // cudaEventElapsedTime
  Seconds last_interval_ = 0;
};

}  // namespace fabricbench::cuda
