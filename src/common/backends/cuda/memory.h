#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <cuda_runtime_api.h>

#include "common/backends/cuda/kernels.h"
#include "common/backends/cuda/stream.h"
#include "common/core/memory.h"
#include "common/core/ownership.h"
#include "common/core/units.h"

namespace fabricbench::cuda {

/// A `Words` shared by host and devices: it lies in host memory that is pinned and mapped into the devices' address
/// space.
template <typename Words>
using MappedWords = Handle<Words, cudaFreeHost>;

/// Initially `Words{}`, allocated through the context of one device; all devices reach it. Throws Error as check does.
template <typename Words>
[[nodiscard]] Words* allocate_mapped(int device) {
  const DeviceGuard guard(device);
  void* block = nullptr;
  check(cudaHostAlloc(&block, sizeof(Words), cudaHostAllocMapped | cudaHostAllocPortable), "cudaHostAlloc");
  return new (block) Words{};
}

/// Its address on a device.
template <typename Words>
[[nodiscard]] Words* mapped_address(int device, Words* words) {
  const DeviceGuard guard(device);
  void* address = nullptr;
  check(cudaHostGetDevicePointer(&address, words, 0), "cudaHostGetDevicePointer");
  return static_cast<Words*>(address);
}

using DeviceBlock = Handle<void, cudaFree>;
using PinnedBlock = Handle<void, cudaFreeHost>;

/// Throws Error (missing) with the requested size and the device's free memory.
[[noreturn]] void throw_no_memory(int device, std::size_t bytes);

/// The memory of one device, filled and checked by kernels on one stream, in order with work started there before.
class CudaMemory : public Memory {
 public:
  /// Does not own the stream, which must outlive it. No method waits longer than `limit` seconds for the device, 0 for
  /// no limit; after that it throws Error (timeout). Throws Error (missing) if not even the tables fit (2 MiB).
  explicit CudaMemory(DeviceStream stream, Seconds limit = 300);

  void set(std::span<std::byte> buffer, int byte) override;
  void fill(std::span<std::byte> buffer, const PatternTable& table, PatternPosition place) override;
  [[nodiscard]] std::optional<Mismatch> check(std::span<const std::byte> buffer, const PatternTable& table,
                                              PatternPosition place) override;
  void copy_to_host(std::span<const std::byte> from, std::byte* into) override;
  void copy_from_host(std::span<const std::byte> from, std::byte* into) override;

  /// Aligned to at least 256 bytes. Throws Error (missing) with the sizes if memory is short. A library that needs its
  /// own allocation overrides both, and calls throw_no_memory.
  [[nodiscard]] virtual std::byte* allocate(std::size_t bytes);
  virtual void release(std::byte* block) noexcept;

  [[nodiscard]] int device() const { return stream_.device; }

 private:
  /// A table on the device. It is identified by its elements, because its address may since belong to another table.
  struct Uploaded {
    std::vector<std::byte> period;
    std::uint64_t last_used = 0;
  };

  [[nodiscard]] const Vector16* uploaded(const PatternTable& table);
  [[nodiscard]] Vector16* place_of(std::vector<Uploaded>::iterator entry);
  [[nodiscard]] CheckResult compare(std::span<const std::byte> buffer, const PatternTable& table,
                                    PatternPosition place);
  void wait() const;

  DeviceStream stream_;
  Seconds limit_;
  std::vector<Uploaded> tables_;
  std::uint64_t uses_ = 0;
  DeviceBlock table_memory_;  // places for all tables
  DeviceBlock found_;         // CheckResult, on the device
  PinnedBlock found_host_;    // the place it is copied to
};

}  // namespace fabricbench::cuda
