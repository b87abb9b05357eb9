#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "common/backends/verbs/connector.h"
#include "common/backends/verbs/verbs_connection.h"
#include "common/core/buffer_source.h"

namespace fabricbench::verbs {

/// A queue pair that is connected to itself, with which a device reads its own host's memory.
class Loopback {
 public:
  /// Uses the port and the GID of the pair's connection. Throws Error (missing).
  Loopback(const OpenDevice& device, const Meeting& meeting, bool data_direct);

  [[nodiscard]] Connection& connection() { return connection_; }
  /// The host memory that reads write to.
  [[nodiscard]] LocalPart into();
  /// Registers memory of `source` in place of the previous memory. Returns its rkey. Throws Error (missing).
  [[nodiscard]] std::uint32_t make_known(BufferSource& source, std::span<std::byte> memory);
  /// Deregisters the memory, which is about to be released.
  void forget() noexcept { known_.reset(); }

 private:
  VerbsConnection connection_;
  std::unique_ptr<std::array<std::byte, 8>> read_;
  MemoryRegion read_region_;
  MemoryRegion known_;
};

}  // namespace fabricbench::verbs
