#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/backends/rdma_cm/handshake.h"
#include "common/core/units.h"

namespace fabricbench::rdma_cm {

/// A received message.
struct Arrival {
  std::uint32_t number = 0;         ///< the sender's number for it
  std::span<const std::byte> data;  ///< valid until the connection is closed
};

struct Completions {
  std::vector<Arrival> arrivals;
  std::uint32_t sent = 0;  ///< own messages that have completed

  [[nodiscard]] bool any() const { return sent > 0 || !arrivals.empty(); }
};

/// One end of connections that carry messages; connect and accept first create the queue pair and post its receives.
/// All methods throw Error if a call or a request fails.
class Link : public Handshake {
 public:
  virtual void disconnect() = 0;

  /// Releases a connection's resources; does nothing if there is no connection.
  virtual void close() noexcept = 0;

  /// The buffer of an own message, for `send`.
  [[nodiscard]] virtual std::span<std::byte> message(std::uint32_t number) = 0;
  virtual void send(std::uint32_t number) = 0;
  [[nodiscard]] virtual Completions poll() = 0;
};

}  // namespace fabricbench::rdma_cm
