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

/// A rank and its connections, all prepared for messages (make_ready).
struct Peer {
  std::string name;             ///< for messages: `rank 1 on node-b (10.0.0.2)`
  std::vector<Socket> streams;  ///< empty: no messages are exchanged with it
};

/// Messages between two ranks over their TCP connections. A message takes one system call if the kernel accepts it at
/// once, and messages are never merged. Both sides count the messages of start_send and start_recv, and number m uses
/// stream m modulo streams; send, recv and barrier use stream 0. A message without bytes sends nothing and completes at
/// once. A barrier covers the ranks that this one is connected to.
class TcpBackend final : public Backend {
 public:
  /// The peers by rank. Calls give up after `limit` seconds without a byte moved; 0: never.
  TcpBackend(std::vector<Peer> peers, Seconds limit);

  void send(const void* buffer, std::size_t count, DataType datatype, int to) override;
  void recv(void* buffer, std::size_t count, DataType datatype, int from) override;
  void start_send(const void* buffer, std::size_t count, DataType datatype, int to) override;
  void start_recv(void* buffer, std::size_t count, DataType datatype, int from) override;
  void finish() override;
  bool finish_receiving() override;
  void barrier() override;

  /// Shuts down the connections, so that waiting calls throw; from any thread.
  void abandon() noexcept;
  /// Totals over all connections of this rank.
  [[nodiscard]] TcpTotals totals() const;

 private:
  /// The rest of a message.
  struct Part {
    std::byte* data;
    std::size_t bytes;
  };
  /// One direction of one connection, and its pending messages. Completed ones are kept until the last one is through,
  /// so that nothing is allocated while times are taken.
  struct Way {
    int descriptor = -1;
    int rank = 0;
    bool sends = false;
    bool ready = false;  ///< the kernel may have room or data; used only by finish()
    std::size_t next = 0;
    std::vector<Part> parts;

    [[nodiscard]] bool done() const { return next == parts.size(); }
  };
  /// The ways to and from a rank, by stream, and the number of messages started on each side so far.
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
  std::vector<Way*> active_;  // those with pending messages
  std::vector<pollfd> waited_for_;
  std::byte sent_token_{};  // the message of a barrier
  std::byte received_token_{};
  std::atomic<bool> abandoned_ = false;
};

}  // namespace fabricbench::sockets
