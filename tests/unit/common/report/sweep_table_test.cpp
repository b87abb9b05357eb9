#include "common/report/banner.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "common/core/version.h"
#include "sweep_test_support.h"

using namespace fabricbench;
using test::failed_reading;
using test::lines_of;
using test::reading_of;
using test::readings_with_trouble;
using test::sweep_context;
using test::TemporaryFolder;

namespace sweep_table_test {

using Table = test::WrittenTable<RowKind::kSweep>;

std::string banner_text(const Context& context) {
  Table table;
  table->begin(context);
  return table.text();
}

/// What is written after the banner.
std::string text_of(const Context& context, const std::vector<PairReading>& readings, const Ending& ending = {}) {
  Table table;
  test::report(*table, context, readings);
  table->end(ending);
  return table.text().substr(banner_text(context).size());
}

Context quiet_context(int hosts, int local = 1) {
  Context context = sweep_context(hosts, local);
  context.options.output.quiet = true;
  return context;
}

/// Of the rows, which do not begin with `#`, the field at `place`.
std::vector<std::string> column(const std::string& text, int place) {
  std::vector<std::string> fields;
  for (const std::string& line : lines_of(text)) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream stream(line);
    std::string field;
    for (int i = 0; i <= place; ++i) stream >> field;
    fields.push_back(field);
  }
  return fields;
}

std::string line_that_begins(const std::string& text, const std::string& begin) {
  for (const std::string& line : lines_of(text)) {
    if (line.rfind(begin, 0) == 0) return line;
  }
  return "no line begins with " + begin + " in:\n" + text;
}

/// From every endpoint but `dead` to every other one but that, and failures with that.
std::vector<PairReading> readings_with_dead(int endpoints, int dead) {
  std::vector<PairReading> readings;
  for (int from = 0; from < endpoints; ++from) {
    for (int to = 0; to < endpoints; ++to) {
      if (from == to) continue;
      readings.push_back(from == dead || to == dead
                             ? failed_reading(from, to, ReadingStatus::kTimeout, "no message came within 10 s")
                             : reading_of(from, to, 12));
    }
  }
  return readings;
}

TEST(SweepTable, OfASlowHostAndASlowDirectionIsThisText) {
  Ending ending;
  ending.notes = {"a note"};
  ending.nics = {"Wires: eth0"};
  ending.precision = "Precision: unknown";
  EXPECT_EQ(text_of(sweep_context(8), readings_with_trouble(8), ending),
            "#\n"
            "#                    sent                     received\n"
            "#       name       median     least  to         median     least  from      latency  readings  failed\n"
            "#                  (GB/s)    (GB/s)             (GB/s)    (GB/s)               (us)\n"
            "     0  node-00     12.02      6.02  node-05     12.03     12.00  node-07      2.00        14       0\n"
            "     1  node-01     12.03      6.00  node-05     12.04     12.00  node-03      2.00        14       0\n"
            "     2  node-02     12.04      6.01  node-05     12.03      2.25  node-06      2.00        14       0\n"
            "     3  node-03     12.02      6.03  node-05     12.02     12.00  node-02      2.00        14       0\n"
            "     4  node-04     12.03      6.01  node-05     12.03     12.00  node-05      2.00        14       0\n"
            "     5  node-05     12.02     12.00  node-04      6.01      6.00  node-01      2.00        14       0\n"
            "     6  node-06     12.03      2.25  node-02     12.02     12.00  node-04      2.00        14       0\n"
            "     7  node-07     12.02      6.02  node-05     12.03     12.00  node-00      2.00        14       0\n"
            "#\n"
            "# Map: a line per receiver, a column per sender, by the numbers above\n"
            "#\n"
            "#             01234567\n"
            "#  0 node-00 |\\.......|\n"
            "#  1 node-01 |.\\......|\n"
            "#  2 node-02 |..\\...2.|\n"
            "#  3 node-03 |...\\....|\n"
            "#  4 node-04 |....\\...|\n"
            "#  5 node-05 |55555\\55|\n"
            "#  6 node-06 |......\\.|\n"
            "#  7 node-07 |.......\\|\n"
            "#\n"
            "#      GB/s                  % of the median  readings\n"
            "#   .  11.42 to 14.43        95 to 120              48\n"
            "#   5  5.41 to 6.61          45 to 55                7\n"
            "#   2  1.80 to 3.01          15 to 25                1\n"
            "#\n"
            "# Out of bounds values : 0 OK\n"
            "# Readings             : 56 ok, 0 failed\n"
            "# Median               : 12.03 GB/s; latency 2.00 us\n"
            "# Slowest reading      : node-06 -> node-02: 2.25 GB/s, 19 % of the median; round 1\n"
            "# Slowest endpoint     : node-05 receives 6.01 GB/s, 50 % of the median\n"
            "#\n"
            "# Note: a note\n"
            "# Wires: eth0\n"
            "# Precision: unknown\n"
            "#\n"
            "# Point-to-point test concluded: pairwise_bw\n"
            "#\n"
            "\n");
}

