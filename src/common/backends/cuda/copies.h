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
#include "common/core/ownership.h"
#include "common/core/units.h"

namespace fabricbench::cuda {

/// Pins host memory for access by devices for this object's lifetime; does not own the memory.
using PinnedRange = Handle<void, cudaHostUnregister>;

/// Pins existing memory. Throws Error (missing) with the size if the system does not allow that much.
[[nodiscard]] PinnedRange pin(std::span<std::byte> host_memory);

/// Whether copies between the device and the host use PCI Express. A device that shares the host's page tables is
/// attached by another kind of link. Throws Error (failure).
[[nodiscard]] bool reaches_host_by_pci(int device);

/// The memory bandwidth of the device in bytes per second, for reading or writing; empty if the driver does not report
/// it. Assumes a transfer on both edges of the clock, as deviceQuery of the CUDA samples does.
[[nodiscard]] std::optional<double> memory_bytes_per_s(int device);

/// Lets two devices access each other's memory as far as possible. Returns whether a copy from the first to the second
/// is direct; otherwise it passes through host memory. Throws Error (failure).
[[nodiscard]] bool connect_peers(int from, int into);

inline constexpr int kHostMemory = -1;

/// One direction of a copy. The devices are CUDA's numbers, or kHostMemory for pinned host memory.
struct CopyDirection {
  std::byte* into = nullptr;
  int into_device = kHostMemory;
  const std::byte* from = nullptr;
  int from_device = kHostMemory;
};

/// The settings of timed copies.
struct CopySettings {
  std::span<const CopyDirection>
      directions;  ///< one, or two directions at once; at least one end of each is the device
  std::size_t bytes = 0;
  std::int64_t times = 1;
  bool gated = true;  ///< queue all copies before the first begins; not for copies through host memory, which may wait
                      ///< for the host
  std::function<void()> under_way{};  ///< called once during the copies, or right after them
};

/// Copies started in one device's streams, one stream per direction.
class TimedCopies {
 public:
  /// No run waits longer than `limit` seconds, 0 for no limit; after that it throws Error (timeout).
  TimedCopies(int device, Seconds limit);

  /// Makes consecutive copies in all directions at once. Returns their durations: a list per flow. Throws Error.
  [[nodiscard]] std::vector<std::vector<Seconds>> time_copies(const CopySettings& run);

 private:
  int device_;
  Seconds limit_;
  Stream streams_[2];
  CudaClock clock_;
};

}  // namespace fabricbench::cuda
