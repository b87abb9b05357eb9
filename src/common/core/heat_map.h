// The matrix of a sweep over pairs, drawn with characters: pure functions.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fabricbench {

/// One line of a sweep's matrix: what an endpoint received from every other endpoint.
struct MatrixRow {
  int receiver = 0;
  /// Last reading of each sender in bytes per second; 0: it failed; not a number: no reading.
  std::vector<float> bandwidths;
};

/// Marks beside the name of an endpoint and above its column.
constexpr char kNoMark = ' ';
constexpr char kSuspectMark = '?';   ///< this endpoint or another one is slow
constexpr char kUnsteadyMark = '~';  ///< slow from time to time
constexpr char kSlowMark = '!';
constexpr char kDeadMark = 'x';

/// A range of lines of endpoints that belong together.
struct HeatBlock {
  std::string name;
  std::size_t first = 0;
  std::size_t last = 0;  ///< one past the last line
  int level = 0;         ///< 0: the finest; a block of a higher level holds whole blocks of the lower ones
};

/// The order, frames and marks of the endpoints, the same on both sides of the map.
struct HeatLayout {
  std::vector<std::size_t> order;  ///< endpoints in line order; empty: in numerical order
  std::vector<HeatBlock> blocks;
  std::string marks;  ///< by endpoint; empty: none
};

/// The map to draw: a line per receiver, a column per sender.
struct HeatMap {
  std::span<const std::string> names;  ///< of the endpoints; at most 100, because column numbers have two digits
  std::span<const MatrixRow> receivers;
  double usual = 0;     ///< reference bandwidth in bytes per second, greater than 0
  bool colour = false;  ///< whether to use a terminal's background colours
  HeatLayout layout = {};
  std::string_view usual_name = "the median";  ///< name of the reference, for the legend
};

/// The character for a bandwidth in bytes per second: `.` from 95 % to 120 % of the reference, `+` above that, `9` from
/// 85 %, `8` from 75 %, and so on down to `0` below 5 %; `x` for a failed reading (0), and a blank for no reading (not
/// a number).
[[nodiscard]] char heat_of(double bandwidth, double usual);

/// The lines of the map, each starting with `#`: the column numbers and marks, then a line per receiver with its
/// number, name and mark. Numbers count lines. Long names are shortened in the middle, so that 64 columns without
/// blocks fit in 100 characters. Lines separate the blocks, whose names stand beside their first line.
[[nodiscard]] std::string heat_map_lines(const HeatMap& map);

/// The legend, each line starting with `#`: the range in GB/s and the number of cells of each character, then the
/// meaning of the marks in use.
[[nodiscard]] std::string heat_legend_lines(const HeatMap& map);

}  // namespace fabricbench