TEST(SweepTable, SaysAtOnceWhatFails) {
  Table table;
  table->begin(sweep_context(8));
  const std::size_t banner = table.lines().size();
  table->record(reading_of(0, 1, 12));
  EXPECT_EQ(table.lines().size(), banner);
  table->record(failed_reading(3, 5, ReadingStatus::kTimeout, "no message came within 10 s"));
  table->record(failed_reading(5, 3, ReadingStatus::kNotTried, "they timed out in round 1"));
  table->record(failed_reading(1, 2, ReadingStatus::kWrong, "12 elements, the first at 7"));
  const auto lines = table.lines();
  ASSERT_EQ(lines.size(), banner + 4);
  EXPECT_EQ(lines[banner], "#");
  EXPECT_EQ(lines[banner + 1], "# timeout: node-03 -> node-05, round 3: no message came within 10 s");
  EXPECT_EQ(lines[banner + 2], "# not tried: node-05 -> node-03, round 3: they timed out in round 1");
  EXPECT_EQ(lines[banner + 3], "# wrong: node-01 -> node-02, round 3: 12 elements, the first at 7");
}

TEST(SweepTable, DoesNotLetOneDeadHostHideTheRest) {
  Table table;
  table->begin(quiet_context(40));
  for (int to = 1; to < 40; ++to) table->record(failed_reading(0, to, ReadingStatus::kTimeout, "nothing came"));
  table->record(failed_reading(7, 8, ReadingStatus::kTimeout, "nothing came"));
  const auto lines = table.lines();
  ASSERT_EQ(lines.size(), 1U + 8U + 1U + 1U);
  EXPECT_EQ(lines[8], "# timeout: node-00 -> node-08, round 3: nothing came");
  EXPECT_EQ(lines[9],
            "# node-00 has failed 8 times: further failures of it are counted below, and are in the files of --json "
            "and --csv");
  EXPECT_EQ(lines[10], "# timeout: node-07 -> node-08, round 3: nothing came");
}

TEST(SweepTable, StopsNamingFailuresWhereThereAreHundreds) {
  Table table;
  table->begin(quiet_context(1000));
  for (int from = 0; from < 1000; from += 2) {
    table->record(failed_reading(from, from + 1, ReadingStatus::kTimeout, "nothing came"));
  }
  const auto lines = table.lines();
  ASSERT_EQ(lines.size(), 1U + 200U + 1U);
  EXPECT_EQ(lines.back(),
            "# 200 readings have failed: further ones are counted below, and are in the files of --json and --csv");
}

TEST(SweepTable, CountsWhatFailedAndNamesWhoFailedMost) {
  const std::string text = text_of(sweep_context(5), readings_with_dead(5, 2));
  EXPECT_EQ(column(text, 1), (std::vector<std::string>{"node-00", "node-01", "node-02", "node-03", "node-04"}));
  EXPECT_EQ(column(text, 9), (std::vector<std::string>{"6", "6", "0", "6", "6"}));
  EXPECT_EQ(column(text, 10), (std::vector<std::string>{"2", "2", "8", "2", "2"}));
  EXPECT_EQ(line_that_begins(text, "     2"),
            "     2  node-02         -         -  -               -         -  -               -         0       8");
  EXPECT_EQ(line_that_begins(text, "# Readings"), "# Readings             : 12 ok, 8 failed, 8 of them with node-02");
  EXPECT_EQ(line_that_begins(text, "#  2"), "#  2 node-02 |xx\\xx|");
  EXPECT_EQ(line_that_begins(text, "#   x"), "#   x  no figure, or wrong                           8");
}

