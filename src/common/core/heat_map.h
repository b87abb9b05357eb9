// The matrix of a sweep over pairs as a picture of characters: pure functions.
#pragma once

#include <span>
#include <string>

#include "common/core/matrix_row.h"

namespace fabricbench {

/// What is drawn: a line an endpoint that receives, a column an endpoint that sends.
struct HeatMap {
  std::span<const std::string> names;  ///< of the endpoints; at most 100, for column numbers have two digits
  std::span<const MatrixRow> receivers;
  double usual = 0;     ///< bytes per second, greater than 0: what every figure is held against
  bool colour = false;  ///< whether cells get the background colours of a terminal
};

/// The character of a figure of so many bytes per second: `.` from 95 % to 120 % of what is usual, `+` above that, `9`
/// from 85 % on, `8` from 75 % on, and so on to `0` below 5 %; `x` where it failed (0), and a blank where none was
/// taken (not a number).
[[nodiscard]] char heat_of(double bandwidth, double usual);

/// The map's lines, each marked with `#`: the columns' numbers, then a line a receiver with its number and name. Names
/// are shortened in the middle, so that 64 columns fit in a line of 100 characters.
[[nodiscard]] std::string heat_map_lines(const HeatMap& map);

/// What every character of the map stands for in GB/s, and how many cells have it, marked with `#`.
[[nodiscard]] std::string heat_legend_lines(const HeatMap& map);

}  // namespace fabricbench
