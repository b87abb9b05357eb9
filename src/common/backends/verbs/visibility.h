#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "common/backends/verbs/connector.h"
#include "common/backends/verbs/request_window.h"
#include "common/backends/verbs/verbs_backend.h"
#include "common/backends/verbs/verbs_connection.h"
#include "common/core/backend.h"
#include "common/core/memory.h"
#include "common/core/message_reader.h"
#include "common/core/ownership.h"

namespace fabricbench::verbs {

/// A host thread in place of a GPU.
class HostReader final : public MessageReader {
 public:
  ~HostReader() override;

  [[nodiscard]] std::string description() const override { return "a thread of the host"; }

 private:
  [[nodiscard]] ReaderWords& words() const override { return *words_; }
  [[nodiscard]] std::uint64_t* asked() const override { return &words_->asked; }
  void launch(const ReaderTask& task) override;
  void join() override;

  std::unique_ptr<ReaderWords> words_ = std::make_unique<ReaderWords>();
  std::thread thread_;
};

/// Messages that count when their consumer can see them; replaces a session's own VerbsBackend.
class VisibilityBackend : public Backend {
 public:
  virtual void add_block(const Block& block) = 0;
  /// Stops all use of a block that is about to be released.
  virtual void forget_block(const std::byte* data) noexcept = 0;
  /// Gives up the messages in flight; from any thread.
  virtual void abandon() noexcept {}
};

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
/// message: all of a warm-up before each visit, and one in 1,021 later.
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

  ReaderBackend(Parts parts, const RequestWindowSettings& settings);
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
  void finish() override { window_.finish(); }
  void barrier() override { parts_.barrier(); }
  void announce(std::size_t message_bytes) override;
  void prepare(std::span<const std::byte> send, std::span<std::byte> recv) override;
  void wait_for_remote_writes() override;
  [[nodiscard]] std::optional<Mismatch> own_mismatch() override;

 private:
  [[nodiscard]] const Block& block_of(const std::byte* data) const;
  [[nodiscard]] ComplementSums sums_of_other(const ComplementSums& own);
  void exchange(int messages);
  void wait_for_reader();
  void look(Seconds since);
  void stop_reading();
  void let_reader_go() noexcept;

  Parts parts_;
  RequestWindowSettings settings_;
  RequestWindow window_;
  std::vector<Block> blocks_;
  std::size_t bytes_ = 0;  // of each message
  const std::byte* send_base_ = nullptr;
  std::uint32_t send_key_ = 0;
  RemotePart target_;  // the other rank's receive buffer
  LocalPart complement_;
  ReaderTask task_;
  ReaderFindings found_;          // since prepare
  std::uint64_t sent_ = 0;        // number of the last message to the other rank
  std::uint64_t received_ = 0;    // number of the last message waited for
  std::uint64_t visit_from_ = 0;  // number of the first message since prepare
  std::atomic<bool> abandoned_ = false;
};

/// Messages of a VerbsBackend that count once the completion of the receive has been followed by a read of the
/// message's last bytes through the device. The read cannot overtake the device's earlier writes to memory, so the
/// consumer of the message may then use it.
class FlushBackend final : public VisibilityBackend {
 public:
  /// The functions that register a receive buffer with `loopback` in place of the previous one, returning its key, and
  /// that deregister it before its memory is released.
  struct Known {
    std::function<std::uint32_t(std::span<std::byte> recv)> make;
    std::function<void()> forget;
  };

  /// `loopback`: a queue pair of the same device that is connected to itself. `into`: 8 bytes of host memory registered
  /// with it. Both must outlive this object.
  FlushBackend(VerbsBackend& messages, Connection& loopback, const RequestWindowSettings& settings,
               const LocalPart& into, Known known);

  void add_block(const Block& /*block*/) override {}  // the VerbsBackend has them
  void forget_block(const std::byte* data) noexcept override;

  void send(const void* buffer, std::size_t count, DataType datatype, int to) override {
    messages_.send(buffer, count, datatype, to);
  }
  void recv(void* buffer, std::size_t count, DataType datatype, int from) override;
  void start_send(const void* buffer, std::size_t count, DataType datatype, int to) override {
    messages_.start_send(buffer, count, datatype, to);
  }
  void start_recv(void* buffer, std::size_t count, DataType datatype, int from) override {
    messages_.start_recv(buffer, count, datatype, from);
  }
  void finish() override { messages_.finish(); }
  void barrier() override { messages_.barrier(); }
  void prepare(std::span<const std::byte> send, std::span<std::byte> recv) override;
  void wait_for_remote_writes() override { messages_.wait_for_remote_writes(); }
  [[nodiscard]] std::optional<Mismatch> own_mismatch() override { return messages_.own_mismatch(); }

 private:
  VerbsBackend& messages_;
  RequestWindow window_;
  LocalPart into_;
  Known known_;
  const std::byte* known_at_ = nullptr;
  std::uint32_t key_ = 0;
};

/// Parts of a session that this uses; they must outlive it.
struct VisibilitySurroundings {
  const OpenDevice& device;
  VerbsConnection& connection;
  VerbsBackend& messages;
  BufferSource& buffers;
  const NegotiatedSettings& negotiated;
  RequestWindowSettings window{};
  int rank = 0;
  ReaderBackend::Gather gather;
  VerbsBackend::Barrier barrier;
};

/// The additional parts of a session whose messages count when their consumer sees them: the reader, or the queue pair
/// that is connected to itself, and the memory of both.
class VisibilityParts : NotCopied {
 public:
  /// Measures the reader's round trip, and allocates what concerns this rank alone. Throws Error.
  VisibilityParts(SeenBy seen_by, std::unique_ptr<MessageReader> reader, VisibilitySurroundings around);
  ~VisibilityParts();

  /// Whether messages need a flag of 8 bytes, in their own memory.
  [[nodiscard]] bool takes_flag() const { return seen_by_ == SeenBy::kReader; }
  void use_flag(const Block& flag);

  /// Null if the VerbsBackend suffices.
  [[nodiscard]] VisibilityBackend* backend() { return backend_.get(); }
  [[nodiscard]] std::string reader() const { return reader_->description(); }
  [[nodiscard]] Seconds round_trip() const { return round_trip_; }

 private:
  /// A queue pair that is connected to itself, with which a device reads its own host's memory.
  class Loopback;
  struct OwnBlock {
    std::byte* data;
    MemoryRegion region;
  };

  void open_flush();
  [[nodiscard]] LocalPart make_block(std::size_t bytes);

  SeenBy seen_by_;
  VisibilitySurroundings around_;
  std::unique_ptr<MessageReader> reader_;
  Seconds round_trip_ = 0;
  std::vector<OwnBlock> blocks_;
  std::unique_ptr<std::array<std::byte, kNumberBytes>> numbers_;
  MemoryRegion numbers_region_;
  std::unique_ptr<Loopback> loopback_;
  std::unique_ptr<VisibilityBackend> backend_;
};

}  // namespace fabricbench::verbs
