#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace fabricbench::sockets {

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

}  // namespace fabricbench::sockets
