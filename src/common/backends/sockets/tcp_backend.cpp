#include "common/backends/sockets/tcp_backend.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "common/core/clock.h"
#include "common/core/error.h"

namespace fabricbench::sockets {
namespace {

std::size_t bytes_of(std::size_t count, DataType datatype) { return count * facts(datatype).size; }

/// The kernel only reads data to be sent, so one kind of Part serves both directions.
std::byte* without_const(const void* buffer) { return static_cast<std::byte*>(const_cast<void*>(buffer)); }

}  // namespace

TcpBackend::TcpBackend(std::vector<Peer> peers, Seconds limit)
    : peers_(std::move(peers)), lanes_(peers_.size()), limit_(limit) {
  std::size_t ways = 0;
  for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
    for (const Socket& stream : peers_[rank].streams) {
      const Way way{.descriptor = stream.get(), .rank = static_cast<int>(rank), .sends = false, .parts = {}};
      lanes_[rank].in.push_back(way);
      lanes_[rank].out.push_back(way);
      lanes_[rank].out.back().sends = true;
      ways += 2;
    }
  }
  active_.reserve(ways);
  waited_for_.reserve(ways);
}

void TcpBackend::send(const void* buffer, std::size_t count, DataType datatype, int to) {
  queue(lanes(to).out.front(), {without_const(buffer), bytes_of(count, datatype)});
  finish();
}

void TcpBackend::recv(void* buffer, std::size_t count, DataType datatype, int from) {
  queue(lanes(from).in.front(), {static_cast<std::byte*>(buffer), bytes_of(count, datatype)});
  finish();
}

void TcpBackend::start_send(const void* buffer, std::size_t count, DataType datatype, int to) {
  Lanes& between = lanes(to);
  if (count == 0) return;
  queue(between.out[between.sent++ % between.out.size()], {without_const(buffer), bytes_of(count, datatype)});
}

void TcpBackend::start_recv(void* buffer, std::size_t count, DataType datatype, int from) {
  Lanes& between = lanes(from);
  if (count == 0) return;
  queue(between.in[between.received++ % between.in.size()],
        {static_cast<std::byte*>(buffer), bytes_of(count, datatype)});
}

/// Several ways take turns with non-blocking calls. The last one uses blocking calls, which needs the fewest calls: one
/// per message.
void TcpBackend::finish() {
  while (active_.size() > 1) take_turns();
  if (active_.empty()) return;
  drain(*active_.front());
  active_.clear();
}

/// Keeps sending meanwhile: the other rank may wait for a message before it sends its own.
bool TcpBackend::finish_receiving() {
  const auto receives = [](const Way* way) { return !way->sends; };
  while (std::any_of(active_.begin(), active_.end(), receives)) take_turns();
  return true;
}

/// Sends a byte to each of the others and receives one from each.
void TcpBackend::barrier() {
  for (Lanes& between : lanes_) {
    if (between.out.empty()) continue;
    queue(between.out.front(), {&sent_token_, 1});
    queue(between.in.front(), {&received_token_, 1});
  }
  finish();
}

void TcpBackend::abandon() noexcept {
  abandoned_ = true;
  for (const Peer& peer : peers_) {
    for (const Socket& stream : peer.streams) ::shutdown(stream.get(), SHUT_RDWR);
  }
}

TcpTotals TcpBackend::totals() const {
  TcpTotals sum;
  for (const Peer& peer : peers_) {
    for (const Socket& stream : peer.streams) sum += read_totals(stream);
  }
  return sum;
}

TcpBackend::Lanes& TcpBackend::lanes(int rank) {
  const auto place = static_cast<std::size_t>(rank);
  if (place >= lanes_.size() || lanes_[place].out.empty()) [[unlikely]] {
    throw Error(ExitStatus::kFailure, fmt::format("tcp: this rank has no connection to rank {}", rank));
  }
  return lanes_[place];
}

void TcpBackend::queue(Way& way, Part part) {
  if (part.bytes == 0) return;
  if (way.done()) {
    way.parts.clear();
    way.next = 0;
    way.ready = true;
    active_.push_back(&way);
  }
  way.parts.push_back(part);
}

