
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "common/report/banner.h"
#include "report_test_support.h"

using namespace fabricbench;
using test::example_context;
using test::example_row;

namespace table_test {

using Table = test::WrittenTable<RowKind::kCollective>;

constexpr const char* kExampleRow =
    "  1073741824     268435456     float     sum      -1  44023.0   24.39   45.73       0  43947.0   24.43   45.81    "
    "  "
    " 0";

Context quiet_context() {
  Context context = example_context();
  context.options.output.quiet = true;
  return context;
}

std::vector<std::string> fields(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> all;
  for (std::string field; stream >> field;) all.push_back(field);
  return all;
}

std::string printed(const Row& row) {
  Table table;
  table->begin(quiet_context());
  table->record(row);
  return table.lines().back();
}

TEST(Fitted, TriesTwoDecimalsThenOneThenNoneThenAnExponent) {
  const struct {
    double value;
    int width;
    std::string text;
  } cases[] = {{0, 7, "0.00"},           {0.004, 7, "0.00"},        {1.005, 7, "1.00"},      {9999.99, 7, "9999.99"},
               {9999.994, 7, "9999.99"}, {9999.996, 7, "10000.0"},  {44023.0, 7, "44023.0"}, {99999.94, 7, "99999.9"},
               {99999.96, 7, "100000"},  {123456.7, 7, "123457"},   {9999999, 7, "9999999"}, {9999999.4, 7, "9999999"},
               {1e7, 7, "1.0e+07"},      {123456789, 7, "1.2e+08"}, {24.39, 6, "24.39"},     {999.99, 6, "999.99"},
               {999.996, 6, "1000.0"},   {9999.94, 6, "9999.9"},    {9999.96, 6, "10000"},   {123456, 6, "123456"},
               {999999.4, 6, "999999"},  {1e6, 6, "1e+06"},         {1234567, 6, "1e+06"},   {-1.5, 6, "-1.50"},
               {-12345.6, 7, "-12346"}};
  for (const auto& [value, width, text] : cases) EXPECT_EQ(fitted(value, width), text) << value;
  EXPECT_EQ(fitted(std::numeric_limits<double>::infinity(), 7), "inf");
  EXPECT_EQ(fitted(std::nan(""), 6), "nan");
}

TEST(TableRow, HasTheBytesOfNcclTestsExample) { EXPECT_EQ(printed(example_row()), kExampleRow); }

TEST(TableRow, HasThirteenFields) {
  EXPECT_EQ(fields(printed(example_row())).size(), 13U);
  for (const DataTypeFacts& type : kDataTypes) {
    Row row = example_row();
    row.datatype = type.type;
    row.reduction = Reduction::kNone;
    row.root = 12;
    const auto found = fields(printed(row));
    ASSERT_EQ(found.size(), 13U);
    EXPECT_EQ(found[2], type.name);
    EXPECT_EQ(found[3], "none");
    EXPECT_EQ(found[4], "12");
  }
}

TEST(TableRow, SaysThatAPlacementWasNotRunOrNotChecked) {
  Row row = example_row();
  row.in_place.reset();
  EXPECT_EQ(
      printed(row),
      "  1073741824     268435456     float     sum      -1  44023.0   24.39   45.73       0      N/A     N/A     "
      "N/A     N/A");
  row.out_of_place->wrong.reset();
  EXPECT_EQ(
      printed(row),
      "  1073741824     268435456     float     sum      -1  44023.0   24.39   45.73     N/A      N/A     N/A     "
      "N/A     N/A");
  row = example_row();
  row.out_of_place.reset();
  EXPECT_EQ(fields(printed(row)).size(), 13U);
}

TEST(TableRow, CountsWrongElementsAsNcclTestsDoes) {
  Row row = example_row();
  row.out_of_place->wrong = 12;
  row.in_place->wrong = 1234567;
  EXPECT_EQ(fields(printed(row))[8], "12");
  EXPECT_EQ(fields(printed(row))[12], "1.23457e+06");
}

TEST(TableRow, HasTheSizesOfAZeroByteRowAndOfAVeryLargeOne) {
  Row row = example_row();
  row.size = 0;
  row.count = 0;
  EXPECT_EQ(printed(row).substr(0, 28), "           0             0  ");
  row.size = (std::uint64_t{1} << 63) - 1;
  row.count = row.size;
  EXPECT_EQ(fields(printed(row))[0], "9223372036854775807");
  EXPECT_EQ(fields(printed(row)).size(), 13U);
}

TEST(TableRow, ShowsTheTimeOfTheProcessorWhereAskedFor) {
  Table table;
  Context context = quiet_context();
  context.options.report_cpu_time = true;
  table->begin(context);
  Row row = example_row();
  row.out_of_place->cpu_time = 1.5e-6;
  row.in_place->cpu_time = 2.5e-6;
  table->record(row);
  EXPECT_EQ(fields(table.lines().back())[5], "1.50");
  EXPECT_EQ(fields(table.lines().back())[9], "2.50");
  EXPECT_EQ(table.lines()[2],
            "#       size         count      type   redop    root  cputime   algbw   busbw  #wrong  cputime   algbw   "
            "busbw  #wrong ");
}

TEST(TableRow, OfASkippedSizeIsACommentThatSaysWhy) {
  Row row = example_row();
  row.size = 16;
  row.skipped = "4 ranks share it in parts of 16 bytes";
  EXPECT_EQ(printed(row), "# skipped: 16 bytes, float sum: 4 ranks share it in parts of 16 bytes");
}

TEST(TableRow, HasFourColumnsMoreForEachPlacementWithPerIterationTiming) {
  Table table;
  Context context = quiet_context();
  context.options.per_iteration = true;
  table->begin(context);
  Row row = example_row();
  row.out_of_place->iteration_times = IterationTimes{1e-6, 2.5e-6, 2e-6, 12.345};
  table->record(row);
  const auto found = fields(table.lines().back());
  ASSERT_EQ(found.size(), 13U + 8U);
  EXPECT_EQ((std::vector<std::string>(found.begin() + 9, found.begin() + 13)),
            (std::vector<std::string>{"1.00", "2.50", "2.00", "12.35"}));
  EXPECT_EQ((std::vector<std::string>(found.begin() + 17, found.end())), std::vector<std::string>(4, "N/A"));
  const auto titles = fields(table.lines()[2]);
  EXPECT_EQ(titles.size(), found.size() + 1) << "and the mark of a comment";
}

TEST(TableRow, StandsAboveWhatEachRankSendsAndReceivesWhereThatIsKnown) {
  Table table;
  table->begin(quiet_context());
  Row row = example_row();
  row.out_of_place->summary.median = 1e-3;
  row.traffic = {{1'000'000, 2'000'000}, {0, 0}};
  table->record(row);
  const auto lines = table.lines();
  ASSERT_GE(lines.size(), 2U);
  EXPECT_EQ(lines[lines.size() - 2], "#   rank=0 send_bytes=1000000 recv_bytes=2000000 alg_bw=2.00");
  EXPECT_EQ(lines.back(), "#   rank=1 send_bytes=0 recv_bytes=0 alg_bw=0.00");
}

TEST(TableRow, FollowsALineThatNamesItsGroupWhereThatChanges) {
  Table table;
  Context context = quiet_context();
  context.groups = {{"0, 2", "node-01"}, {"1, 3", "node-02"}};
  table->begin(context);
  const std::size_t before = table.lines().size();
  for (const int group : {0, 0, 1, 0}) {
    Row row = example_row();
    row.group = group;
    table->record(row);
  }
  std::vector<std::string> comments;
  const auto lines = table.lines();
  for (std::size_t i = before; i < lines.size(); ++i) {
    if (lines[i].front() == '#') comments.push_back(lines[i]);
  }
  const std::string first = "# Group 0: ranks 0, 2; hosts node-01";
  EXPECT_EQ(comments, (std::vector<std::string>{first, "# Group 1: ranks 1, 3; hosts node-02", first}));
  EXPECT_EQ(lines.size() - before, 3U + 4U);
}

TEST(TableHeader, HasTheBytesOfNcclTests) {
  Table table;
  table->begin(quiet_context());
  EXPECT_EQ(
      table.text(),
      "#\n"
      "#                                                              out-of-place                       in-place  "
      "        \n"
      "#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   "
      "busbw  #wrong \n"
      "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  "
      "(GB/s)         \n");
}

TEST(TableTimestamps, AddTwoFieldsAndAColumn) {
  setenv("TZ", "UTC", 1);
  tzset();
  Table table;
  Context context = quiet_context();
  context.options.output.timestamps = true;
  table->begin(context);
  table->record(example_row());
  const auto lines = table.lines();
  EXPECT_EQ(lines[4], std::string(kExampleRow) + "  2026-01-01 00:00:00");
  EXPECT_EQ(fields(lines[4]).size(), 15U);
  EXPECT_EQ(lines[2].substr(lines[2].size() - 26), "#wrong           timestamp");
  EXPECT_EQ(lines[3].substr(lines[3].size() - 18), " %Y-%m-%d %H:%M:%S");
}

TEST(TableFooter, HasTheBytesOfNcclTestsWithTheTrailingBlank) {
  Table table;
  table->begin(quiet_context());
  const std::size_t before = table.text().size();
  Ending ending;
  ending.average_busbw = 45.77e9;
  table->end(ending);
  EXPECT_EQ(table.text().substr(before), "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 45.77 \n");
}

TEST(TableFooter, SaysFailedOnlyWhereSomethingFailed) {
  const auto footer = [](std::uint64_t wrong, std::optional<bool> fast_enough) {
    Table table;
    Ending ending;
    ending.wrong_checks = wrong;
    ending.average_busbw = 1.5e9;
    ending.fast_enough = fast_enough;
    table->begin(quiet_context());
    table->record(example_row());
    const std::size_t before = table.text().size();
    table->end(ending);
    return table.text().substr(before);
  };
  EXPECT_EQ(footer(0, true), "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 1.5 OK\n");
  EXPECT_EQ(footer(3, std::nullopt), "# Out of bounds values : 3 FAILED\n# Avg bus bandwidth    : 1.5 \n");
  EXPECT_EQ(footer(0, false), "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 1.5 FAILED\n");
}

TEST(Table, WithEverythingInItHasTheWordsOfParsersOnlyWhereTheyBelong) {
  Table table;
  Context context = example_context();
  context.options.output.stats = true;
  context.notices = {"a notice"};
  table->begin(context);
  table->record(example_row());
  Ending ending;
  ending.precision = "Precision: 2 of 2 within 2.5 %";
  ending.notes = {"a note"};
  table->end(ending);
  int rows = 0;
  int bandwidths = 0;
  for (const std::string& line : table.lines()) {
    EXPECT_EQ(line.find("FAILED"), std::string::npos) << line;
    EXPECT_EQ(line.find("GPU memory"), std::string::npos) << line;
    if (line.find("bandwidth") != std::string::npos) {
      ++bandwidths;
      EXPECT_EQ(line.rfind("# Avg bus bandwidth    : ", 0), 0U) << line;
    }
    if (!line.empty() && line.front() != '#') {
      ++rows;
      EXPECT_EQ(line, kExampleRow);
    }
  }
  EXPECT_EQ(rows, 1);
  EXPECT_EQ(bandwidths, 1);
  for (const std::string part :
       {"# Collective test starting: all_reduce_perf\n", "# Using devices\n", "# a notice\n", "# Note: a note\n",
        "# Precision: 2 of 2 within 2.5 %\n", "# Collective test concluded: all_reduce_perf\n#\n\n"}) {
    EXPECT_NE(table.text().find(part), std::string::npos) << part;
  }
}

TEST(TableFooter, HasLongNotesInSeveralLines) {
  Ending ending;
  const std::string word(40, 'x');
  ending.notes = {word + " " + word + "  " + word + " end"};
  EXPECT_EQ(concluding_lines(example_context(), ending, "")
                .rfind("#\n# Note: " + word + " " + word + "\n#       " + word + " end\n", 0),
            0U);
}

TEST(TableFooter, HasABoundedNumberOfNotes) {
  Ending ending;
  ending.notes.assign(256, "a note");
  EXPECT_EQ(printed_notes(ending), ending.notes);
  ending.notes.insert(ending.notes.end(), 3, "a note too many");
  const std::vector<std::string> printed = printed_notes(ending);
  ASSERT_EQ(printed.size(), 257U);
  EXPECT_EQ(printed.back(), "and 3 more notes, in the JSON file");
}

TEST(TableBanner, WordsTheSettingsAsNcclTestsDoes) {
  const auto settings = [](const Options& options) {
    Table table;
    Context context = example_context();
    context.options = options;
    table->begin(context);
    return table.lines()[2];
  };
  Options options;
  options.sizes = {8, 134217728, 1048576, 2};
  options.iterations = 20;
  EXPECT_EQ(settings(options),
            "# nThread 1 nGpus 1 minBytes 8 maxBytes 134217728 step: 2(factor) warmup iters: 3 iters: 20 agg iters: 1 "
            "validation: 1 graph: 0 unalign: 0");
  options.sizes.step_factor = 1;
  options.iterations.reset();
  EXPECT_EQ(settings(options),
            "# nThread 1 nGpus 1 minBytes 8 maxBytes 134217728 step: 1048576(bytes) warmup iters: 3 iters: auto agg "
            "iters: 1 validation: 1 graph: 0 unalign: 0");
}

TEST(TableBanner, HasALineForEachRank) {
  Table table;
  table->begin(example_context());
  EXPECT_NE(table.text().find("#  Rank  0 Group  0 Pid    101 on    node-01 device  0 [host] some processor\n"
                              "#  Rank  1 Group  0 Pid    202 on    node-02 device  0 [host] some processor\n"),
            std::string::npos)
      << table.text();
}

void begin_with_statistics(Table& table, Context context = quiet_context()) {
  context.options.output.stats = true;
  table->begin(context);
}

TEST(TableStatistics, HaveALineForEachPlacementThatWasRunInBothTables) {
  Table table;
  begin_with_statistics(table);
  Row row = example_row();
  table->record(row);
  row.in_place.reset();
  row.out_of_place->summary.interval.reset();
  table->record(row);
  table->end({});
  std::map<std::string, int> placements;
  std::vector<std::string> titles;
  for (const std::string& line : table.lines()) {
    const auto found = fields(line);
    if (found.size() > 2 && found[2] == "place") titles = found;
    if (found.size() < 5 || found[1] != "1073741824") continue;
    ++placements[found[2]];
    const bool of_samples = titles.back() == "slowest";
    EXPECT_EQ(found.size(), titles.size() + (of_samples ? 2 : 0)) << "slowest is a rank, a share and a host: " << line;
  }
  EXPECT_EQ(placements, (std::map<std::string, int>{{"out", 2 * 2}, {"in", 2}}));
}

TEST(TableStatistics, HaveADashForWhatIsUnknown) {
  Table table;
  begin_with_statistics(table);
  Row row = example_row();
  row.in_place.reset();
  Summary& summary = row.out_of_place->summary;
  summary.preemptions.reset();
  summary.most_preempted_rank.reset();
  summary.slowest_rank.reset();
  summary.slowest_share.reset();
  table->record(row);
  table->end({});
  std::vector<std::string> titles;
  int lines = 0;
  for (const std::string& line : table.lines()) {
    const auto found = fields(line);
    if (found.size() > 2 && found[2] == "place") titles = found;
    if (found.size() < 5 || found[1] != "1073741824" || titles.back() != "slowest") continue;
    ++lines;
    EXPECT_EQ(found.back(), "-") << line;
    const auto preempted = std::find(titles.begin(), titles.end(), "preempt") - titles.begin();
    EXPECT_EQ(found.at(static_cast<std::size_t>(preempted)), "-") << line;
  }
  EXPECT_EQ(lines, 1);
}

TEST(TableStatistics, FitInto120ColumnsAndExplainEachColumn) {
  Table table;
  Context context = quiet_context();
  for (RankFacts& rank : context.ranks) rank.host = "gpu-node-12345";
  begin_with_statistics(table, context);
  Row row = example_row();
  row.size = Bytes{64} << 30;
  for (auto* measured : {&*row.out_of_place, &*row.in_place}) {
    measured->choice = LibraryChoice{"NVLS", "SIMPLE", 16};
    measured->summary.slowest_share = 1;
    measured->summary.preemptions = 12345;
  }
  table->record(row);
  table->end({});
  const std::string text = table.text();
  for (const std::string& line : table.lines()) {
    const bool is_of_statistics = line.starts_with("#  ");
    EXPECT_TRUE(!is_of_statistics || line.size() <= 120U) << line;
    const auto found = fields(line);
    if (found.size() < 3 || found[2] != "place") continue;
    for (std::size_t column = 3; column < found.size(); ++column) {
      EXPECT_NE(text.find(found[column]), text.rfind(found[column])) << found[column] << " is not explained";
    }
  }
}

TEST(TableStatistics, NameTheKindOfDataWhereThereAreSeveral) {
  Table table;
  begin_with_statistics(table);
  Row row = example_row();
  table->record(row);
  row.datatype = DataType::kHalf;
  row.reduction = Reduction::kNone;
  table->record(row);
  table->end({});
  EXPECT_NE(table.text().find("\n#  half\n"), std::string::npos) << table.text();
}

}  // namespace table_test
