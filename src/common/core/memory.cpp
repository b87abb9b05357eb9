#include "common/core/memory.h"

#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "common/core/error.h"
#include "common/core/units.h"

namespace fabricbench {

void HostMemory::set(std::span<std::byte> buffer, int byte) { std::memset(buffer.data(), byte, buffer.size()); }

void HostMemory::fill(std::span<std::byte> buffer, const PatternTable& table, PatternPosition place) {
  table.fill(buffer, place);
}

std::optional<Mismatch> HostMemory::check(std::span<const std::byte> buffer, const PatternTable& table,
                                          PatternPosition place) {
  return table.check(buffer, place);
}

void HostMemory::copy_to_host(std::span<const std::byte> from, std::byte* into) {
  std::memcpy(into, from.data(), from.size());
}

void HostMemory::copy_from_host(std::span<const std::byte> from, std::byte* into) {
  std::memcpy(into, from.data(), from.size());
}

std::byte* HostMemory::allocate(std::size_t bytes) {
  constexpr std::size_t kPageBytes = 4096;
  const std::size_t pages = (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;  // smaller than `bytes` on overflow
  auto* memory = pages < bytes ? nullptr : static_cast<std::byte*>(std::aligned_alloc(kPageBytes, pages));
  if (memory == nullptr) {
    throw Error(ExitStatus::kMissing,
                fmt::format("cannot allocate a buffer of {}; lower --max-bytes", readable_bytes(bytes)));
  }
  return memory;
}

void HostMemory::release(std::byte* block) noexcept { std::free(block); }

}  // namespace fabricbench
