#include "common/backends/sockets/socket.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <limits>

#include "common/backends/sockets/check.h"
#include "common/core/clock.h"

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
