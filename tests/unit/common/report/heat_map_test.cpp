#include "common/core/heat_map.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "report_test_support.h"

using namespace fabricbench;

namespace heat_map_test {

constexpr float kNotTaken = NAN;

std::vector<std::string> names_of(std::size_t endpoints) {
  std::vector<std::string> names;
  for (std::size_t endpoint = 0; endpoint < endpoints; ++endpoint) names.push_back(fmt::format("n{}", endpoint));
  return names;
}

/// All figures are the same.
std::vector<MatrixRow> even_matrix(std::size_t endpoints, float bandwidth) {
  std::vector<MatrixRow> rows;
  for (std::size_t endpoint = 0; endpoint < endpoints; ++endpoint) {
    rows.push_back({static_cast<int>(endpoint), std::vector<float>(endpoints, bandwidth)});
    rows.back().bandwidths[endpoint] = kNotTaken;
  }
  return rows;
}

TEST(HeatOf, AFigureIsItsShareOfWhatIsUsual) {
  const struct {
    double share;
    char heat;
  } cases[] = {{9, '+'},    {1.21, '+'}, {1.19, '.'}, {1, '.'},     {0.96, '.'}, {0.94, '9'},
               {0.86, '9'}, {0.84, '8'}, {0.74, '7'}, {0.64, '6'},  {0.5, '5'},  {0.44, '4'},
               {0.26, '3'}, {0.24, '2'}, {0.06, '1'}, {0.049, '0'}, {1e-9, '0'}};
  for (const auto& [share, heat] : cases) EXPECT_EQ(heat_of(share * 12e9, 12e9), heat) << share;
}

TEST(HeatOf, NoFigureTellsFailureFromNotMeasured) {
  EXPECT_EQ(heat_of(0, 12e9), 'x');
  EXPECT_EQ(heat_of(std::nan(""), 12e9), ' ');
  EXPECT_EQ(heat_of(0, 0), 'x') << "nothing was measured at all";
  EXPECT_EQ(heat_of(std::nan(""), 0), ' ');
}

TEST(HeatMap, IsThisText) {
  const std::vector<std::string> names = {"a", "node-01", "b"};
  const std::vector<MatrixRow> rows = {
      {0, {kNotTaken, 10e9F, 5e9F}}, {1, {13e9F, kNotTaken, 0}}, {2, {kNotTaken, 0.1e9F, kNotTaken}}};
  const HeatMap map = {names, rows, 10e9, false};
  EXPECT_EQ(heat_map_lines(map),
            "#             012\n"
            "#  0 a       |\\.5|\n"
            "#  1 node-01 |+\\x|\n"
            "#  2 b       | 0\\|\n");
  EXPECT_EQ(heat_legend_lines(map),
            "#      GB/s                  % of the median  readings\n"
            "#   +  12.00 and more        120 and more            1\n"
            "#   .  9.50 to 12.00         95 to 120               1\n"
            "#   5  4.50 to 5.50          45 to 55                1\n"
            "#   0  below 0.500           below 5                 1\n"
            "#   x  no figure, or wrong                           1\n"
            "#      not measured                                  1\n");
}

TEST(HeatMap, PutsTheTensAboveTheColumns) {
  const std::vector<std::string> names = names_of(12);
  const auto rows = even_matrix(12, 1e9F);
  const auto lines = test::lines_of(heat_map_lines({names, rows, 1e9, false}));
  ASSERT_EQ(lines.size(), 14U);
  EXPECT_EQ(lines[0], "#                   1");
  EXPECT_EQ(lines[1], "#         012345678901");
  EXPECT_EQ(lines[2], "#  0 n0  |\\...........|");
  EXPECT_EQ(lines[13], "# 11 n11 |...........\\|");
}

TEST(HeatMap, Of64EndpointsWithLongNamesFitsIn100Characters) {
  std::vector<std::string> names = names_of(64);
  names[7] = "ip-10-0-12-133.eu-west-1.compute.internal:r7";
  const auto rows = even_matrix(64, 1e9F);
  const auto lines = test::lines_of(heat_map_lines({names, rows, 1e9, false}));
  ASSERT_EQ(lines.size(), 66U);
  for (const std::string& line : lines) EXPECT_LE(line.size(), 100U) << line;
  EXPECT_EQ(lines[9].substr(0, 37), "#  7 ip-10-0-12-13..e.internal:r7 |..");
}

TEST(HeatMap, HasColoursWhereAskedFor) {
  const std::vector<std::string> names = names_of(3);
  const std::vector<MatrixRow> rows = {{0, {kNotTaken, 10e9F, 10e9F}}, {1, {kNotTaken, kNotTaken, 0}}};
  const HeatMap map = {names, rows, 10e9, true};
  EXPECT_EQ(heat_map_lines(map),
            "#        012\n"
            "#  0 n0 |\\\x1b[38;5;231;48;5;22m..\x1b[0m|\n"
            "#  1 n1 | \\\x1b[38;5;16;48;5;201mx\x1b[0m|\n");
  EXPECT_EQ(heat_legend_lines(map),
            "#      GB/s                  % of the median  readings\n"
            "#   \x1b[38;5;231;48;5;22m.\x1b[0m  9.50 to 12.00         95 to 120               2\n"
            "#   \x1b[38;5;16;48;5;201mx\x1b[0m  no figure, or wrong                           1\n"
            "#      not measured                                  1\n");
}

TEST(HeatMap, StandsInTheOrderOfItsLayout) {
  const std::vector<std::string> names = names_of(3);
  const std::vector<MatrixRow> rows = {
      {0, {kNotTaken, 10e9F, 5e9F}}, {1, {9e9F, kNotTaken, 0}}, {2, {3e9F, 1e9F, kNotTaken}}};
  EXPECT_EQ(heat_map_lines({names, rows, 10e9, false, {{2, 0, 1}, {}, {}}}),
            "#        012\n"
            "#  0 n2 |\\31|\n"
            "#  1 n0 |5\\.|\n"
            "#  2 n1 |x9\\|\n");
}

TEST(HeatMap, PartsBlocksAndNamesThem) {
  const std::vector<std::string> names = names_of(12);
  const auto rows = even_matrix(12, 1e9F);
  const HeatLayout layout = {{}, {{"hall", 0, 8, 1}, {"east", 0, 5, 0}, {"west", 5, 8, 0}}, {}};
  const auto lines = test::lines_of(heat_map_lines({names, rows, 1e9, false, layout}));
  ASSERT_EQ(lines.size(), 16U);
  EXPECT_EQ(lines[0], "#                     1") << "numbers stand above their columns";
  EXPECT_EQ(lines[1], "#         01234 567 8901");
  EXPECT_EQ(lines[2], "#  0 n0  |\\....|...|....|  east");
  EXPECT_EQ(lines[3], "#  1 n1  |.\\...|...|....|");
  EXPECT_EQ(lines[7], "#        |-----+---+----|");
  EXPECT_EQ(lines[8], "#  5 n5  |.....|\\..|....|  west");
  EXPECT_EQ(lines[11], "#        |-----+---+----|");
  EXPECT_EQ(lines[12], "#  8 n8  |.....|...|\\...|") << "of no block";
}

TEST(HeatMap, PartsOnlyCoarseBlocksWhereFineOnesWouldHideTheRest) {
  const std::vector<std::string> names = names_of(8);
  const auto rows = even_matrix(8, 1e9F);
  HeatLayout layout;
  for (std::size_t pair = 0; pair < 4; ++pair) layout.blocks.push_back({"pair", 2 * pair, 2 * pair + 2, 0});
  EXPECT_EQ(test::lines_of(heat_map_lines({names, rows, 1e9, false, layout})).size(), 9U) << "no blocks at all";
  layout.blocks.push_back({"one", 0, 4, 1});
  layout.blocks.push_back({"two", 4, 8, 1});
  const auto lines = test::lines_of(heat_map_lines({names, rows, 1e9, false, layout}));
  ASSERT_EQ(lines.size(), 10U);
  EXPECT_EQ(lines[1], "#  0 n0 |\\...|....|  one");
}

TEST(HeatMap, MarksEndpointsOnBothSidesAndSaysWhatMarksMean) {
  const std::vector<std::string> names = names_of(4);
  const auto rows = even_matrix(4, 1e9F);
  const HeatMap map = {names, rows, 1e9, false, {{3, 2, 1, 0}, {}, "!  ?"}, "usual"};
  EXPECT_EQ(heat_map_lines(map),
            "#         0123\n"
            "#         ?  !\n"
            "#  0 n3 ?|\\...|\n"
            "#  1 n2  |.\\..|\n"
            "#  2 n1  |..\\.|\n"
            "#  3 n0 !|...\\|\n");
  EXPECT_EQ(heat_legend_lines(map),
            "#      GB/s                  % of usual       readings\n"
            "#   .  0.950 to 1.20         95 to 120              12\n"
            "#   !  beside a name and above a column: slow\n"
            "#   ?  beside a name and above a column: suspect\n");
}

TEST(HeatMap, LeavesNoRoomForMarksWhereThereAreNone) {
  const std::vector<std::string> names = names_of(2);
  const auto rows = even_matrix(2, 1e9F);
  EXPECT_EQ(heat_map_lines({names, rows, 1e9, false, {{}, {}, "  "}}), heat_map_lines({names, rows, 1e9, false}));
}

TEST(HeatMap, GivesEveryShadeAColourOfItsOwn) {
  std::vector<std::string> backgrounds;
  const std::vector<std::string> names = names_of(2);
  for (const float share : {1.3F, 1.0F, 0.9F, 0.8F, 0.7F, 0.6F, 0.5F, 0.4F, 0.3F, 0.2F, 0.1F, 0.01F, 0.0F}) {
    const std::vector<MatrixRow> rows = {{0, {kNotTaken, share * 1e9F}}};
    const std::string text = heat_map_lines({names, rows, 1e9, true});
    const std::size_t begin = text.find(";48;5;");
    ASSERT_NE(begin, std::string::npos) << share;
    backgrounds.push_back(text.substr(begin, text.find('m', begin) - begin));
  }
  std::sort(backgrounds.begin(), backgrounds.end());
  EXPECT_EQ(std::unique(backgrounds.begin(), backgrounds.end()), backgrounds.end());
}

}  // namespace heat_map_test
