#include "common/backends/sockets/tcp_session.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "common/backends/sockets/interfaces.h"
#include "common/backends/sockets/socket.h"
#include "common/core/clock.h"
#include "common/core/error.h"

namespace fabricbench::sockets {
namespace {

std::size_t bytes_of(std::size_t count, DataType datatype) { return count * facts(datatype).size; }

/// The kernel only reads data to be sent, so one kind of Part serves both directions.
std::byte* without_const(const void* buffer) { return static_cast<std::byte*>(const_cast<void*>(buffer)); }

/// The addresses and interface of the first peer's connection, and the number of other peers.
std::string route(const Socket& first, std::size_t others) {
  // No addresses: results are published.
  const Address own = own_endpoint(first.get()).address;
  const std::string more = others == 0 ? "" : fmt::format(" and {} other {}", others, others == 1 ? "rank" : "ranks");
  return fmt::format("by {}{}", interface_of(own, interfaces()), more);
}

/// The buffer size that the kernel granted; it reports twice the size, for its own use (socket(7)).
std::string buffers(const Socket& socket, Bytes asked) {
  if (asked == 0) return "";
  const int given =
      std::min(option(socket, SOL_SOCKET, SO_SNDBUF, "SO_SNDBUF"), option(socket, SOL_SOCKET, SO_RCVBUF, "SO_RCVBUF")) /
      2;
  const auto bytes = static_cast<Bytes>(given);
  if (bytes >= asked) return fmt::format(", socket buffers of {}", readable_bytes(asked));
  return fmt::format(", socket buffers of {}, not {}: see net.core.rmem_max and wmem_max", readable_bytes(bytes),
                     readable_bytes(asked));
}

std::string describe(const std::vector<Peer>& peers, const TcpSettings& settings) {
  std::string streams = fmt::format("TCP, {} {}", settings.streams, settings.streams == 1 ? "stream" : "streams");
  const auto is_connected = [](const Peer& peer) { return !peer.streams.empty(); };
  const auto connected = std::count_if(peers.begin(), peers.end(), is_connected);
  if (connected == 0) return streams;
  const Socket& first = std::find_if(peers.begin(), peers.end(), is_connected)->streams.front();
  return fmt::format("{}, {}, congestion control {}{}", streams, route(first, static_cast<std::size_t>(connected) - 1),
                     congestion_control(first), buffers(first, settings.socket_buffer));
}

}  // namespace

/// Messages between two ranks over their TCP connections. A message takes one system call if the kernel accepts it at
/// once, and messages are never merged. Both sides count the messages of start_send and start_recv, and number m uses
/// stream m modulo streams; send, recv and barrier use stream 0. A message without bytes sends nothing and completes at
/// once. A barrier covers the ranks that this one is connected to.
class TcpBackend final : public Backend {
 public:
  /// The peers by rank. Calls give up after `limit` seconds without a byte moved; 0: never.
  TcpBackend(std::vector<Peer> peers, Seconds limit)
      : peers_(std::move(peers)), by_rank_(peers_.size()), limit_(limit) {
    std::size_t queues = 0;
    for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
      for (const Socket& stream : peers_[rank].streams) {
        const MessageQueue queue{
            .descriptor = stream.get(), .rank = static_cast<int>(rank), .sends = false, .parts = {}};
        by_rank_[rank].in.push_back(queue);
        by_rank_[rank].out.push_back(queue);
        by_rank_[rank].out.back().sends = true;
        queues += 2;
      }
    }
    active_.reserve(queues);
    waited_for_.reserve(queues);
  }

