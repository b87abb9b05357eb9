#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/backend.h"
#include "common/core/units.h"

namespace fabricbench {

/// The amount that each rank sends to each other rank in alltoallv, as nccl-tests describes it: by distance, or by a
/// matrix.
class Traffic {
 public:
  /// By distance. `spread` 0: every rank gets the same; 1: the amount grows with the distance from the sender, which
  /// sends nothing to itself; in between: a mixture.
  explicit Traffic(double spread = 1) : spread_(spread) {}
  /// By a matrix of bytes times `scale`. Values are separated by white space; row i lists what rank i sends. Throws
  /// UsageError with the line if the matrix is not square or has anything but numbers of at least 0.
  Traffic(std::string_view matrix, double scale);

  /// Number of ranks of a matrix; 0: any number.
  [[nodiscard]] std::size_t ranks() const { return rows_; }
  /// Why it does not suit this number of ranks; empty if it does.
  [[nodiscard]] std::string why_not(int ranks) const;

  /// The amount that `from` sends to `to`, in whole elements that make up whole 16 bytes. `part_bytes`: each peer's
  /// part if all were equal; a matrix ignores it.
  [[nodiscard]] std::uint64_t elements(int from, int to, int ranks, Bytes part_bytes, Bytes element_bytes) const;

  /// The whole exchange as `rank` sees it.
  [[nodiscard]] AllToAllVCounts counts(int rank, int ranks, Bytes part_bytes, Bytes element_bytes) const;

 private:
  double spread_ = 1;
  std::size_t rows_ = 0;
  std::vector<Bytes> matrix_;
  Bytes busiest_ = 0;  // of the matrix: the most that any rank sends or receives
};

}  // namespace fabricbench
