#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/backends/rdma_cm/handshake.h"
#include "common/core/units.h"

namespace fabricbench::rdma_cm {

/// A message that came.
struct Arrival {
  std::uint32_t number = 0;         ///< as the sender numbers it
  std::span<const std::byte> data;  ///< until the connection is closed
};

struct Completions {
  std::vector<Arrival> arrivals;
  std::uint32_t sent = 0;  ///< own messages that are done with

  [[nodiscard]] bool any() const { return sent > 0 || !arrivals.empty(); }
};

/// One end of connections that carry messages; connect and accept make the queue pair and post its receives first. All
/// throw Error: of calls that fail, and of requests that complete with an error.
class Link : public Handshake {
 public:
  virtual void disconnect() = 0;

  /// Gives back what a connection took. Nothing where there is none.
  virtual void close() noexcept = 0;

  /// Room for a message of one's own, which `send` sends.
  [[nodiscard]] virtual std::span<std::byte> message(std::uint32_t number) = 0;
  virtual void send(std::uint32_t number) = 0;
  [[nodiscard]] virtual Completions poll() = 0;
};

}  // namespace fabricbench::rdma_cm
