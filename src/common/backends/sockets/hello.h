#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace fabricbench::sockets {

/// The first message of both ends of a connection, so that neither mistakes a stranger for the other.
struct Hello {
  std::uint64_t job = 0;
  std::uint32_t rank = 0;    ///< the sender
  std::uint32_t stream = 0;  ///< the number of this connection between the two ranks

  bool operator==(const Hello&) const = default;
};

constexpr std::size_t kHelloBytes = 24;
using HelloBytes = std::array<std::byte, kHelloBytes>;

[[nodiscard]] HelloBytes encode(const Hello& hello);
/// Sends it over a new connection, whose buffer takes these few bytes without blocking. False, with errno:
/// it cannot be sent.
[[nodiscard]] bool send_hello(int socket, const Hello& hello);
/// Empty if the bytes are from a stranger.
[[nodiscard]] std::optional<Hello> decode(const HelloBytes& bytes);

}  // namespace fabricbench::sockets
