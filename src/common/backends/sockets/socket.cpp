#include "common/backends/sockets/socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "common/core/clock.h"
#include "common/core/error.h"

namespace fabricbench::sockets {
namespace {

/// Rounded up, because 0 would mean no limit.
timeval to_timeval(Seconds limit) {
  constexpr double kMicroseconds = 1e6;
  const auto microseconds = static_cast<std::int64_t>(std::ceil(limit * kMicroseconds));
  timeval value{};
  value.tv_sec = microseconds / static_cast<std::int64_t>(kMicroseconds);
  value.tv_usec = microseconds % static_cast<std::int64_t>(kMicroseconds);
  return value;
}

}  // namespace

void fail(std::string_view call, std::string_view details) {
  const std::string reason = std::strerror(errno);  // before later calls change it
  const std::string about = details.empty() ? "" : fmt::format(" ({})", details);
  throw Error(ExitStatus::kFailure, fmt::format("tcp: {}{}: {}", call, about, reason));
}

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

Socket::~Socket() {
  if (is_open()) ::close(descriptor_);
}

Socket make_socket(int family, Bytes buffer) {
  Socket socket(check(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), "socket"));
  if (buffer > 0) {
    const Bytes most = std::numeric_limits<int>::max();
    const int bytes = static_cast<int>(std::min(buffer, most));
    set_option(socket, SOL_SOCKET, SO_SNDBUF, bytes, "SO_SNDBUF");
    set_option(socket, SOL_SOCKET, SO_RCVBUF, bytes, "SO_RCVBUF");
  }
  return socket;
}

void make_ready(const Socket& socket, Seconds limit) {
  const int flags = check(::fcntl(socket.get(), F_GETFL), "fcntl");
  check(::fcntl(socket.get(), F_SETFL, flags & ~O_NONBLOCK), "fcntl");
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1, "TCP_NODELAY");
  const timeval value = to_timeval(limit);
  check(::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &value, sizeof value), "setsockopt", "SO_RCVTIMEO");
  check(::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &value, sizeof value), "setsockopt", "SO_SNDTIMEO");
}

void set_option(const Socket& socket, int level, int name, int value, std::string_view what) {
  check(::setsockopt(socket.get(), level, name, &value, sizeof value), "setsockopt", what);
}

int option(const Socket& socket, int level, int name, std::string_view what) {
  int value = 0;
  socklen_t size = sizeof value;
  check(::getsockopt(socket.get(), level, name, &value, &size), "getsockopt", what);
  return value;
}

int poll_milliseconds(Seconds deadline) {
  if (deadline == 0) return -1;
  const double left = std::ceil((deadline - now()) * 1000);
  return static_cast<int>(std::clamp(left, 0.0, 1e9));
}

bool poll_until(std::span<pollfd> waited_for, Seconds deadline) {
  while (true) {
    const int happened = ::poll(waited_for.data(), waited_for.size(), poll_milliseconds(deadline));
    if (happened >= 0) return happened > 0;
    if (errno != EINTR) check(happened, "poll");
    if (deadline > 0 && now() >= deadline) return false;
  }
}

}  // namespace fabricbench::sockets
