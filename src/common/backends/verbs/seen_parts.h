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
#include "common/backends/verbs/seen_backend.h"
#include "common/backends/verbs/verbs_endpoint.h"
#include "common/core/buffer_source.h"
#include "common/core/reader.h"

namespace fabricbench::verbs {

/// What a session has and lends; it lives longer.
struct SeenSurroundings {
  const OpenDevice& device;
  VerbsEndpoint& endpoint;
  VerbsBackend& messages;
  BufferSource& buffers;
  const Meeting& meeting;
  FlowSettings flow{};
  int rank = 0;
  ReaderBackend::Gather gather;
  VerbsBackend::Barrier barrier;
};

/// What a session needs besides where it matters who has seen a message: the reader, or the queue pair to itself, and
/// the memory of both.
class SeenParts {
 public:
  /// Measures the reader's round trip, and makes what concerns this rank alone. Throws Error.
  SeenParts(SeenBy seen_by, std::unique_ptr<Reader> reader, SeenSurroundings around);
  ~SeenParts();
  SeenParts(const SeenParts&) = delete;
  SeenParts& operator=(const SeenParts&) = delete;

  /// Whether messages take a flag of 8 bytes, in their own memory.
  [[nodiscard]] bool takes_flag() const { return seen_by_ == SeenBy::kReader; }
  void use_flag(const Block& flag);

  /// Null where the VerbsBackend is enough.
  [[nodiscard]] SeenBackend* backend() { return backend_.get(); }
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
  SeenSurroundings around_;
  std::unique_ptr<Reader> reader_;
  Seconds round_trip_ = 0;
  std::vector<OwnBlock> blocks_;
  std::unique_ptr<std::array<std::byte, kNumberBytes>> numbers_;
  MemoryRegion numbers_region_;
  std::unique_ptr<Loopback> loopback_;
  std::unique_ptr<SeenBackend> backend_;
};

}  // namespace fabricbench::verbs
