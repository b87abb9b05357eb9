#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cluster/import/imported.h"

namespace fabricbench::cluster {

/// A row of a table of message sizes.
struct SizeRow {
  std::int64_t size_bytes = 0;
  std::int64_t line = 0;
  double rate = 0;    ///< bytes per second
  std::string wrong;  ///< what is wrong with its data; empty: nothing
};

/// What a run of a program has printed.
struct PairRun {
  std::string test;  ///< empty: nothing tells
  bool both_ways = false;
  bool backwards = false;  ///< the second host of the pair sends
  bool has_ended = false;  ///< its table is closed, so that nothing behind it counts
  std::string rail;        ///< its NIC; empty: not told
  std::string failure;     ///< as the program tells it; empty: its text may have words of failure
  std::string wrong;       ///< what is wrong with its data, of all sizes; empty: nothing
  std::vector<SizeRow> rows;
  std::optional<std::int64_t> cut_line;  ///< the row in which the file ends
  std::size_t begin = 0;                 ///< in the text
  std::size_t behind_rows = 0;           ///< in the text
};

/// Adds what the runs of a log say of the pair that the log's name tells: a reading of the largest size, wrong data of
/// any size, or a failure where there are words of failure, and neither a row nor another run of the test. A note where
/// none of these is there, and where the name does not tell the pair.
void add_pair_runs(Imported& found, const ImportSource& source, const std::vector<PairRun>& runs);

}  // namespace fabricbench::cluster
