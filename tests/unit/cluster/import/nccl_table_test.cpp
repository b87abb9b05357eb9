#include "cluster/import/tool_runs.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace fabricbench::cluster {
namespace {

// Titles as nccl-tests prints them, read from the sources of 2.0, 2.11, 2.13, 2.17 and 2.19, and of rccl-tests.
const std::string kPlaces =
    "#                                    out-of-place                       in-place          ";
const std::string kBefore = "#       size         count      type   redop    root";
const std::string kPlacement = "     time   algbw   busbw  #wrong";
const std::string kEach = "     time    algbw    busbw   #wrong    i_min    i_max    i_p99    i_cv%";
const std::string kIncomplete = "a row of the table is incomplete";
const std::string kStart = "     1048576        262144     float     sum      -1";

std::string table_of(const std::string& titles, const std::string& places = kPlaces) {
  return places + "\n" + titles + "\n#        (B)    (elements)                               (us)  (GB/s)  (GB/s)\n";
}

/// `SIZE TYPE [REDOP] [ROOT]: out TIME_US BUSBW, in ...` of a line below titles; the note where it is no row of theirs.
std::string told(const std::string& titles, const std::string& line) {
  const ToolRun run = nccl_tests_runs(titles + line + "\n").front();
  if (run.rows.empty()) return run.notes.empty() ? "(no row)" : run.notes.front().text;
  const SizeRow& first = run.rows.front();
  std::string text = fmt::format("{} {} [{}] [{}]:", first.size_bytes, first.datatype, first.reduction, first.root);
  for (const SizeRow& row : run.rows) {
    text += fmt::format(" {} {:g} {:g}{};", row.placement == "in_place" ? "in" : "out", row.time_s.value_or(0) * 1e6,
                        row.rate / 1e9, row.wrong.empty() ? "" : " " + row.wrong);
  }
  return text;
}

TEST(NcclTable, HasAPlaceForEachTitle) {
  const std::string table = table_of(kBefore + kPlacement + kPlacement + " ");
  EXPECT_EQ(told(table, kStart + "    51.95   20.18   20.19       0    61.95   10.18   10.19     N/A"),
            "1048576 float [sum] [-1]: out 51.95 20.19; in 61.95 10.19;");
  EXPECT_EQ(told(table, kStart + "    51.95   20.18   20.19       4    61.95   10.18   10.19   1e+06"),
            "1048576 float [sum] [-1]: out 51.95 20.19 4 elements out of place; in 61.95 10.19 1e+06 "
            "elements in place;");
  EXPECT_EQ(told(table, kStart + "      N/A     N/A     N/A     N/A    61.95   10.18   10.19       0"),
            "1048576 float [sum] [-1]: in 61.95 10.19;");
}

TEST(NcclTable, OfOldVersionsHasRelativeErrors) {
  const std::string figures = "     time   algbw   busbw  error";
  const std::string row = "    52.8   19.88   19.88  2e-07     53.8   18.88   18.88    N/A";
  EXPECT_EQ(told(table_of("#       size         count    type   redop" + figures + figures),
                 "     1048576        262144   float     sum" + row),
            "1048576 float [sum] [-1]: out 52.8 19.88; in 53.8 18.88;");
  EXPECT_EQ(
      told(table_of("#       size         count    type" + figures + figures), "     1048576   131072   float" + row),
      "1048576 float [] [-1]: out 52.8 19.88; in 53.8 18.88;");
  EXPECT_EQ(told(table_of("#       size         count    type    root" + figures + figures),
                 "     1048576        262144   float       3" + row),
            "1048576 float [] [3]: out 52.8 19.88; in 53.8 18.88;");
}

TEST(NcclTable, MayHaveIterationsAndTimestamps) {
  const std::string one = "    51.95   20.18   20.18       0    50.91    62.34    57.15     1.37";
  const std::string two = "    61.95   10.18   10.18       2    60.91    72.34    67.15     1.37";
  const std::string told_row = "1048576 float [sum] [-1]: out 51.95 20.18; in 61.95 10.18 2 elements in place;";
  const std::string each = table_of(kBefore + kEach + kEach + " ");
  EXPECT_EQ(told(each, kStart + one + two), told_row);
  const std::string timed = table_of(kBefore + kEach + kEach + "           timestamp");
  EXPECT_EQ(told(timed, kStart + one + two + "  2025-11-03 12:00:01"), told_row);
  EXPECT_EQ(told(timed, kStart + one + two + "  2025-11-03"), kIncomplete);
  EXPECT_EQ(told(timed, kStart + one + two + "  2025-11-03 12:00"), kIncomplete);
}

TEST(NcclTable, TellsTheHostsTimeFromTheOperations) {
  const std::string titles = "  cputime   algbw   busbw  #wrong";
  EXPECT_EQ(told(table_of(kBefore + titles + titles),
                 kStart + "     9.91   20.20   20.20       0     9.90   20.10   20.10       0"),
            "1048576 float [sum] [-1]: out 51.9097 20.2; in 52.168 20.1;");
}

TEST(NcclTable, OfHypercubeHasNoReduction) {
  const std::string table = table_of(kBefore + kPlacement + kPlacement);
  const std::string figures = "    51.95   20.18   20.19       0    61.95   10.18   10.19       0";
  EXPECT_EQ(told(table, "     1048576        262144     float              -1" + figures),
            "1048576 float [] [-1]: out 51.95 20.19; in 61.95 10.19;");
}

TEST(NcclTable, MayHaveOnePlacement) {
  const std::string titles = kBefore + kPlacement;
  const std::string row = kStart + "    51.95   20.18   20.19       0";
  EXPECT_EQ(told(table_of(titles, "#            in-place          "), row),
            "1048576 float [sum] [-1]: in 51.95 20.19;");
  EXPECT_EQ(told(table_of(titles, "#        out-of-place          "), row),
            "1048576 float [sum] [-1]: out 51.95 20.19;");
}

TEST(NcclTable, HasNoRowWhereAValueIsMissingOrStrange) {
  const std::string table = table_of(kBefore + kPlacement + kPlacement);
  const std::string figures = "    51.95   20.18   20.19       0    61.95   10.18   10.19";
  for (const std::string_view end : {"", "       0   7", " node01:", "       x"})
    EXPECT_EQ(told(table, kStart + figures + std::string(end)), kIncomplete);
  EXPECT_EQ(told(table, kStart), kIncomplete);
  EXPECT_EQ(told(table, "     1048576        262144     float              sum" + figures), kIncomplete);
  EXPECT_EQ(told(table, "     1048576        262144     float     sum    none" + figures + " 0"), kIncomplete);
}

TEST(NcclTable, IsOfLinesWithANumberBelowTitles) {
  const std::string row = kStart + "    51.95   20.18   20.19       0    61.95   10.18   10.19       0";
  EXPECT_EQ(told("", row), "(no row)");
  const std::string table = table_of(kBefore + kPlacement + kPlacement);
  for (const char* line : {"", "node01:4001:4001 [0] NCCL INFO Channel 00",
                           "           0             0     float     sum      -1     SKIP    0.00    0.00    N/A"}) {
    EXPECT_EQ(told(table, line), "(no row)") << line;
  }
}

}  // namespace
}  // namespace fabricbench::cluster
