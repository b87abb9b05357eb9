#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/backends/cuda/kernels.h"
#include "common/backends/cuda/mapped.h"
#include "common/backends/cuda/stream.h"
#include "common/core/session.h"

namespace fabricbench::cuda {

/// The devices' own clocks, read by events in the streams, and a gate in each stream. From one thread, but open_gate.
/// Resolution: about half a microsecond (cudaEventElapsedTime). Not between begin and end of a Recording.
class CudaClock final : public DeviceClock {
 public:
  /// Owns none of the streams, which live longer. A gate that nobody opens opens itself after `gate_limit` seconds, so
  /// that no device hangs in it. Loads the gate's kernel, which could not be done behind a closed one.
  explicit CudaClock(std::vector<DeviceStream> streams, Seconds gate_limit = 10);
  /// Opens the gate. Waits for the streams, a second at most.
  ~CudaClock() override;

  /// Makes the events of so many marks now, so that mark() allocates nothing. Throws Error (failure).
  void reserve(std::size_t marks);

  void reset() override { marks_ = 0; }
  void mark() override;
  /// One list a stream, in the order of the streams, each one shorter than the number of marks. Throws Error (failure)
  /// where a mark has not been passed yet, and where a gate opened itself since the last call: the intervals then hold
  /// the launch that they should not.
  [[nodiscard]] std::vector<std::vector<Seconds>> intervals() override;

  /// CUDA queues about a thousand launches a stream: more behind a closed gate block the thread that should open it.
  /// Nor may anything that waits for the device stand there, such as allocating or a kernel's first launch.
  void close_gate() override;
  /// Opens all gates closed so far. From any thread.
  void open_gate() override;
  /// Whether a gate opened itself since the last call of intervals().
  [[nodiscard]] bool gate_gave_up() const;

 private:
  std::vector<DeviceStream> streams_;
  Seconds gate_limit_;
  std::vector<std::vector<Event>> events_;  // of each stream
  std::size_t marks_ = 0;                   // so many of the events are set
  MappedWords<GateFlags> flags_;
  std::vector<GateFlags*> device_flags_;      // the same, as each stream's device addresses them
  std::atomic<std::uint32_t> generation_{0};  // of the last gate closed
  std::uint32_t gave_up_reported_ = 0;
};

}  // namespace fabricbench::cuda
