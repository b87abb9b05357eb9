#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace fabricbench::sockets {

/// What both ends of a connection say first, so that neither takes a stranger for the other.
struct Hello {
  std::uint64_t job = 0;
  std::uint32_t rank = 0;    ///< who speaks
  std::uint32_t stream = 0;  ///< which of the connections between the two ranks this is

  bool operator==(const Hello&) const = default;
};

constexpr std::size_t kHelloBytes = 24;
using HelloBytes = std::array<std::byte, kHelloBytes>;

[[nodiscard]] HelloBytes encode(const Hello& hello);
/// Nothing where the bytes are those of a stranger.
[[nodiscard]] std::optional<Hello> decode(const HelloBytes& bytes);

}  // namespace fabricbench::sockets
