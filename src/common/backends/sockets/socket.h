#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "common/core/units.h"

namespace fabricbench::sockets {

[[noreturn]] void fail(std::string_view call, std::string_view details);

/// Returns a call's result, or throws Error with the kernel's message if it failed. `call` is the function's name,
/// `details` its subject.
template <std::signed_integral Result>
Result check(Result result, std::string_view call, std::string_view details = "") {
  if (result < 0) [[unlikely]]
    fail(call, details);
  return result;
}

/// An IPv4 or IPv6 address, without a port and without a scope.
struct Address {
  int family = AF_UNSPEC;
  std::array<unsigned char, 16> bytes{};  ///< in network byte order; IPv4: the first four, then zeros

  bool operator==(const Address&) const = default;
};

struct SocketAddress {
  Address address;
  std::uint16_t port = 0;
};

/// An endpoint in the form of the kernel's calls.
struct SocketName {
  sockaddr_storage storage{};
  socklen_t size = sizeof(sockaddr_storage);

  [[nodiscard]] sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

/// Empty unless the text is an address such as `10.0.0.1` or `fd00::1`.
[[nodiscard]] std::optional<Address> parse_address(const std::string& text);
[[nodiscard]] std::string to_text(const Address& address);

[[nodiscard]] SocketName socket_name(const SocketAddress& endpoint);
/// `family` is AF_UNSPEC unless the address is IPv4 or IPv6.
[[nodiscard]] SocketAddress endpoint(const sockaddr* name);
/// The endpoint of this side of a socket.
[[nodiscard]] SocketAddress own_endpoint(int descriptor);

[[nodiscard]] bool is_loopback(const Address& address);
/// An address that is valid on one link only: fe80::/10 and 169.254.0.0/16 (RFC 4291, RFC 3927).
[[nodiscard]] bool is_link_local(const Address& address);
/// Whether both addresses agree in the bits that are set in `mask`.
[[nodiscard]] bool in_one_network(const Address& a, const Address& b, const Address& mask);

/// The sole owner of a socket's descriptor; move-only and the size of the descriptor.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~Socket();

  [[nodiscard]] int get() const { return descriptor_; }
  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }

 private:
  int descriptor_ = -1;
};

/// A non-blocking TCP socket with send and receive buffers of this size (0: chosen by the kernel). The size must be set
/// before connecting or listening, because it determines the window scale.
[[nodiscard]] Socket make_socket(int family, Bytes buffer);

/// Prepares a connection for messages: blocking calls with a limit of `limit` seconds (0: none), and segments that are
/// sent at once.
void make_ready(const Socket& socket, Seconds limit);

void set_option(const Socket& socket, int level, int name, int value, std::string_view what);
[[nodiscard]] int option(const Socket& socket, int level, int name, std::string_view what);

/// The argument of poll(2) for a wait until `deadline` on the clock of now(): rounded up, so that it does not end
/// early; 0 for a past deadline, and -1 (no limit) if `deadline` is 0.
[[nodiscard]] int poll_milliseconds(Seconds deadline);

/// Waits until `deadline` on the clock of now(), 0 for no deadline. Returns whether an event came before.
[[nodiscard]] bool poll_until(std::span<pollfd> waited_for, Seconds deadline);

}  // namespace fabricbench::sockets
