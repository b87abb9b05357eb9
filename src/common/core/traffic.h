#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/backend.h"
#include "common/core/units.h"

namespace fabricbench {

/// Who sends how much to whom in alltoallv, as nccl-tests describes it: by distance, or by a matrix.
class Traffic {
 public:
  /// By distance. `spread` 0: every rank gets as much; 1: what a rank gets grows with its distance from the sender,
  /// and it sends itself nothing; between them, a mixture.
  explicit Traffic(double spread = 1) : spread_(spread) {}
  /// By a matrix of bytes, separated by white space, row i for what rank i sends, times `scale`. Throws UsageError,
  /// naming the line, where it is not square or has anything but numbers from 0 on.
  Traffic(std::string_view matrix, double scale);

  /// Of a matrix: the ranks it is made for; 0: any number.
  [[nodiscard]] std::size_t ranks() const { return rows_; }
  /// Why it is not for so many ranks; empty where it is.
  [[nodiscard]] std::string why_not(int ranks) const;

  /// What `from` sends to `to`, in whole elements that make whole 16 bytes. `part_bytes`: what each peer would get if
  /// all got as much; a matrix does not look at it.
  [[nodiscard]] std::uint64_t elements(int from, int to, int ranks, Bytes part_bytes, Bytes element_bytes) const;

  /// All of it as `rank` sees it.
  [[nodiscard]] Exchange exchange(int rank, int ranks, Bytes part_bytes, Bytes element_bytes) const;

 private:
  double spread_ = 1;
  std::size_t rows_ = 0;
  std::vector<Bytes> matrix_;
  Bytes busiest_ = 0;  // of the matrix: the most that any rank sends or receives
};

}  // namespace fabricbench