  void send(const void* buffer, std::size_t count, DataType datatype, int to) override {
    enqueue(queues_of(to).out.front(), {without_const(buffer), bytes_of(count, datatype)});
    finish();
  }
  void recv(void* buffer, std::size_t count, DataType datatype, int from) override {
    enqueue(queues_of(from).in.front(), {static_cast<std::byte*>(buffer), bytes_of(count, datatype)});
    finish();
  }
  void start_send(const void* buffer, std::size_t count, DataType datatype, int to) override {
    PeerQueues& between = queues_of(to);
    if (count == 0) return;
    enqueue(between.out[between.sent++ % between.out.size()], {without_const(buffer), bytes_of(count, datatype)});
  }
  void start_recv(void* buffer, std::size_t count, DataType datatype, int from) override {
    PeerQueues& between = queues_of(from);
    if (count == 0) return;
    enqueue(between.in[between.received++ % between.in.size()],
            {static_cast<std::byte*>(buffer), bytes_of(count, datatype)});
  }
  /// Several queues take turns with non-blocking calls. The last one uses blocking calls, which needs the fewest calls:
  /// one per message.
  void finish() override {
    while (active_.size() > 1) take_turns();
    if (active_.empty()) return;
    drain(*active_.front());
    active_.clear();
  }
  /// Keeps sending meanwhile: the other rank may wait for a message before it sends its own.
  bool finish_receiving() override {
    const auto receives = [](const MessageQueue* queue) { return !queue->sends; };
    while (std::any_of(active_.begin(), active_.end(), receives)) take_turns();
    return true;
  }
  /// Sends a byte to each of the others and receives one from each.
  void barrier() override {
    for (PeerQueues& between : by_rank_) {
      if (between.out.empty()) continue;
      enqueue(between.out.front(), {&sent_token_, 1});
      enqueue(between.in.front(), {&received_token_, 1});
    }
    finish();
  }

  /// Shuts down the connections, so that waiting calls throw; from any thread.
  void abandon() noexcept {
    abandoned_ = true;
    for (const Peer& peer : peers_) {
      for (const Socket& stream : peer.streams) ::shutdown(stream.get(), SHUT_RDWR);
    }
  }
  /// Totals over all connections of this rank.
  [[nodiscard]] TcpTotals totals() const {
    TcpTotals sum;
    for (const Peer& peer : peers_) {
      for (const Socket& stream : peer.streams) sum += read_totals(stream);
    }
    return sum;
  }

 private:
  /// The rest of a message.
  struct Part {
    std::byte* data;
    std::size_t bytes;
  };
  /// One direction of one connection, and its pending messages. Completed ones are kept until the last one is through,
  /// so that nothing is allocated while times are taken.
  struct MessageQueue {
    int descriptor = -1;
    int rank = 0;
    bool sends = false;
    bool ready = false;  ///< the kernel may have room or data; used only by finish()
    std::size_t next = 0;
    std::vector<Part> parts;

    [[nodiscard]] bool done() const { return next == parts.size(); }
  };
  /// The queues to and from a rank, by stream, and the number of messages started on each side so far.
  struct PeerQueues {
    std::vector<MessageQueue> out;
    std::vector<MessageQueue> in;
    std::size_t sent = 0;
    std::size_t received = 0;
  };

