#include "common/core/heat_map.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>

#include <fmt/format.h>

#include "common/core/plain_text.h"
#include "common/core/units.h"

namespace fabricbench {
namespace {

constexpr char kFailed = 'x';
constexpr char kNotTaken = ' ';
constexpr char kItself = '\\';
constexpr char kFast = '+';
constexpr char kUsual = '.';

constexpr double kFastShare = 1.2;
constexpr double kLeastUsualShare = 0.95;

constexpr std::size_t kLongestName = 28;       // with 64 columns, a line then has 100 characters
constexpr std::size_t kLeastLinesOfBlock = 3;  // on average; smaller blocks would hide the figures behind their frames

/// A row of the legend: the range of shares of the reference that a character stands for. Best first.
struct Shade {
  char character;
  double least;  ///< inclusive
  double most;   ///< exclusive; 0: no limit
  int colour;    ///< background, one of a terminal's 256; 0: none
  bool light;    ///< whether the character is white instead of black
};

struct Mark {
  char character;
  std::string_view meaning;
};

constexpr std::array<Mark, 4> kMarks = {
    {{kSlowMark, "slow"}, {kDeadMark, "dead"}, {kUnsteadyMark, "slow now and then"}, {kSuspectMark, "suspect"}}};

/// Good cells are dark and quiet; worse cells stand out more. Neighbouring shades differ in more than hue, and the
/// characters carry the same information for readers who do not see colours.
constexpr std::array<Shade, 12> kShades = {{{kFast, kFastShare, 0, 25, true},
                                            {kUsual, kLeastUsualShare, kFastShare, 22, true},
                                            {'9', 0.85, 0.95, 28, true},
                                            {'8', 0.75, 0.85, 106, false},
                                            {'7', 0.65, 0.75, 148, false},
                                            {'6', 0.55, 0.65, 226, false},
                                            {'5', 0.45, 0.55, 220, false},
                                            {'4', 0.35, 0.45, 214, false},
                                            {'3', 0.25, 0.35, 208, false},
                                            {'2', 0.15, 0.25, 202, false},
                                            {'1', 0.05, 0.15, 196, true},
                                            {'0', 0, 0.05, 160, true}}};
constexpr Shade kFailedShade = {kFailed, 0, 0, 201, false};

const Shade* shade_of(char character) {
  if (character == kFailed) return &kFailedShade;
  const auto* found =
      std::find_if(kShades.begin(), kShades.end(), [&](const Shade& shade) { return shade.character == character; });
  return found == kShades.end() ? nullptr : found;
}

/// The escape sequence for the colours of a character.
std::string switched_to(const Shade* shade) {
  if (shade == nullptr) return "\x1b[0m";
  return fmt::format("\x1b[38;5;{};48;5;{}m", shade->light ? 231 : 16, shade->colour);
}

/// The characters in colour, with an escape sequence only where the colour changes.
std::string painted(std::string_view characters) {
  std::string text;
  const Shade* current = nullptr;
  for (const char character : characters) {
    const Shade* shade = shade_of(character);
    if (shade != current) text += switched_to(shade);
    current = shade;
    text += character;
  }
  return current == nullptr ? text : text + switched_to(nullptr);
}

/// The arrangement of a map.
struct Grid {
  std::vector<std::size_t> order;      // endpoints in line order
  std::vector<const MatrixRow*> rows;  // in line order; null: no readings
  std::vector<std::size_t> cuts;       // lines before which a block begins or after which one ends, ascending
  int level = 0;                       // level of the finest blocks drawn
};

/// The finest level whose blocks are large enough to draw; one above all levels if there is none.
int level_drawn(const HeatLayout& layout, std::size_t lines) {
  for (int level = 0;; ++level) {
    const auto blocks = std::count_if(layout.blocks.begin(), layout.blocks.end(),
                                      [&](const HeatBlock& block) { return block.level == level; });
    if (kLeastLinesOfBlock * static_cast<std::size_t>(blocks) <= lines) return level;
  }
}

Grid grid_of(const HeatMap& map) {
  Grid grid;
  grid.order = map.layout.order;
  if (grid.order.empty()) {
    grid.order.resize(map.names.size());
    std::iota(grid.order.begin(), grid.order.end(), 0U);
  }
  std::vector<const MatrixRow*> by_endpoint(map.names.size(), nullptr);
  for (const MatrixRow& row : map.receivers) by_endpoint[static_cast<std::size_t>(row.receiver)] = &row;
  for (const std::size_t endpoint : grid.order) grid.rows.push_back(by_endpoint[endpoint]);
  grid.level = level_drawn(map.layout, grid.order.size());
  for (const HeatBlock& block : map.layout.blocks) {
    if (block.level >= grid.level) grid.cuts.insert(grid.cuts.end(), {block.first, block.last});
  }
  std::sort(grid.cuts.begin(), grid.cuts.end());
  grid.cuts.erase(std::unique(grid.cuts.begin(), grid.cuts.end()), grid.cuts.end());
  std::erase_if(grid.cuts, [&](std::size_t line) { return line == 0 || line == grid.order.size(); });
  return grid;
}

std::string cells_of(const Grid& grid, std::size_t line, double usual) {
  std::string cells;
  cells.reserve(grid.order.size());
  for (const std::size_t sender : grid.order) cells += heat_of(grid.rows[line]->bandwidths[sender], usual);
  cells[line] = kItself;
  return cells;
}

/// One character per column, with separators between blocks.
std::string parted(std::string_view columns, const Grid& grid, char between) {
  std::string text(columns);
  for (auto cut = grid.cuts.rbegin(); cut != grid.cuts.rend(); ++cut) text.insert(*cut, 1, between);
  return text;
}

std::string shortened(std::string_view name) {
  constexpr std::string_view kGap = "..";
  if (name.size() <= kLongestName) return printable(name);
  constexpr std::size_t kEnd = (kLongestName - kGap.size()) / 2;
  return printable(fmt::format("{}{}{}", name.substr(0, kEnd), kGap, name.substr(name.size() - kEnd)));
}

std::size_t name_width(const HeatMap& map) {
  std::size_t width = 0;
  for (const std::string& name : map.names) width = std::max(width, std::min(name.size(), kLongestName));
  return width;
}

std::string mark_of(const HeatMap& map, std::size_t endpoint) {
  return map.layout.marks.empty() ? "" : std::string(1, map.layout.marks[endpoint]);
}

bool has_marks(const HeatMap& map) { return map.layout.marks.find_first_not_of(kNoMark) != std::string::npos; }

/// A line of marks above the columns; empty if all are blank.
std::string line_above(std::string columns, std::size_t indent) {
  columns.erase(columns.find_last_not_of(' ') + 1);
  return columns.empty() ? "" : fmt::format("#{:{}}{}\n", "", indent, columns);
}

/// Column numbers. Only the first column of each ten shows the tens, which is easier to scan.
std::string column_heads(const HeatMap& map, const Grid& grid, std::size_t indent) {
  std::string tens;
  std::string units;
  std::string marks;
  for (std::size_t column = 0; column < grid.order.size(); ++column) {
    tens += column % 10 == 0 && column > 0 ? fmt::to_string(column / 10) : " ";
    units += fmt::to_string(column % 10);
    marks += mark_of(map, grid.order[column]);
  }
  return line_above(parted(tens, grid, ' '), indent) + line_above(parted(units, grid, ' '), indent) +
         (has_marks(map) ? line_above(parted(marks, grid, ' '), indent) : "");
}

/// The name of the block that begins at a line.
std::string block_name(const HeatMap& map, const Grid& grid, std::size_t line) {
  const auto begins = std::find_if(map.layout.blocks.begin(), map.layout.blocks.end(), [&](const HeatBlock& block) {
    return block.level == grid.level && block.first == line;
  });
  return begins == map.layout.blocks.end() ? "" : "  " + shortened(begins->name);
}

std::int64_t count(const HeatMap& map, char character) {
  const Grid grid = grid_of(map);
  std::int64_t cells = 0;
  for (std::size_t line = 0; line < grid.order.size(); ++line) {
    if (grid.rows[line] == nullptr) continue;
    const std::string text = cells_of(grid, line, map.usual);
    cells += std::count(text.begin(), text.end(), character);
  }
  return cells;
}

std::string as_gb_per_s(double share, double usual) {
  constexpr int kAnyWidth = 16;
  return readable(share * usual / 1e9, kAnyWidth);
}

std::string as_percent(double share) { return fmt::format("{:.0f}", share * 100); }

/// A range of figures, each formatted by `text`.
template <typename Text>
std::string range(const Shade& shade, Text text) {
  if (shade.most <= 0) return fmt::format("{} and more", text(shade.least));
  if (shade.least <= 0) return fmt::format("below {}", text(shade.most));
  return fmt::format("{} to {}", text(shade.least), text(shade.most));
}

std::string legend_line(const HeatMap& map, char character, std::string_view figures, std::string_view shares) {
  const std::int64_t cells = count(map, character);
  if (cells == 0) return "";
  const std::string text(1, character);
  return fmt::format("#   {}  {:<20}  {:<15}  {:>8}\n", map.colour ? painted(text) : text, figures, shares, cells);
}

}  // namespace

char heat_of(double bandwidth, double usual) {
  if (std::isnan(bandwidth)) return kNotTaken;
  if (bandwidth <= 0 || usual <= 0) return kFailed;
  const auto* shade =
      std::find_if(kShades.begin(), kShades.end(), [&](const Shade& each) { return bandwidth >= each.least * usual; });
  return shade->character;
}

std::string heat_map_lines(const HeatMap& map) {
  const Grid grid = grid_of(map);
  const std::size_t width = name_width(map);
  const bool marks = has_marks(map);
  const std::size_t indent = width + (marks ? 7 : 6);
  std::string text = column_heads(map, grid, indent);
  const std::string between =
      fmt::format("#{:{}}|{}|\n", "", indent - 1, parted(std::string(grid.order.size(), '-'), grid, '+'));
  for (std::size_t line = 0; line < grid.order.size(); ++line) {
    if (std::binary_search(grid.cuts.begin(), grid.cuts.end(), line)) text += between;
    if (grid.rows[line] == nullptr) continue;
    const std::size_t endpoint = grid.order[line];
    const std::string cells = parted(cells_of(grid, line, map.usual), grid, '|');
    text += fmt::format("# {:>2} {:<{}} {}|{}|{}\n", line, shortened(map.names[endpoint]), width,
                        marks ? mark_of(map, endpoint) : "", map.colour ? painted(cells) : cells,
                        block_name(map, grid, line));
  }
  return text;
}

std::string heat_legend_lines(const HeatMap& map) {
  std::string text =
      fmt::format("#      {:<20}  {:<15}  {:>8}\n", "GB/s", fmt::format("% of {}", map.usual_name), "readings");
  for (const Shade& shade : kShades) {
    text += legend_line(map, shade.character, range(shade, [&](double share) { return as_gb_per_s(share, map.usual); }),
                        range(shade, as_percent));
  }
  text += legend_line(map, kFailed, "no figure, or wrong", "");
  text += legend_line(map, kNotTaken, "not measured", "");
  for (const Mark& mark : kMarks) {
    if (map.layout.marks.find(mark.character) == std::string::npos) continue;
    text += fmt::format("#   {}  beside a name and above a column: {}\n", mark.character, mark.meaning);
  }
  return text;
}

}  // namespace fabricbench
