#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/core/datatype.h"
#include "common/core/pattern_table.h"
#include "common/core/session.h"
#include "common/core/units.h"

namespace fabricbench {

inline constexpr Bytes kGuardBytes = 4096;

/// The ranks of this process, in the numbering of the operation.
struct Ranks {
  int first = 0;  ///< the first of this process's ranks
  int local = 1;  ///< their number; they are consecutive
  int all = 1;
};

/// The data that a rank sends, for filling or checking a buffer.
struct SourceData {
  const PatternTable& table;
  std::uint64_t shift;

  [[nodiscard]] PatternPosition at(std::uint64_t position) const { return {position, shift}; }
};

/// The buffers of this process's ranks and their contents: per rank a pool to send from and a pool to receive into,
/// each with a guard zone behind it, and the tables of the current datatype and reduction.
class Workspace {
 public:
  /// `pool_bytes`: the largest message, or more if the buffers rotate through more. Collective.
  Workspace(Session& session, Bytes pool_bytes, bool separate_buffers, std::int64_t unalign, Ranks ranks);

  /// Makes the tables and fills the send pools. The pattern depends on the position in the pool, so any part of the
  /// pool can be sent, and the reduction of any part is known.
  void use(DataType datatype, Reduction reduction);

  /// Gives every rank other data from now on, for operations that only move data. The send pools keep their contents.
  void renew() { ++renewals_; }

  [[nodiscard]] std::span<std::byte> send(int local_rank) const { return shifted(*send_, local_rank); }
  [[nodiscard]] std::span<std::byte> recv(int local_rank) const { return shifted(recv_, local_rank); }
  [[nodiscard]] Bytes pool_bytes() const { return pool_bytes_; }
  [[nodiscard]] const Ranks& ranks() const { return ranks_; }
  /// The data that one of this process's ranks sends.
  [[nodiscard]] SourceData sent(int local_rank);
  /// The data that any rank sends, for operations that only move data; valid until the next call.
  [[nodiscard]] SourceData moved_from(int rank);
  [[nodiscard]] const PatternTable& reduced() const { return *reduced_; }

 private:
  [[nodiscard]] std::span<std::byte> shifted(const Buffers& buffers, int local_rank) const;

  Session& session_;
  Bytes pool_bytes_;
  std::int64_t unalign_;  // elements
  Ranks ranks_;
  DataType datatype_ = DataType::kFloat;
  bool moves_ = false;  // data is only moved
  std::uint64_t renewals_ = 0;
  std::optional<Buffers> send_;
  Buffers recv_;
  std::vector<PatternTable> sent_;  // for each of this process's ranks, or the one of their family
  std::optional<PatternTable> reduced_;
  std::optional<PatternTable> other_family_;
  std::uint64_t other_family_number_ = 0;
};

/// The bytes that a rank allocates for a pool: the pool itself, room for the shift of -u, and the guard zone.
[[nodiscard]] Bytes allocated_bytes(Bytes pool_bytes, std::int64_t unalign);

}  // namespace fabricbench
