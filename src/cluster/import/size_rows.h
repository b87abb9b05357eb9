#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cluster/import/imported.h"

namespace fabricbench::cluster {

/// A row of a table of message sizes.
struct SizeRow {
  std::int64_t size_bytes = 0;
  std::int64_t line = 0;
  double rate = 0;     ///< bytes per second
  std::string reason;  ///< why it is none; empty: it is one
};

/// What a log of one pair, which its name tells, has in its table.
struct PairLog {
  std::string test;  ///< empty: nothing tells
  bool both_ways = false;
  bool backwards = false;  ///< the second host of the name sends
  std::vector<SizeRow> rows;
  std::size_t behind_rows = 0;  ///< in the text

  void add_row(SizeRow row, std::size_t end) {
    rows.push_back(std::move(row));
    behind_rows = end;
  }
};

/// Adds a reading of the largest size, or a failed one where there is no row or the program broke off behind the last
/// one. A note where the name of the file does not tell the pair.
void add_pair_log(Imported& found, const ImportSource& source, const PairLog& log);

}  // namespace fabricbench::cluster