TEST(SweepTable, BlamesNobodyForAFailureOfTwo) {
  std::vector<PairReading> readings = readings_with_trouble(3);
  readings[0] = failed_reading(0, 1, ReadingStatus::kTimeout, "nothing came");
  EXPECT_EQ(line_that_begins(text_of(sweep_context(3), readings), "# Readings"),
            "# Readings             : 5 ok, 1 failed");
}

TEST(SweepTable, HasNoFiguresOfWrongData) {
  std::vector<PairReading> readings = {reading_of(0, 1, 12), reading_of(1, 0, 1)};
  readings[1].status = ReadingStatus::kWrong;
  readings[1].wrong = 3;
  Ending ending;
  ending.wrong_checks = 1;
  const std::string text = text_of(sweep_context(2), readings, ending);
  EXPECT_EQ(line_that_begins(text, "# Out"), "# Out of bounds values : 1 FAILED");
  EXPECT_EQ(line_that_begins(text, "# Slowest reading"),
            "# Slowest reading      : node-00 -> node-01: 12.00 GB/s, 100 % of the median; round 3");
}

TEST(SweepTable, HasNoMedianWhereNothingWasMeasured) {
  const std::vector<PairReading> readings = {failed_reading(0, 1, ReadingStatus::kTimeout, "nothing came"),
                                             failed_reading(1, 0, ReadingStatus::kTimeout, "nothing came")};
  const std::string text = text_of(sweep_context(2), readings);
  EXPECT_EQ(text.find("Median"), std::string::npos) << text;
  EXPECT_EQ(text.find("Slowest"), std::string::npos) << text;
  EXPECT_EQ(line_that_begins(text, "#  1"), "#  1 node-01 |x\\|");
  EXPECT_EQ(line_that_begins(text, "# Readings"), "# Readings             : 0 ok, 2 failed");
}

TEST(SweepTable, HasThreeDigitsOfSlowNetworks) {
  const std::string text = text_of(sweep_context(2), {reading_of(0, 1, 0.11768), reading_of(1, 0, 0.0098765)});
  EXPECT_EQ(column(text, 2), (std::vector<std::string>{"0.118", "0.00988"}));
}

TEST(SweepTable, NamesTheRanksOfAHostThatHasSeveral) {
  const std::string text = text_of(sweep_context(2, 2), readings_with_trouble(4));
  EXPECT_EQ(column(text, 1), (std::vector<std::string>{"node-00:r0", "node-00:r1", "node-01:r2", "node-01:r3"}));
}

TEST(SweepTable, WithoutAMatrixHasNoMap) {
  Table table;
  table->begin(quiet_context(2));
  table->record(reading_of(0, 1, 12));
  table->end({});
  EXPECT_EQ(table.text().find("Map"), std::string::npos);
  Table shown;
  shown->begin(sweep_context(2));
  shown->end({});
  EXPECT_EQ(shown.text().find("Map"), std::string::npos);
}

TEST(SweepTable, HasColoursInTheMapAloneAndOnlyWhereAskedFor) {
  Table table({}, true);
  test::report(*table, sweep_context(8), readings_with_trouble(8));
  table->end({});
  EXPECT_NE(table.text().find("\x1b["), std::string::npos);
  for (const std::string& line : table.lines()) {
    EXPECT_TRUE(line.find('\x1b') == std::string::npos || line.front() == '#') << line;
  }
  EXPECT_EQ(text_of(sweep_context(8), readings_with_trouble(8)).find('\x1b'), std::string::npos);
}