  [[nodiscard]] PeerQueues& queues_of(int rank) {
    const auto place = static_cast<std::size_t>(rank);
    if (place >= by_rank_.size() || by_rank_[place].out.empty()) [[unlikely]] {
      throw Error(ExitStatus::kFailure, fmt::format("tcp: this rank has no connection to rank {}", rank));
    }
    return by_rank_[place];
  }
  void enqueue(MessageQueue& queue, Part part) {
    if (part.bytes == 0) return;
    if (queue.done()) {
      queue.parts.clear();
      queue.next = 0;
      queue.ready = true;
      active_.push_back(&queue);
    }
    queue.parts.push_back(part);
  }
  /// Gives every active queue a turn; if none made progress, waits until one can.
  void take_turns() {
    const bool moved = advance_all();
    std::erase_if(active_, [](const MessageQueue* queue) { return queue->done(); });
    if (!moved) wait_for_any();
  }
  /// Returns when all messages of the queue are through. A blocking call has the socket's own time limit, counted from
  /// its start, so only a call without any progress has timed out.
  void drain(MessageQueue& queue) {
    while (!queue.done()) {
      const ssize_t moved = call_kernel(queue, queue.sends ? 0 : MSG_WAITALL);
      if (moved > 0) [[likely]] {
        note_moved(queue, static_cast<std::size_t>(moved));
      } else if (moved == 0) {
        lost(queue, "it closed the connection");
      } else if (errno == EAGAIN) {
        time_out(queue);
      } else if (errno != EINTR) {
        lost(queue, std::strerror(errno));
      }
    }
  }
  /// One call for the queue's first message. Returns whether a byte moved. If the kernel moved less than asked, it has
  /// no more for now.
  bool advance(MessageQueue& queue) {
    const std::size_t asked = queue.parts[queue.next].bytes;
    const ssize_t moved = call_kernel(queue, MSG_DONTWAIT);
    if (moved > 0) {
      queue.ready = static_cast<std::size_t>(moved) == asked;
      note_moved(queue, static_cast<std::size_t>(moved));
      return true;
    }
    if (moved == 0) lost(queue, "it closed the connection");
    if (errno == EAGAIN) {
      queue.ready = false;
    } else if (errno != EINTR) {
      lost(queue, std::strerror(errno));
    }
    return false;
  }
  /// Whether a byte moved on any queue.
  bool advance_all() {
    bool moved = false;
    for (MessageQueue* queue : active_) {
      if (queue->ready) moved = advance(*queue) || moved;
    }
    return moved;
  }
  void wait_for_any() {
    waited_for_.clear();
    for (const MessageQueue* queue : active_) {
      waited_for_.push_back({queue->descriptor, static_cast<short>(queue->sends ? POLLOUT : POLLIN), 0});
    }
    if (!poll_until(waited_for_, limit_ > 0 ? now() + limit_ : 0)) time_out(*active_.front());
    for (std::size_t i = 0; i < active_.size(); ++i) active_[i]->ready = waited_for_[i].revents != 0;
  }
  [[nodiscard]] ssize_t call_kernel(MessageQueue& queue, int flags) const {
    const Part& part = queue.parts[queue.next];
    if (queue.sends) return ::send(queue.descriptor, part.data, part.bytes, flags | MSG_NOSIGNAL);
    return ::recv(queue.descriptor, part.data, part.bytes, flags);
  }
  static void note_moved(MessageQueue& queue, std::size_t bytes) {
    Part& part = queue.parts[queue.next];
    part.data += bytes;
    part.bytes -= bytes;
    if (part.bytes == 0) ++queue.next;
  }
  /// The bytes still to move in this direction between the two ranks, over all streams.
  [[nodiscard]] std::string missing(const MessageQueue& queue) const {
    Bytes bytes = 0;
    for (const MessageQueue* other : active_) {
      if (other->rank != queue.rank || other->sends != queue.sends) continue;
      for (std::size_t i = other->next; i < other->parts.size(); ++i) bytes += other->parts[i].bytes;
    }
    return fmt::format("{} still to be {}", readable_bytes(bytes), queue.sends ? "sent" : "received");
  }
  [[noreturn]] void lost(const MessageQueue& queue, const std::string& reason) const {
    const std::string& peer = peers_[static_cast<std::size_t>(queue.rank)].name;
    if (abandoned_) {
      throw Error(ExitStatus::kFailure, fmt::format("tcp: gave up with {} between here and {}", missing(queue), peer));
    }
    throw Error(ExitStatus::kFailure,
                fmt::format("tcp: lost the connection to {} with {}: {}; see that rank's messages", peer,
                            missing(queue), reason));
  }
  [[noreturn]] void time_out(const MessageQueue& queue) const {
    throw Error(
        ExitStatus::kTimeout,
        fmt::format("tcp: nothing moved between here and {} for {}, with {}; check that rank, or "
                    "give it more time with -T",
                    peers_[static_cast<std::size_t>(queue.rank)].name, readable_seconds(limit_), missing(queue)));
  }

  std::vector<Peer> peers_;
  std::vector<PeerQueues> by_rank_;
  Seconds limit_;
  std::vector<MessageQueue*> active_;  // those with pending messages
  std::vector<pollfd> waited_for_;
  std::byte sent_token_{};  // the message of a barrier
  std::byte received_token_{};
  std::atomic<bool> abandoned_ = false;
};

TcpSession::TcpSession(int rank, int ranks, const Gather& gather, const TcpSettings& settings) {
  std::vector<Peer> peers = Rendezvous(rank, ranks, settings).connect(gather);
  library_ = describe(peers, settings);
  backend_ = std::make_unique<TcpBackend>(std::move(peers), settings.time_limit_s);
}

TcpSession::~TcpSession() = default;

Backend& TcpSession::backend(int /*local_rank*/) { return *backend_; }

void TcpSession::abandon() noexcept { backend_->abandon(); }

TcpTotals TcpSession::totals() const { return backend_->totals(); }

std::string TcpSession::remark() const {
  const TcpTotals all = totals();
  if (all.retransmitted_segments == 0) return "";
  return fmt::format("retransmitted {} TCP segments while {} arrived at the other side", all.retransmitted_segments,
                     readable_bytes(all.sent_bytes));
}

std::vector<std::byte*> TcpSession::allocate(std::size_t bytes) { return {HostMemory::allocate(bytes)}; }

void TcpSession::release(const std::vector<std::byte*>& blocks) noexcept {
  for (std::byte* block : blocks) HostMemory::release(block);
}

}  // namespace fabricbench::sockets
