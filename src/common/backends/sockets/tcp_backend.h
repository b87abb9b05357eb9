#pragma once

#include <poll.h>
#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

#include "common/backends/sockets/socket.h"
#include "common/backends/sockets/tcp_info.h"
#include "common/core/backend.h"
#include "common/core/units.h"

namespace fabricbench::sockets {

/// A rank and the connections to it, all ready for messages (make_ready).
struct Peer {
  std::string name;             ///< for messages: `rank 1 on node-b (10.0.0.2)`
  std::vector<Socket> streams;  ///< none: no messages are exchanged with it
};

/// Messages between two ranks over their TCP connections. A message is one call of the kernel's as long as the kernel
/// takes it at once, and messages are never joined. Both sides count those of start_send and start_recv, and number m
/// travels on stream m modulo streams; send, recv and barrier use stream 0. A message without bytes is nothing on a TCP
/// connection, and completes at once. A barrier is one of the ranks that this one is connected to.
class TcpBackend final : public MessagesOnly {
 public:
  /// The peers by rank. Calls give up after `limit` seconds in which no byte moved; 0: never.
  TcpBackend(std::vector<Peer> peers, Seconds limit);

  void send(const void* buffer, std::size_t count, DataType datatype, int to) override;
  void recv(void* buffer, std::size_t count, DataType datatype, int from) override;
  void start_send(const void* buffer, std::size_t count, DataType datatype, int to) override;
  void start_recv(void* buffer, std::size_t count, DataType datatype, int from) override;
  void finish() override;
  bool finish_receiving() override;
  void barrier() override;

  /// Ends the connections, so that a call that waits for one throws; from any thread.
  void abandon() noexcept;
  /// Over all connections of this rank.
  [[nodiscard]] TcpTotals totals() const;

 private:
  /// What is left of a message.
  struct Part {
    std::byte* data;
    std::size_t bytes;
  };
  /// One direction of one connection, and the messages that are to go through it. They are kept until the last one is
  /// through, so that no memory is allocated while times are taken.
  struct Way {
    int descriptor = -1;
    int rank = 0;
    bool sends = false;
    bool ready = false;  ///< the kernel may have room or data; only finish() uses it
    std::size_t next = 0;
    std::vector<Part> parts;

    [[nodiscard]] bool done() const { return next == parts.size(); }
  };
  /// The ways to a rank and from it, by stream, and the messages started on each side so far.
  struct Lanes {
    std::vector<Way> out;
    std::vector<Way> in;
    std::size_t sent = 0;
    std::size_t received = 0;
  };

  [[nodiscard]] Lanes& lanes(int rank);
  void queue(Way& way, Part part);
  void take_turns();
  void drain(Way& way);
  bool advance(Way& way);
  bool advance_all();
  void wait_for_any();
  [[nodiscard]] ssize_t call_kernel(Way& way, int flags) const;
  static void note_moved(Way& way, std::size_t bytes);
  [[nodiscard]] std::string missing(const Way& way) const;
  [[noreturn]] void lost(const Way& way, const std::string& reason) const;
  [[noreturn]] void time_out(const Way& way) const;

  std::vector<Peer> peers_;
  std::vector<Lanes> lanes_;
  Seconds limit_;
  std::vector<Way*> active_;  // those with messages
  std::vector<pollfd> waited_for_;
  std::byte sent_token_{};  // a barrier's messages
  std::byte received_token_{};
  std::atomic<bool> abandoned_ = false;
};

}  // namespace fabricbench::sockets
