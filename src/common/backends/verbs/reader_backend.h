#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/backends/verbs/flow.h"
#include "common/backends/verbs/visibility_backend.h"
#include "common/core/memory.h"
#include "common/core/message_reader.h"

namespace fabricbench::verbs {

/// Maximum number of requests in flight of a ReaderBackend; a message takes two.
inline constexpr int kReaderDepth = 32;
/// Bytes of registered host memory for the message numbers: a place for each request in flight and as many more, so
/// that none is overwritten while it may be retransmitted.
inline constexpr std::size_t kNumberBytes = 2 * std::size_t{kReaderDepth} * sizeof(std::uint64_t);

/// Writes between the two ranks of a pair that count once the other rank's reader has seen them. A message consists of
/// a write of its data followed by a write of its number, on one reliable queue pair. The number arrives last, in the
/// flag that the reader polls. (This requires memory
/// registered without relaxed ordering; see relaxes_pcie_order.) A
/// message of 0 bytes is its number alone.
///
/// With constant data a number that overtakes its message would go unnoticed. So messages alternate between the
/// harness's data (even numbers) and its complement (odd numbers), and the reader compares some with the sum of such a
/// message: all of a rehearsal before each visit, and one in 1,021 later.
class ReaderBackend final : public VisibilityBackend {
 public:
  /// Gathers both ranks' texts, by rank, on both; collective over the pair.
  using Gather = std::function<std::vector<std::string>(const std::string&)>;
  /// Allocates a block in the messages' memory that is registered with the device; the other rank does not learn of it.
  using MakeBlock = std::function<LocalPart(std::size_t bytes)>;

  /// Its components, all of which must outlive it.
  struct Parts {
    Connection& connection;
    MessageReader& reader;
    Memory& memory;  ///< of messages and of the flag
    int rank = 0;
    Gather gather;
    VerbsBackend::Barrier barrier;
    MakeBlock make_block;
    Block flag;           ///< 8 bytes in the messages' memory, initially 0
    LocalPart numbers;    ///< kNumberBytes in host memory
    bool on_host = true;  ///< whether the processor can access the messages' memory
  };

  ReaderBackend(Parts parts, const FlowSettings& settings);
  ~ReaderBackend() override;

  void add_block(const Block& block) override { blocks_.push_back(block); }
  void forget_block(const std::byte* data) noexcept override;
  void abandon() noexcept override;

  void send(const void* buffer, std::size_t count, DataType datatype, int to) override;
  void recv(void* buffer, std::size_t count, DataType datatype, int from) override;
  void start_send(const void* buffer, std::size_t count, DataType datatype, int to) override {
    send(buffer, count, datatype, to);
  }
  void start_recv(void* buffer, std::size_t count, DataType datatype, int from) override {
    recv(buffer, count, datatype, from);
  }
  void finish() override { flow_.finish(); }
  void barrier() override { parts_.barrier(); }
  void announce(std::size_t message_bytes) override;
  void prepare(std::span<const std::byte> send, std::span<std::byte> recv) override;
  void settle() override;
  [[nodiscard]] std::optional<Mismatch> own_mismatch() override;

 private:
  [[nodiscard]] const Block& block_of(const std::byte* data) const;
  [[nodiscard]] TwinSums sums_of_other(const TwinSums& own);
  void exchange(int messages);
  void wait_for_reader();
  void look(Seconds since);
  void stop_reading();
  void let_reader_go() noexcept;

  Parts parts_;
  FlowSettings settings_;
  Flow flow_;
  std::vector<Block> blocks_;
  std::size_t bytes_ = 0;  // of each message
  const std::byte* send_base_ = nullptr;
  std::uint32_t send_key_ = 0;
  RemotePart target_;  // the other rank's receive buffer
  LocalPart twin_;
  ReaderTask task_;
  ReaderFindings found_;          // since prepare
  std::uint64_t sent_ = 0;        // number of the last message to the other rank
  std::uint64_t received_ = 0;    // number of the last message waited for
  std::uint64_t visit_from_ = 0;  // number of the first message since prepare
  std::atomic<bool> abandoned_ = false;
};

}  // namespace fabricbench::verbs
