#include "common/backends/sockets/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstddef>
#include <cstring>

#include "common/backends/sockets/check.h"

namespace fabricbench::sockets {

std::optional<Address> parse_address(const std::string& text) {
  for (const int family : {AF_INET, AF_INET6}) {
    Address address{.family = family};
    if (::inet_pton(family, text.c_str(), address.bytes.data()) == 1) return address;
  }
  return std::nullopt;
}

std::string to_text(const Address& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const char* written = ::inet_ntop(address.family, address.bytes.data(), text.data(), text.size());
  return written == nullptr ? "?" : written;
}

SocketName socket_name(const SocketAddress& endpoint) {
  SocketName name;
  if (endpoint.address.family == AF_INET) {
    sockaddr_in ipv4{};
    ipv4.sin_family = AF_INET;
    ipv4.sin_port = htons(endpoint.port);
    std::memcpy(&ipv4.sin_addr, endpoint.address.bytes.data(), sizeof ipv4.sin_addr);
    name.size = sizeof ipv4;
    std::memcpy(&name.storage, &ipv4, sizeof ipv4);
  } else {
    sockaddr_in6 ipv6{};
    ipv6.sin6_family = AF_INET6;
    ipv6.sin6_port = htons(endpoint.port);
    std::memcpy(&ipv6.sin6_addr, endpoint.address.bytes.data(), sizeof ipv6.sin6_addr);
    name.size = sizeof ipv6;
    std::memcpy(&name.storage, &ipv6, sizeof ipv6);
  }
  return name;
}

SocketAddress endpoint(const sockaddr* name) {
  SocketAddress found;
  if (name->sa_family == AF_INET) {
    sockaddr_in ipv4{};
    std::memcpy(&ipv4, name, sizeof ipv4);
    std::memcpy(found.address.bytes.data(), &ipv4.sin_addr, sizeof ipv4.sin_addr);
    found.port = ntohs(ipv4.sin_port);
  } else if (name->sa_family == AF_INET6) {
    sockaddr_in6 ipv6{};
    std::memcpy(&ipv6, name, sizeof ipv6);
    std::memcpy(found.address.bytes.data(), &ipv6.sin6_addr, sizeof ipv6.sin6_addr);
    found.port = ntohs(ipv6.sin6_port);
  } else {
    return found;
  }
  found.address.family = name->sa_family;
  return found;
}

SocketAddress own_endpoint(int descriptor) {
  SocketName name;
  check(::getsockname(descriptor, name.get(), &name.size), "getsockname");
  return endpoint(name.get());
}

bool is_loopback(const Address& address) {
  constexpr unsigned char kFirstByte = 127;
  if (address.family == AF_INET) return address.bytes[0] == kFirstByte;
  return address == parse_address("::1");
}

bool is_link_local(const Address& address) {
  if (address.family == AF_INET) return address.bytes[0] == 169 && address.bytes[1] == 254;
  return address.bytes[0] == 0xfe && (address.bytes[1] & 0xc0) == 0x80;
}

bool in_one_network(const Address& a, const Address& b, const Address& mask) {
  if (a.family != b.family) return false;
  for (std::size_t i = 0; i < a.bytes.size(); ++i) {
    if (((a.bytes[i] ^ b.bytes[i]) & mask.bytes[i]) != 0) return false;
  }
  return true;
}

}  // namespace fabricbench::sockets
