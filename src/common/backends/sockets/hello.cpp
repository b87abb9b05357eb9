#include "common/backends/sockets/hello.h"

#include <sys/socket.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace fabricbench::sockets {
namespace {

/// The layout: this text, then the members of Hello in this machine's byte order. A machine with another byte order
/// would not recognise the job number, and counts as a stranger.
constexpr std::string_view kGreeting = "fabricb1";
static_assert(kGreeting.size() + sizeof(Hello) == kHelloBytes);

}  // namespace

HelloBytes encode(const Hello& hello) {
  HelloBytes bytes{};
  std::memcpy(bytes.data(), kGreeting.data(), kGreeting.size());
  const auto members = std::bit_cast<std::array<std::byte, sizeof(Hello)>>(hello);
  std::memcpy(bytes.data() + kGreeting.size(), members.data(), members.size());
  return bytes;
}

bool send_hello(int socket, const Hello& hello) {
  const HelloBytes bytes = encode(hello);
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t more = ::send(socket, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (more < 0 && errno != EINTR) return false;
    sent += static_cast<std::size_t>(std::max<ssize_t>(more, 0));
  }
  return true;
}

std::optional<Hello> decode(const HelloBytes& bytes) {
  if (std::memcmp(bytes.data(), kGreeting.data(), kGreeting.size()) != 0) return std::nullopt;
  std::array<std::byte, sizeof(Hello)> members{};
  std::memcpy(members.data(), bytes.data() + kGreeting.size(), members.size());
  return std::bit_cast<Hello>(members);
}

}  // namespace fabricbench::sockets
