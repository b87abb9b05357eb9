#pragma once

#include <poll.h>

#include <span>
#include <string_view>
#include <utility>

#include "common/core/units.h"

namespace fabricbench::sockets {

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
