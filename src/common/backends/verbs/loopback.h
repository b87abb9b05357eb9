#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "common/backends/verbs/connector.h"
#include "common/backends/verbs/verbs_endpoint.h"
#include "common/core/buffer_source.h"

namespace fabricbench::verbs {

/// A queue pair that is connected to itself, by which a device reads in the memory of its own host.
class Loopback {
 public:
  /// On the port and the GID by which the pair is connected. Throws Error (missing).
  Loopback(const OpenDevice& device, const Meeting& meeting, bool data_direct);

  [[nodiscard]] Endpoint& endpoint() { return endpoint_; }
  /// Host memory to read into.
  [[nodiscard]] LocalPart into();
  /// Makes memory of `source` known to it, in the place of what was known before. Returns its rkey. Throws Error
  /// (missing).
  [[nodiscard]] std::uint32_t make_known(BufferSource& source, std::span<std::byte> memory);
  /// What is known is about to be given back.
  void forget() noexcept { known_.reset(); }

 private:
  VerbsEndpoint endpoint_;
  std::unique_ptr<std::array<std::byte, 8>> read_;
  MemoryRegion read_region_;
  MemoryRegion known_;
};

}  // namespace fabricbench::verbs
