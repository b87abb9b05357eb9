#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/core/datatype.h"
#include "common/core/pattern_table.h"
#include "common/core/units.h"

namespace fabricbench {

/// Who gets how much of whom in an all-to-all of unequal parts, as one rank sees it: a count and an offset for
/// every peer, in elements.
struct Exchange {
  std::vector<std::uint64_t> send_counts;
  std::vector<std::uint64_t> send_offsets;
  std::vector<std::uint64_t> recv_counts;
  std::vector<std::uint64_t> recv_offsets;
  /// Elements that lie in the largest buffer of any rank; the same on every rank.
  std::uint64_t busiest = 0;
};

/// One side each of a message sent and a message received at the same time.
struct Partners {
  int to;
  int from;
};

/// One rank's end of the library being measured: a method for each primitive. A method starts the operation
/// and may return before it has completed; Session::wait returns when it has. Counts are elements and may
/// exceed 2^31. `send` and `recv` lie as Collective::in_place says where they are parts of one buffer.
/// Problems throw Error.
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  /// Reduces `count` elements of every rank's `send` into every rank's `recv`.
  virtual void all_reduce(const void* send, void* recv, std::size_t count, DataType datatype, Reduction reduction) = 0;
  /// Puts every rank's `count` elements one behind the other, by rank, into every rank's `recv`.
  virtual void all_gather(const void* send, void* recv, std::size_t count, DataType datatype) = 0;
  /// Reduces blocks of `count` elements, one for each rank, and leaves a rank's own block in its `recv`.
  virtual void reduce_scatter(const void* send, void* recv, std::size_t count, DataType datatype,
                              Reduction reduction) = 0;
  /// Carries the root's `send` to every rank's `recv`.
  virtual void broadcast(const void* send, void* recv, std::size_t count, DataType datatype, int root) = 0;
  /// Reduces every rank's `send` into the root's `recv`.
  virtual void reduce(const void* send, void* recv, std::size_t count, DataType datatype, Reduction reduction,
                      int root) = 0;
  /// Carries block j of rank i's `send` to block i of rank j's `recv`; a block has `count` elements.
  virtual void all_to_all(const void* send, void* recv, std::size_t count, DataType datatype) = 0;
  /// The same with the parts that `exchange` lists.
  virtual void all_to_all_v(const void* send, void* recv, const Exchange& exchange, DataType datatype) = 0;
  /// Puts every rank's `count` elements one behind the other, by rank, into the root's `recv`.
  virtual void gather(const void* send, void* recv, std::size_t count, DataType datatype, int root) = 0;
  /// Carries block i of the root's `send` to rank i's `recv`.
  virtual void scatter(const void* send, void* recv, std::size_t count, DataType datatype, int root) = 0;
  /// Sends to one rank and receives from another, or the same, at once; `count` elements both ways.
  virtual void send_recv(const void* send, void* recv, std::size_t count, DataType datatype, Partners partners) = 0;

  /// Sends a message to a rank, or receives the next one from it. What is started later happens later.
  virtual void send(const void* buffer, std::size_t count, DataType datatype, int to) = 0;
  virtual void recv(void* buffer, std::size_t count, DataType datatype, int from) = 0;
  /// The same with several messages under way at once. `buffer` is in use until `finish`.
  virtual void start_send(const void* buffer, std::size_t count, DataType datatype, int to) = 0;
  virtual void start_recv(void* buffer, std::size_t count, DataType datatype, int from) = 0;
  /// What is started later happens after all messages under way have arrived.
  virtual void finish() = 0;
  /// The same by a moment of core's clock. False where messages are still under way then: they stay so, and their
  /// buffers in use. A library that cannot give up waits as long as its Session's time limit says.
  [[nodiscard]] virtual bool finish_by(Seconds /*deadline*/) {
    finish();
    return true;
  }
  /// Waits for those that this rank receives; `finish` is still to be called. False where the library cannot tell
  /// them from the others, and nothing was waited for.
  virtual bool finish_receiving() { return false; }

  /// Called on every rank before its buffers are made ready, with what each message of the operations that follow has,
  /// where they are messages between two ranks.
  virtual void announce(std::size_t /*message_bytes*/) {}
  /// Called on every rank where its buffers are ready for operations, before the first of them.
  virtual void prepare(std::span<const std::byte> /*send*/, std::span<std::byte> /*recv*/) {}
  /// Called on every rank behind the last of them, before data are looked at. Where ranks write into others' memory, it
  /// returns when they no longer do.
  virtual void settle() {}
  /// What is wrong, since `prepare`, with what operations leave outside of buffers; after `settle`.
  [[nodiscard]] virtual std::optional<Mismatch> own_mismatch() { return std::nullopt; }

  /// Copies within this rank's memory, in order with the operations.
  virtual void copy(const void* from, void* into, std::size_t bytes) = 0;
  /// Completes on no rank before every rank has started it.
  virtual void barrier() = 0;
};

/// A library that carries messages between two ranks and knows no collective: asked for one, it throws Error (missing).
class MessagesOnly : public Backend {
 public:
  void all_reduce(const void* send, void* recv, std::size_t count, DataType datatype, Reduction reduction) final;
  void all_gather(const void* send, void* recv, std::size_t count, DataType datatype) final;
  void reduce_scatter(const void* send, void* recv, std::size_t count, DataType datatype, Reduction reduction) final;
  void broadcast(const void* send, void* recv, std::size_t count, DataType datatype, int root) final;
  void reduce(const void* send, void* recv, std::size_t count, DataType datatype, Reduction reduction, int root) final;
  void all_to_all(const void* send, void* recv, std::size_t count, DataType datatype) final;
  void all_to_all_v(const void* send, void* recv, const Exchange& exchange, DataType datatype) final;
  void gather(const void* send, void* recv, std::size_t count, DataType datatype, int root) final;
  void scatter(const void* send, void* recv, std::size_t count, DataType datatype, int root) final;
  void send_recv(const void* send, void* recv, std::size_t count, DataType datatype, Partners partners) final;
  void copy(const void* from, void* into, std::size_t bytes) final;
};

}  // namespace fabricbench
