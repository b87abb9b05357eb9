#include "common/core/heat_map.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

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

constexpr std::size_t kLongestName = 28;  // with 64 columns, a line then has 100 characters

/// What the legend says of a character: the shares of what is usual that it stands for. Best first.
struct Shade {
  char character;
  double least;  ///< this too
  double most;   ///< less than this; 0: no limit
  int colour;    ///< of the background, one of the 256 that terminals have; 0: none
  bool light;    ///< whether the character is white there, not black
};

/// What is well is dark and quiet; the worse a figure is, the more it shows. No two that are next to each other differ
/// in hue alone, and characters say the same to those who do not see colours.
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

/// Switches a terminal to the colours of a character.
std::string switched_to(const Shade* shade) {
  if (shade == nullptr) return "\x1b[0m";
  return fmt::format("\x1b[38;5;{};48;5;{}m", shade->light ? 231 : 16, shade->colour);
}

/// In its colours, which are switched only where they change.
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

std::string cells_of(const MatrixRow& row, double usual) {
  std::string cells;
  cells.reserve(row.bandwidths.size());
  for (const float bandwidth : row.bandwidths) cells += heat_of(bandwidth, usual);
  if (const auto itself = static_cast<std::size_t>(row.receiver); itself < cells.size()) cells[itself] = kItself;
  return cells;
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

/// The tens stand above the first column of each ten only, so that the eye finds them.
std::string column_numbers(std::size_t columns, std::size_t indent) {
  std::string tens;
  std::string units;
  for (std::size_t column = 0; column < columns; ++column) {
    tens += column % 10 == 0 && column > 0 ? fmt::to_string(column / 10) : " ";
    units += fmt::to_string(column % 10);
  }
  tens.erase(tens.find_last_not_of(' ') + 1);
  const std::string above = tens.empty() ? "" : fmt::format("#{:{}}{}\n", "", indent, tens);
  return above + fmt::format("#{:{}}{}\n", "", indent, units);
}

std::int64_t count(const HeatMap& map, char character) {
  std::int64_t cells = 0;
  for (const MatrixRow& row : map.receivers) {
    const std::string text = cells_of(row, map.usual);
    cells += std::count(text.begin(), text.end(), character);
  }
  return cells;
}

std::string as_gb_per_s(double share, double usual) {
  constexpr int kAnyWidth = 16;
  return readable(share * usual / 1e9, kAnyWidth);
}

std::string as_percent(double share) { return fmt::format("{:.0f}", share * 100); }

/// A range of figures as `text` writes one of them.
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
  const std::size_t width = name_width(map);
  std::string text = column_numbers(map.names.size(), width + 6);
  for (const MatrixRow& row : map.receivers) {
    const std::string cells = cells_of(row, map.usual);
    text +=
        fmt::format("# {:>2} {:<{}} |{}|\n", row.receiver, shortened(map.names[static_cast<std::size_t>(row.receiver)]),
                    width, map.colour ? painted(cells) : cells);
  }
  return text;
}

std::string heat_legend_lines(const HeatMap& map) {
  std::string text = fmt::format("#      {:<20}  {:<15}  {:>8}\n", "GB/s", "% of the median", "readings");
  for (const Shade& shade : kShades) {
    text += legend_line(map, shade.character, range(shade, [&](double share) { return as_gb_per_s(share, map.usual); }),
                        range(shade, as_percent));
  }
  text += legend_line(map, kFailed, "no figure, or wrong", "");
  return text + legend_line(map, kNotTaken, "not measured", "");
}

}  // namespace fabricbench
