#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/core/datatype.h"
#include "common/core/ownership.h"
#include "common/core/pattern_table.h"
#include "common/core/units.h"

namespace fabricbench {

/// One rank's part of an all-to-all with unequal parts: a count and an offset for every peer, in elements.
struct AllToAllVCounts {
  std::vector<std::uint64_t> send_counts;
  std::vector<std::uint64_t> send_offsets;
  std::vector<std::uint64_t> recv_counts;
  std::vector<std::uint64_t> recv_offsets;
  /// Elements in the largest buffer of any rank; the same on every rank.
  std::uint64_t busiest = 0;
};

/// How messages lie in a rank's buffers where each has a place of its own: the first at the beginning, the others
/// behind it in the order in which they are started.
struct MessagePlaces {
  std::size_t bytes = 0;       ///< of a message
  std::size_t distance = 0;    ///< from the beginning of one place to that of the next
  std::uint64_t number = 0;    ///< of places; at least as many as messages
  std::uint64_t received = 0;  ///< messages that this rank will receive
};

/// Messages that arrived at this rank: `messages` from number `message` on, in the places from `place` on. Numbers are
/// from 0, in the order in which the sender started them.
struct Arrivals {
  std::uint64_t message = 0;
  std::uint64_t place = 0;
  std::uint64_t messages = 0;
};

/// The two peers of a rank that sends and receives at the same time.
struct Partners {
  int to;
  int from;
};

/// One rank's end of the library being measured: a method for each primitive, here of messages. A method starts the
/// operation and may return before it has completed; Session::wait returns once it has. Counts are elements and may
/// exceed 2^31. Where `send` and `recv` are parts of one buffer, Test::in_place says which. Problems throw Error.
class Backend : public InterfaceBase {
 public:
  /// Sends a message to a rank, or receives the next one from it. Messages keep the order in which they were started.
  virtual void send(const void* buffer, std::size_t count, DataType datatype, int to) = 0;
  virtual void recv(void* buffer, std::size_t count, DataType datatype, int from) = 0;
  /// The same with several messages in flight at once. `buffer` is in use until `finish`.
  virtual void start_send(const void* buffer, std::size_t count, DataType datatype, int to) = 0;
  virtual void start_recv(void* buffer, std::size_t count, DataType datatype, int from) = 0;
  /// The same for several equal messages.
  virtual void start_sends(const void* buffer, std::size_t count, DataType datatype, int to, std::int64_t messages) {
    for (std::int64_t i = 0; i < messages; ++i) start_send(buffer, count, datatype, to);
  }
  virtual void start_recvs(void* buffer, std::size_t count, DataType datatype, int from, std::int64_t messages) {
    for (std::int64_t i = 0; i < messages; ++i) start_recv(buffer, count, datatype, from);
  }
  /// Waits until all messages in flight have arrived, before anything started later.
  virtual void finish() = 0;
  /// The same with a deadline on core's clock. Returns false if messages are still in flight then; they stay so, and
  /// their buffers stay in use. A library that cannot give up waits for the time limit of its Session.
  [[nodiscard]] virtual bool finish_by(Seconds /*deadline*/) {
    finish();
    return true;
  }
  /// Waits for the messages that this rank receives; `finish` must still be called. Returns false, without waiting, if
  /// the library cannot tell received messages from sent ones.
  virtual bool finish_receiving() { return false; }

  /// Called on every rank before its buffers are prepared, with the size of each message of the operations that follow.
  /// Only for messages between two ranks.
  virtual void announce(std::size_t /*message_bytes*/) {}
  /// Called on every rank before `prepare` if each message of the operations that follow has a place of its own. Only
  /// for messages between two ranks, as many of them as were announced.
  virtual void place_apart(const MessagePlaces& /*places*/) {}
  /// Called on every rank when its buffers are ready, before the first operation.
  virtual void prepare(std::span<const std::byte> /*send*/, std::span<std::byte> /*recv*/) {}
  /// Called on every rank after the last operation, before the data are checked. Where ranks write into each other's
  /// memory, it returns once all such writes have ended.
  virtual void wait_for_remote_writes() {}
  /// An error in results that operations leave outside the buffers, since `prepare`. Valid after
  /// `wait_for_remote_writes`.
  [[nodiscard]] virtual std::optional<Mismatch> own_mismatch() { return std::nullopt; }

  /// What arrived since `prepare`, for messages with places of their own; valid after `wait_for_remote_writes`. Empty:
  /// each message, at its own place. Messages may be missing if the library may lose them, and lie anywhere if it
  /// chooses their places.
  [[nodiscard]] virtual std::optional<std::vector<Arrivals>> arrivals() { return std::nullopt; }

  /// Completes on no rank before every rank has started it.
  virtual void barrier() = 0;
};

/// The same of a library that has collectives.
class CollectiveBackend : public Backend {
 public:
  /// Reduces `count` elements of every rank's `send` into every rank's `recv`.
  virtual void all_reduce(const void* send, void* recv, std::size_t count, DataType datatype, Reduction reduction) = 0;
  /// Concatenates every rank's `count` elements, in rank order, in every rank's `recv`.
  virtual void all_gather(const void* send, void* recv, std::size_t count, DataType datatype) = 0;
  /// Reduces blocks of `count` elements, one for each rank, and leaves each rank's own block in its `recv`.
  virtual void reduce_scatter(const void* send, void* recv, std::size_t count, DataType datatype,
                              Reduction reduction) = 0;
  /// Copies the root's `send` to every rank's `recv`.
  virtual void broadcast(const void* send, void* recv, std::size_t count, DataType datatype, int root) = 0;
  /// Reduces every rank's `send` into the root's `recv`.
  virtual void reduce(const void* send, void* recv, std::size_t count, DataType datatype, Reduction reduction,
                      int root) = 0;
  /// Copies block j of rank i's `send` to block i of rank j's `recv`; a block has `count` elements.
  virtual void all_to_all(const void* send, void* recv, std::size_t count, DataType datatype) = 0;
  /// The same with the parts that `counts` lists.
  virtual void all_to_all_v(const void* send, void* recv, const AllToAllVCounts& counts, DataType datatype) = 0;
  /// Concatenates every rank's `count` elements, in rank order, in the root's `recv`.
  virtual void gather(const void* send, void* recv, std::size_t count, DataType datatype, int root) = 0;
  /// Copies block i of the root's `send` to rank i's `recv`.
  virtual void scatter(const void* send, void* recv, std::size_t count, DataType datatype, int root) = 0;
  /// Sends to one rank and receives from another (or the same one) at the same time, `count` elements each way.
  virtual void send_recv(const void* send, void* recv, std::size_t count, DataType datatype, Partners partners) = 0;

  /// Copies within this rank's memory, in order with the operations.
  virtual void copy(const void* from, void* into, std::size_t bytes) = 0;
};

/// `backend` of a library that has collectives; a cast for the time between two clock reads, so it is checked by an
/// assertion alone.
[[nodiscard]] inline CollectiveBackend& collectives(Backend& backend) {
  assert(dynamic_cast<CollectiveBackend*>(&backend) != nullptr);
  return static_cast<CollectiveBackend&>(backend);
}

}  // namespace fabricbench
