#pragma once

#include <cstddef>
#include <vector>

#include "common/record/row.h"

namespace fabricbench {

/// Collects the rows that several pairs report for one case, in any order.
class PairRows {
 public:
  explicit PairRows(std::size_t pairs = 1) : pairs_(pairs) {}

  /// Adds a measured row. Returns the rows of its case, by pair, if this was the last of them; else none.
  [[nodiscard]] std::vector<Row> add(Row row);
  /// Removes and returns the incomplete cases: the rows of each, by pair.
  [[nodiscard]] std::vector<std::vector<Row>> take_rest();

 private:
  std::size_t pairs_;
  std::vector<std::vector<Row>> pending_;  // one element per case
};

}  // namespace fabricbench
