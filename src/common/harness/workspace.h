#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "common/core/datatype.h"
#include "common/core/options.h"
#include "common/core/pattern_table.h"
#include "common/core/units.h"

namespace fabricbench {

/// Page-aligned host memory.
class HostBuffer {
 public:
  /// Throws Error (missing) with the figures where there is not so much memory.
  explicit HostBuffer(Bytes size);
  [[nodiscard]] std::span<std::byte> bytes() { return {memory_.get(), size_}; }

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  std::size_t size_;
  std::unique_ptr<std::byte, Free> memory_;
};

inline constexpr Bytes kGuardBytes = 4096;

/// The buffers of a run and the data that belongs in them: a pool to send from, a pool to receive into, each
/// with a guard zone behind it, and the tables of the datatype and reduction in use.
class Workspace {
 public:
  /// `pool_bytes`: the largest message, or more where the policy rotates through more.
  Workspace(Bytes pool_bytes, bool separate_buffers, std::int64_t unalign, int rank, int ranks);

  /// Makes the tables, and fills the send pool; the pattern's positions are those in the pool, so every
  /// stretch of it is data that can be sent and whose reduction is known.
  void use(DataType datatype, Reduction reduction);

  [[nodiscard]] std::span<std::byte> send() { return shifted(*send_); }
  [[nodiscard]] std::span<std::byte> recv() { return shifted(recv_); }
  [[nodiscard]] Bytes pool_bytes() const { return pool_bytes_; }
  [[nodiscard]] bool has_separate_buffers() const { return send_.has_value(); }
  [[nodiscard]] const PatternTable& sent() const { return *sent_; }
  [[nodiscard]] const PatternTable& reduced() const { return *reduced_; }
  /// What another rank sends; made anew at each call.
  [[nodiscard]] PatternTable sent_by(int rank) const;

 private:
  [[nodiscard]] std::span<std::byte> shifted(HostBuffer& buffer) const;

  Bytes pool_bytes_;
  std::int64_t unalign_;  // elements
  int rank_;
  int ranks_;
  DataType datatype_ = DataType::kFloat;
  Reduction reduction_ = Reduction::kNone;
  std::optional<HostBuffer> send_;
  HostBuffer recv_;
  std::optional<PatternTable> sent_;
  std::optional<PatternTable> reduced_;
};

/// Bytes that a rank allocates for a pool: the pool, room for the shift of -u, and the guard zone.
[[nodiscard]] Bytes allocated_bytes(Bytes pool_bytes, std::int64_t unalign);

}  // namespace fabricbench
