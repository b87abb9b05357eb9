#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/backends/verbs/connector.h"
#include "common/backends/verbs/flush_backend.h"
#include "common/backends/verbs/loopback.h"
#include "common/backends/verbs/reader_backend.h"
#include "common/backends/verbs/verbs_connection.h"
#include "common/backends/verbs/visibility_backend.h"
#include "common/core/buffer_source.h"
#include "common/core/message_reader.h"

namespace fabricbench::verbs {

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
