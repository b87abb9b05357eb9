#pragma once

#include <cstddef>
#include <string>

#include "common/core/buffer_source.h"
#include "common/core/memory.h"

namespace fabricbench {

/// Buffers in this process's memory, in pages of the usual size.
class HostBuffers final : public BufferSource {
 public:
  [[nodiscard]] std::string description() const override { return "host memory"; }
  [[nodiscard]] Memory& memory() override { return memory_; }
  [[nodiscard]] std::byte* allocate(std::size_t bytes) override { return HostMemory::allocate(bytes); }
  void release(std::byte* block) noexcept override { HostMemory::release(block); }

 private:
  HostMemory memory_;
};

}  // namespace fabricbench