/// Gives every active way a turn; if none made progress, waits until one can.
void TcpBackend::take_turns() {
  const bool moved = advance_all();
  std::erase_if(active_, [](const Way* way) { return way->done(); });
  if (!moved) wait_for_any();
}

/// Returns when all messages of the way are through. A blocking call has the socket's own time limit, counted from its
/// start, so only a call without any progress has timed out.
void TcpBackend::drain(Way& way) {
  while (!way.done()) {
    const ssize_t moved = call_kernel(way, way.sends ? 0 : MSG_WAITALL);
    if (moved > 0) [[likely]] {
      note_moved(way, static_cast<std::size_t>(moved));
    } else if (moved == 0) {
      lost(way, "it closed the connection");
    } else if (errno == EAGAIN) {
      time_out(way);
    } else if (errno != EINTR) {
      lost(way, std::strerror(errno));
    }
  }
}

/// One call for the way's first message. Returns whether a byte moved. If the kernel moved less than asked, it has no
/// more for now.
bool TcpBackend::advance(Way& way) {
  const std::size_t asked = way.parts[way.next].bytes;
  const ssize_t moved = call_kernel(way, MSG_DONTWAIT);
  if (moved > 0) {
    way.ready = static_cast<std::size_t>(moved) == asked;
    note_moved(way, static_cast<std::size_t>(moved));
    return true;
  }
  if (moved == 0) lost(way, "it closed the connection");
  if (errno == EAGAIN) {
    way.ready = false;
  } else if (errno != EINTR) {
    lost(way, std::strerror(errno));
  }
  return false;
}

/// Whether a byte moved on any way.
bool TcpBackend::advance_all() {
  bool moved = false;
  for (Way* way : active_) {
    if (way->ready) moved = advance(*way) || moved;
  }
  return moved;
}

void TcpBackend::wait_for_any() {
  waited_for_.clear();
  for (const Way* way : active_) {
    waited_for_.push_back({way->descriptor, static_cast<short>(way->sends ? POLLOUT : POLLIN), 0});
  }
  if (!poll_until(waited_for_, limit_ > 0 ? now() + limit_ : 0)) time_out(*active_.front());
  for (std::size_t i = 0; i < active_.size(); ++i) active_[i]->ready = waited_for_[i].revents != 0;
}

ssize_t TcpBackend::call_kernel(Way& way, int flags) const {
  const Part& part = way.parts[way.next];
  if (way.sends) return ::send(way.descriptor, part.data, part.bytes, flags | MSG_NOSIGNAL);
  return ::recv(way.descriptor, part.data, part.bytes, flags);
}

void TcpBackend::note_moved(Way& way, std::size_t bytes) {
  Part& part = way.parts[way.next];
  part.data += bytes;
  part.bytes -= bytes;
  if (part.bytes == 0) ++way.next;
}

/// The bytes still to move in this direction between the two ranks, over all streams.
std::string TcpBackend::missing(const Way& way) const {
  Bytes bytes = 0;
  for (const Way* other : active_) {
    if (other->rank != way.rank || other->sends != way.sends) continue;
    for (std::size_t i = other->next; i < other->parts.size(); ++i) bytes += other->parts[i].bytes;
  }
  return fmt::format("{} still to be {}", readable_bytes(bytes), way.sends ? "sent" : "received");
}

void TcpBackend::lost(const Way& way, const std::string& reason) const {
  const std::string& peer = peers_[static_cast<std::size_t>(way.rank)].name;
  if (abandoned_) {
    throw Error(ExitStatus::kFailure, fmt::format("tcp: gave up with {} between here and {}", missing(way), peer));
  }
  throw Error(ExitStatus::kFailure, fmt::format("tcp: lost the connection to {} with {}: {}; see that rank's messages",
                                                peer, missing(way), reason));
}

void TcpBackend::time_out(const Way& way) const {
  throw Error(ExitStatus::kTimeout,
              fmt::format("tcp: nothing moved between here and {} for {}, with {}; check that rank, or "
                          "give it more time with -T",
                          peers_[static_cast<std::size_t>(way.rank)].name, readable_seconds(limit_), missing(way)));
}

}  // namespace fabricbench::sockets
