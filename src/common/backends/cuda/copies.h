// Copies between host memory and devices, and between devices, timed by the devices' own clocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "common/backends/cuda/clock.h"
#include "common/backends/cuda/stream.h"
#include "common/core/handle.h"
#include "common/core/units.h"

namespace fabricbench::cuda {

/// Host memory that devices read and write by themselves as long as this lives; it does not own the memory.
using PinnedRange = Handle<void, cudaHostUnregister>;

/// Locks pages where they lie. Throws Error (missing) with the size where the system does not let so much be locked.
[[nodiscard]] PinnedRange pin(std::span<std::byte> host_memory);

/// Whether the device's copies to and from the host go over PCI Express. A device that shares the host's page tables
/// is attached by a link of another kind. Throws Error (failure).
[[nodiscard]] bool reaches_host_by_pci(int device);

/// What the device's memory carries in bytes per second, reading or writing; nothing where the driver does not tell.
/// A transfer on both edges of the clock, as deviceQuery of the CUDA samples computes it.
[[nodiscard]] std::optional<double> memory_bytes_per_s(int device);

/// Lets two devices reach each other's memory, as far as they can. Whether a copy from the first to the second goes
/// straight there; else it goes over the host's memory. Throws Error (failure).
[[nodiscard]] bool connect_peers(int from, int into);

inline constexpr int kHostMemory = -1;

/// One direction of a copy. The devices are CUDA's numbers, or kHostMemory, which is pinned.
struct CopyFlow {
  std::byte* into = nullptr;
  int into_device = kHostMemory;
  const std::byte* from = nullptr;
  int from_device = kHostMemory;
};

/// How copies are timed.
struct CopyRun {
  std::span<const CopyFlow> flows;  ///< one, or two directions at once; of each, one end at least is the device
  std::size_t bytes = 0;
  std::int64_t times = 1;
  bool gated = true;  ///< all are queued before the first begins; not for copies over the host, which may wait for it
  std::function<void()> under_way{};  ///< called once while they are under way, or right behind them
};

/// Copies that one device's streams start, one stream for each direction.
class TimedCopies {
 public:
  /// No run waits longer than `limit` seconds, 0 for no limit; then it throws Error (timeout).
  TimedCopies(int device, Seconds limit);

  /// Copies one behind the other, all directions at once. How long each took: a list a flow, in its order. Throws
  /// Error.
  [[nodiscard]] std::vector<std::vector<Seconds>> run(const CopyRun& run);

 private:
  int device_;
  Seconds limit_;
  Stream streams_[2];
  CudaClock clock_;
};

}  // namespace fabricbench::cuda
