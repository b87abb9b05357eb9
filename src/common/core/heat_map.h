// The matrix of a sweep over pairs as a picture of characters: pure functions.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/matrix_row.h"

namespace fabricbench {

/// What stands beside the name of an endpoint, and above its column.
constexpr char kNoMark = ' ';
constexpr char kSuspectMark = '?';   ///< it or another one is slow
constexpr char kUnsteadyMark = '~';  ///< slow now and then
constexpr char kSlowMark = '!';
constexpr char kDeadMark = 'x';

/// Lines next to each other, of endpoints that belong together.
struct HeatBlock {
  std::string name;
  std::size_t first = 0;
  std::size_t last = 0;  ///< one past the last line
  int level = 0;         ///< 0: the finest; blocks of a higher one hold whole blocks of those below
};

/// In which order endpoints stand on both sides of the map, what frames them, and what marks them.
struct HeatLayout {
  std::vector<std::size_t> order;  ///< endpoints, line by line; empty: as they are numbered
  std::vector<HeatBlock> blocks;
  std::string marks;  ///< by endpoint; empty: none
};

/// What is drawn: a line an endpoint that receives, a column an endpoint that sends.
struct HeatMap {
  std::span<const std::string> names;  ///< of the endpoints; at most 100, for column numbers have two digits
  std::span<const MatrixRow> receivers;
  double usual = 0;     ///< bytes per second, greater than 0: what every figure is held against
  bool colour = false;  ///< whether cells get the background colours of a terminal
  HeatLayout layout = {};
  std::string_view usual_name = "the median";  ///< for the legend
};

/// The character of a figure of so many bytes per second: `.` from 95 % to 120 % of what is usual, `+` above that, `9`
/// from 85 % on, `8` from 75 % on, and so on to `0` below 5 %; `x` where it failed (0), and a blank where none was
/// taken (not a number).
[[nodiscard]] char heat_of(double bandwidth, double usual);

/// The map's lines, each marked with `#`: the columns' numbers and marks, then a line a receiver with its number, name
/// and mark. Numbers count lines. Names are shortened in the middle, so that 64 columns fit in a line of 100
/// characters where there are no blocks. Blocks are parted by lines, and named beside their first line.
[[nodiscard]] std::string heat_map_lines(const HeatMap& map);

/// What every character of the map stands for in GB/s, and how many cells have it, then what the marks that are there
/// stand for, marked with `#`.
[[nodiscard]] std::string heat_legend_lines(const HeatMap& map);

}  // namespace fabricbench