TEST(SweepTable, LeavesTheRestAwayWhereQuiet) {
  EXPECT_EQ(banner_text(quiet_context(8)), "");
  const std::string text = text_of(quiet_context(8), readings_with_trouble(8));
  const std::string whole = text_of(sweep_context(8), readings_with_trouble(8));
  EXPECT_EQ(text.find("Map"), std::string::npos);
  const auto lines = lines_of(text);
  ASSERT_EQ(lines.size(), 4U + 8U + 5U);
  for (const std::string& line : lines) EXPECT_NE(whole.find(line + "\n"), std::string::npos) << line;
}

SweepVerdict verdict_with(int findings) {
  SweepVerdict verdict{"slow", "all is decided", {}, {}, {}};
  for (int i = 0; i < findings; ++i) {
    verdict.said.push_back(fmt::format("node-{:02} is slow", i));
  }
  return verdict;
}

TEST(SweepTableToFind, SaysWhatEachRoundIsForAsItBegins) {
  Context context = sweep_context(4);
  context.options.sweep.find = true;
  Table table;
  table->begin(context);
  table->record(SweepRound{0, 2, "round 1 of 3 for all hosts"});
  EXPECT_EQ(table.lines().back(), "# Find: round 0: round 1 of 3 for all hosts");
  EXPECT_NE(table.text().find("rounds: at most 3; pairs at once"), std::string::npos);
}

TEST(SweepTableToFind, EndsWithWhatWasFound) {
  Table table;
  table->begin(quiet_context(4));
  table->record(SweepRound{0, 2, "round 1 of 3 for all hosts"});
  table->record(verdict_with(2));
  table->end({});
  const std::string text = table.text();
  EXPECT_EQ(text.find("# Find: round"), std::string::npos);
  EXPECT_NE(
      text.find("# Find: over: all is decided\n# Found                : node-00 is slow\n# Found                : "
                "node-01 is slow\n"),
      std::string::npos)
      << text;
}

TEST(SweepTableToFind, DrawsTheMapAsTheVerdictHasIt) {
  Table table;
  test::report(*table, sweep_context(3), readings_with_trouble(3));
  SweepVerdict verdict = verdict_with(0);
  verdict.layout = {{1, 2, 0}, {}, "!  "};
  table->record(verdict);
  table->end({});
  const std::string text = table.text();
  EXPECT_NE(text.find("# Map: a line per receiver, a column per sender\n#\n"
                      "#              012\n"
                      "#                !\n"
                      "#  0 node-01  |\\..|\n"
                      "#  1 node-02  |.\\.|\n"
                      "#  2 node-00 !|..\\|\n"),
            std::string::npos)
      << text;
}

TEST(SweepTableToFind, NamesNoMoreThanAPersonReads) {
  Table table;
  table->begin(sweep_context(40));
  table->record(verdict_with(20));
  table->end({});
  const std::string text = table.text();
  EXPECT_NE(text.find("node-15 is slow\n# 4 more are in the file of --json"), std::string::npos) << text;
}

TEST(SweepTableOfMany, ShowsTheEndpointsWithTheLowestMedians) {
  std::vector<PairReading> readings = readings_with_dead(70, 50);
  for (PairReading& reading : readings) {
    if (reading.to == 33) reading.bandwidth = 3e9;
    if (reading.from == 44) reading.bandwidth = 4e9;
  }
  const std::string text = text_of(sweep_context(70), readings);
  const auto numbers = column(text, 0);
  ASSERT_EQ(numbers.size(), 32U);
  EXPECT_EQ(std::vector<std::string>(numbers.begin(), numbers.begin() + 4),
            (std::vector<std::string>{"50", "33", "44", "0"}));
  EXPECT_NE(text.find("#\n# The 32 of 70 endpoints with the lowest medians; --json has all\n"), std::string::npos);
  EXPECT_EQ(
      line_that_begins(text, "# Map"),
      "# Map: not drawn for more than 64 endpoints; --matrix-csv writes the matrix, --json and --csv every reading");
}

