#pragma once

#include <poll.h>

#include <span>
#include <string_view>
#include <utility>

#include "common/core/units.h"

namespace fabricbench::sockets {

/// The one owner of a socket's descriptor; move-only and as large as the descriptor.
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

/// A TCP socket whose calls do not block, with send and receive buffers of so many bytes (0: the kernel's choice). The
/// kernel wants to know of buffers before it connects or listens, because that settles the window's scale.
[[nodiscard]] Socket make_socket(int family, Bytes buffer);

/// What a connection is made ready with for messages: calls that block, for at most `limit` seconds (0: for ever), and
/// segments that leave at once.
void make_ready(const Socket& socket, Seconds limit);

void set_option(const Socket& socket, int level, int name, int value, std::string_view what);
[[nodiscard]] int option(const Socket& socket, int level, int name, std::string_view what);

/// What poll(2) takes for a wait until `deadline` on the clock of now(): rounded up, so that it does not end too early;
/// 0 where that has passed, and -1, for ever, where `deadline` is 0.
[[nodiscard]] int poll_milliseconds(Seconds deadline);

/// Waits until `deadline` on the clock of now(), 0 for no deadline; whether something happened before.
[[nodiscard]] bool poll_until(std::span<pollfd> waited_for, Seconds deadline);

}  // namespace fabricbench::sockets
