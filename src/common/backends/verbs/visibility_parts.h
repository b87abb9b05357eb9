#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/backends/verbs/connector.h"
#include "common/backends/verbs/flow.h"
#include "common/backends/verbs/reader_backend.h"
#include "common/backends/verbs/verbs_connection.h"
#include "common/backends/verbs/visibility_backend.h"
#include "common/core/buffer_source.h"
#include "common/core/message_reader.h"

namespace fabricbench::verbs {

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
  FlushBackend(VerbsBackend& messages, Connection& loopback, const FlowSettings& settings, const LocalPart& into,
               Known known);

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
  void settle() override { messages_.settle(); }
  [[nodiscard]] std::optional<Mismatch> own_mismatch() override { return messages_.own_mismatch(); }

 private:
  VerbsBackend& messages_;
  Flow flow_;
  LocalPart into_;
  Known known_;
  const std::byte* known_at_ = nullptr;
  std::uint32_t key_ = 0;
};

/// A queue pair that is connected to itself, with which a device reads its own host's memory.
class Loopback {
 public:
  /// Uses the port and the GID of the pair's connection. Throws Error (missing).
  Loopback(const OpenDevice& device, const Meeting& meeting, bool data_direct);

  [[nodiscard]] Connection& connection() { return connection_; }
  /// The host memory that reads write to.
  [[nodiscard]] LocalPart into();
  /// Registers memory of `source` in place of the previous memory. Returns its rkey. Throws Error (missing).
  [[nodiscard]] std::uint32_t make_known(BufferSource& source, std::span<std::byte> memory);
  /// Deregisters the memory, which is about to be released.
  void forget() noexcept { known_.reset(); }

 private:
  VerbsConnection connection_;
  std::unique_ptr<std::array<std::byte, 8>> read_;
  MemoryRegion read_region_;
  MemoryRegion known_;
};

/// Parts of a session that this uses; they must outlive it.
struct VisibilitySurroundings {
  const OpenDevice& device;
  VerbsConnection& connection;
  VerbsBackend& messages;
  BufferSource& buffers;
  const Meeting& meeting;
  FlowSettings flow{};
  int rank = 0;
  ReaderBackend::Gather gather;
  VerbsBackend::Barrier barrier;
};

/// The additional parts of a session whose messages count when their consumer sees them: the reader, or the queue pair
/// that is connected to itself, and the memory of both.
class VisibilityParts {
 public:
  /// Measures the reader's round trip, and allocates what concerns this rank alone. Throws Error.
  VisibilityParts(SeenBy seen_by, std::unique_ptr<MessageReader> reader, VisibilitySurroundings around);
  ~VisibilityParts();
  VisibilityParts(const VisibilityParts&) = delete;
  VisibilityParts& operator=(const VisibilityParts&) = delete;

  /// Whether messages need a flag of 8 bytes, in their own memory.
  [[nodiscard]] bool takes_flag() const { return seen_by_ == SeenBy::kReader; }
  void use_flag(const Block& flag);

  /// Null if the VerbsBackend suffices.
  [[nodiscard]] VisibilityBackend* backend() { return backend_.get(); }
  [[nodiscard]] std::string reader() const { return reader_->description(); }
  [[nodiscard]] Seconds round_trip() const { return round_trip_; }

 private:
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