TEST(SweepTableOfMany, ShowsUpTo64AllAndInOrder) {
  const std::string text = text_of(sweep_context(64), readings_with_trouble(64));
  const auto numbers = column(text, 0);
  ASSERT_EQ(numbers.size(), 64U);
  EXPECT_EQ(numbers.front(), "0");
  EXPECT_EQ(numbers.back(), "63");
  EXPECT_EQ(line_that_begins(text, "#  5 node-05 |"),
            "#  5 node-05 |" + std::string(5, '5') + "\\" + std::string(58, '5') + "|");
}

TEST(SweepTableOfMany, LeavesEndpointsToTheEndOfWhichNothingIsKnown) {
  Table table;
  table->begin(quiet_context(70));
  for (int endpoint = 0; endpoint < 70; ++endpoint) {
    EndpointSummary summary;
    summary.endpoint = endpoint;
    if (endpoint >= 40) summary.sent = {1, 5e9, 5e9, 0};
    table->record(summary);
  }
  table->end({});
  EXPECT_EQ(column(table.text(), 0).front(), "40");
}

TEST(SweepTableBanner, SaysWhatIsPairedAndHow) {
  Context context = sweep_context(2);
  context.notices = {"a notice"};
  EXPECT_EQ(
      banner_text(context),
      fmt::format("# fabricbench version {}\n", kVersion) +
          "# Point-to-point test starting: pairwise_bw\n"
          "# Sweep: 2 hosts, the first rank of each; schedule: circle; rounds: 1; pairs at once: 1; size: 1048576 "
          "bytes; window: 64 messages; seed: 42\n"
          "# Backend: mpi, because no backend for GPUs is built in; Open MPI 4.1.4\n"
          "# Ranks: 2, hosts: 2; timing: pipelined; buffers: same; clock error: 1 us; clock read: 25 ns; seed: "
          "42\n"
          "# Method: windows for about 200 ms in each direction of a pair, given up after 10 s; GB/s: the median "
          "over its windows; us: half a round trip of 8 bytes\n"
          "#\n"
          "# Using devices\n"
          "#  Rank  0 Group  0 Pid    100 on    node-00 device  0 [host] some processor\n"
          "#  Rank  1 Group  0 Pid    101 on    node-01 device  0 [host] some processor\n"
          "#\n"
          "# a notice\n");
}

TEST(SweepTableBanner, FollowsTheOptions) {
  Context context = sweep_context(4, 2);
  context.options.sweep.schedule = ScheduleKind::kShift;
  context.rounds = 14;
  context.options.concurrent = 3;
  context.options.iterations = 20;
  const auto lines = lines_of(banner_text(context));
  EXPECT_EQ(lines[2],
            "# Sweep: 8 ranks; schedule: shift; rounds: 14; flows at once: 3; size: 1048576 bytes; window: 64 "
            "messages; seed: 42");
  EXPECT_EQ(lines[5].substr(0, 57), "# Method: 20 windows in each direction of a pair, given u");
  context.options.sweep.level = EndpointLevel::kGpu;
  context.options.concurrent = 0;
  EXPECT_EQ(lines_of(banner_text(context))[2].substr(0, 64),
            "# Sweep: 8 GPUs; schedule: shift; rounds: 14; flows at once: 8; ");
}

TEST(SweepTableBanner, ListsUpTo64Devices) {
  EXPECT_NE(banner_text(sweep_context(64)).find("#  Rank 63 "), std::string::npos);
  EXPECT_EQ(lines_of(banner_text(sweep_context(65))).back(),
            "# Using devices: 65 ranks; the file of --json lists them");
}

TEST(SweepTable, HasTheWordsOfParsersOnlyWhereTheyBelong) {
  for (const int hosts : {8, 70}) {
    std::vector<PairReading> readings = readings_with_dead(hosts, 2);
    readings[0].bandwidth = 1e9;
    Table table;
    test::report(*table, sweep_context(hosts), readings);
    table->end({});
    for (const std::string word : {"FAILED", "bandwidth", "out-of-place", "in-place", "Collective"}) {
      EXPECT_EQ(table.text().find(word), std::string::npos) << word;
    }
    for (const std::string& line : table.lines()) {
      EXPECT_TRUE(line.find(" on ") == std::string::npos || line.rfind("#  Rank", 0) == 0) << line;
    }
  }
}

}  // namespace sweep_table_test
