#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/backends/verbs/request_window.h"
#include "common/core/backend.h"
#include "common/core/error.h"
#include "common/core/memory.h"
#include "common/core/units.h"

namespace fabricbench::verbs {

/// A block of this rank's registered memory, and the other rank's corresponding block.
struct Block {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  std::uint32_t key = 0;  ///< lkey
  RemotePart remote;

  [[nodiscard]] bool holds(const std::byte* place) const { return place >= data && place < data + bytes; }
};

/// Reports a message that lies outside every block of this rank.
[[noreturn]] inline void throw_outside() {
  throw Error(ExitStatus::kFailure, "verbs: a message lies outside of registered memory");
}

/// Messages between the two ranks of a pair by one verb. For write, send and atomic the sender posts the requests; for
/// read the receiver does. The other side is passive, except that it posts receives for send and write with immediate.
/// A message goes from a place in the sender's send buffer to the same place in the receiver's receive buffer.
class VerbsBackend final : public Backend {
 public:
  /// Synchronises the two ranks; collective over them.
  using Barrier = std::function<void()>;
  /// Gives the other rank's text for this rank's; collective over the two.
  using Exchange = std::function<std::string(const std::string&)>;

  VerbsBackend(Connection& connection, const RequestWindowSettings& settings, Barrier barrier, Exchange exchange);

  void add_block(const Block& block) { blocks_.push_back(block); }
  void forget_block(const std::byte* data) noexcept {
    std::erase_if(blocks_, [data](const Block& block) { return block.data == data; });
  }
  /// For atomics: the other rank's counters, one per queue pair, and the place for the old values. Neither is one of
  /// the blocks above; both lie in `memory`, which must outlive this.
  void set_counters(const Block& counters, const Block& results, Memory& memory);
  /// For streams of writes and reads: a block of kSpread bytes for each queue pair, which short messages may use too.
  void spread_over(const Block& block) {
    window_.spread_over({block.data, static_cast<std::uint32_t>(block.bytes), block.key}, block.remote);
  }

  [[gnu::hot]] void send(const void* buffer, std::size_t count, DataType datatype, int to) override;
  [[gnu::hot]] void recv(void* buffer, std::size_t count, DataType datatype, int from) override;
  void start_send(const void* buffer, std::size_t count, DataType datatype, int to) override;
  [[gnu::hot]] void start_sends(const void* buffer, std::size_t count, DataType datatype, int to,
                                std::int64_t messages) override;
  void start_recv(void* buffer, std::size_t count, DataType datatype, int from) override;
  void start_recvs(void* buffer, std::size_t count, DataType datatype, int from, std::int64_t messages) override;
  void finish() override { window_.finish(); }
  void barrier() override { barrier_(); }
  void place_apart(const MessagePlaces& places) override { apart_ = places; }
  void prepare(std::span<const std::byte> send, std::span<std::byte> recv) override;
  void wait_for_remote_writes() override;
  [[nodiscard]] std::optional<std::vector<Arrivals>> arrivals() override { return window_.arrivals(); }
  [[nodiscard]] std::optional<Mismatch> own_mismatch() override;

  [[nodiscard]] const RequestWindow& window() const { return window_; }

 private:
  /// The numbers that the other rank gives here, where this one gives its own.
  [[nodiscard]] std::vector<std::uint64_t> of_other_rank(const std::vector<std::uint64_t>& own) const;
  /// A message's address, and the block that contains it; null if it is not registered.
  struct Buffer {
    const std::byte* base = nullptr;
    Block block;
  };

  [[nodiscard]] Buffer buffer_at(const std::byte* data) const;
  [[nodiscard]] bool takes_receives() const { return settings_.receive_depth > 0; }
  [[gnu::hot]] void start_at(const std::byte* own, Bytes bytes, const Buffer& here, const Buffer& there,
                             std::uint64_t messages = 1) {
    if (own != last_own_ || bytes != last_bytes_) return start_at_new_place(own, bytes, here, there, messages);
    window_.start_ready(messages);
  }
  [[nodiscard]] std::pair<LocalPart, RemotePart> ends_of(const std::byte* own, Bytes bytes, const Buffer& here,
                                                         const Buffer& there) const;
  void start_at_new_place(const std::byte* own, Bytes bytes, const Buffer& here, const Buffer& there,
                          std::uint64_t messages);
  [[gnu::hot]] void carry_out(const std::byte* own, Bytes bytes, const Buffer& here, const Buffer& there);
  void forget_last_byte(Bytes bytes);
  void wait_for_last_byte(const std::byte* message, Bytes bytes);

  RequestWindowSettings settings_;
  RequestWindow window_;
  Barrier barrier_;
  Exchange exchange_;
  std::vector<std::uint64_t> added_here_;  // to each counter, by the other rank, before `wait_for_remote_writes`
  std::vector<Block> blocks_;
  Block counters_;
  Block results_;
  Memory* counter_memory_ = nullptr;
  Buffer sent_;
  Buffer received_;
  std::optional<MessagePlaces> apart_;   // empty: all messages take the same place
  bool forgets_last_byte_ = false;       // before an answer that shows by it
  const std::byte* last_own_ = nullptr;  // the place of the ready requests; null: there are none
  Bytes last_bytes_ = 0;
  std::byte* recv_base_ = nullptr;
  std::byte* last_byte_ = nullptr;  // of the next message to wait for; its value is saved
  std::byte set_aside_{};
};

}  // namespace fabricbench::verbs
