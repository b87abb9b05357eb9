#pragma once

#include <cstddef>
#include <vector>

#include "common/record/row.h"

namespace fabricbench {

/// Brings together what several pairs report of one case, in whatever order their rows come.
class PairRows {
 public:
  explicit PairRows(std::size_t pairs = 1) : pairs_(pairs) {}

  /// Takes a row that was measured. The rows of its case, by pair, where this was the last of them; else none.
  [[nodiscard]] std::vector<Row> add(Row row);
  /// Gives away what not every pair has reported: the rows of each case, by pair.
  [[nodiscard]] std::vector<std::vector<Row>> take_rest();

 private:
  std::size_t pairs_;
  std::vector<std::vector<Row>> pending_;  // of one case each
};

}  // namespace fabricbench
