#include "common/report/banner.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <sstream>
#include <string>
#include <vector>

#include "common/core/version.h"
#include "report_test_support.h"

using namespace fabricbench;

namespace pair_table_test {

using Table = test::WrittenTable<RowKind::kBandwidth>;

/// Pair p is rank p of host a and rank p + pairs of host b.
Context pair_context(RowKind row_kind, int pairs) {
  Context context = test::example_context();
  context.program = "send_recv";
  context.row_kind = row_kind;
  context.groups.clear();
  context.ranks.clear();
  for (int pair = 0; pair < pairs; ++pair) {
    const int second = pair + pairs;
    context.groups.push_back({fmt::format("{}, {}", pair, second), "a, b"});
    context.ranks.push_back({pair, pair, 100 + pair, "a", "some processor", "0-7", pair, 0, {}});
    context.ranks.push_back({second, pair, 200 + pair, "b", "some processor", "0-7", pair, 1, {}});
  }
  return context;
}

Context quiet_context(RowKind row_kind, int pairs) {
  Context context = pair_context(row_kind, pairs);
  context.options.output.quiet = true;
  return context;
}

Row row_of(Bytes size, Seconds time, int pair = 0) {
  Row row;
  row.size = size;
  row.count = size;
  row.datatype = DataType::kInt8;
  row.group = pair;
  row.out_of_place = test::measurement(time, static_cast<double>(size) / time / 1e9, 0);
  row.out_of_place->message_rate = 1 / time;
  row.out_of_place->operations_per_sample = 640;
  row.finished = 1767225600;  // 2026-01-01T00:00:00Z
  return row;
}

Row latency_row(Bytes size, Seconds time, int pair = 0) {
  Row row = row_of(size, time, pair);
  Summary& summary = row.out_of_place->summary;
  summary.min = 0.9 * time;
  summary.max = 12345.678e-6;
  summary.p99 = 2 * time;
  summary.jitter = time / 10;
  return row;
}

/// What is written below the header.
std::string rows_text(const Context& context, const std::vector<Row>& rows) {
  Table table;
  table->begin(context);
  const std::size_t before = table.text().size();
  for (const Row& row : rows) table->record(row);
  return table.text().substr(before);
}

std::string header_text(const Context& context) {
  Table table;
  table->begin(context);
  return table.text();
}

std::string end_text(const Context& context, const std::vector<Row>& rows, const Ending& ending) {
  Table table;
  table->begin(context);
  for (const Row& row : rows) table->record(row);
  const std::size_t before = table.text().size();
  table->end(ending);
  return table.text().substr(before);
}

/// Numbers of pairs in the order of their rows, with an empty text for each line that is no row.
std::vector<std::string> pairs_shown(const std::string& text) {
  std::vector<std::string> pairs;
  for (const std::string& line : test::lines_of(text)) {
    if (line.front() == '#') {
      pairs.emplace_back();
      continue;
    }
    std::istringstream stream(line);
    std::string size;
    std::string pair;
    stream >> size >> pair;
    pairs.push_back(pair);
  }
  return pairs;
}

constexpr const char* kBandwidthHeader =
    "#\n"
    "#       size   messages       time      GB/s       low      high      Gb/s     Mmsg/s  #wrong\n"
    "#        (B)                  (us)              (GB/s)    (GB/s)                             \n";

TEST(PairTable, OfALatencyIsThisText) {
  const Context context = quiet_context(RowKind::kLatency, 1);
  EXPECT_EQ(header_text(context),
            "#\n"
            "#       size   samples     median        low       high        min        p99      p99.9        max     "
            "jitter  #wrong\n"
            "#        (B)                 (us)       (us)       (us)       (us)       (us)       (us)       (us)       "
            "(us)        \n");
  EXPECT_EQ(rows_text(context, {latency_row(8, 1.6e-6), latency_row(4194304, 400e-6)}),
            "           8       180       1.60       1.58       1.62       1.44       3.20          -   12345.68      "
            "0.160       0\n"
            "     4194304       180     400.00     396.00     404.00     360.00     800.00          -   12345.68      "
            "40.00       0\n");
}

TEST(PairTable, OfABandwidthIsThisText) {
  const Context context = quiet_context(RowKind::kBandwidth, 1);
  EXPECT_EQ(header_text(context), kBandwidthHeader);
  EXPECT_EQ(rows_text(context, {row_of(1, 0.5e-6), row_of(4194304, 400e-6)}),
            "           1     115200      0.500   0.00200   0.00198   0.00202    0.0160       2.00       0\n"
            "     4194304     115200     400.00     10.49     10.38     10.59     83.89    0.00250       0\n");
}

TEST(PairTable, OfBothWaysHasEachDirectionToo) {
  const Context context = quiet_context(RowKind::kBothWays, 1);
  Row row = row_of(4194304, 400e-6);
  row.out_of_place->directions = {5.5e9, 4.98576e9};
  EXPECT_EQ(
      header_text(context) + rows_text(context, {row}),
      "#\n"
      "#       size   messages       time      GB/s       low      high        ->        <-      Gb/s     Mmsg/s  "
      "#wrong\n"
      "#        (B)                  (us)              (GB/s)    (GB/s)    (GB/s)    (GB/s)                     "
      "        \n"
      "     4194304     115200     400.00     10.49     10.38     10.59      5.50      4.99     83.89    0.00250"
      "       0\n");
}

TEST(PairTable, OfTcpCountsWhatWasSentAgain) {
  Context context = quiet_context(RowKind::kBandwidth, 1);
  context.backend = "tcp";
  Row row = row_of(4194304, 400e-6);
  row.out_of_place->retransmitted = {12, 3};
  EXPECT_EQ(header_text(context) + rows_text(context, {row}),
            "#\n"
            "#       size   messages       time      GB/s       low      high      Gb/s     Mmsg/s    Retr  #wrong\n"
            "#        (B)                  (us)              (GB/s)    (GB/s)                                     \n"
            "     4194304     115200     400.00     10.49     10.38     10.59     83.89    0.00250      15       0\n");
  row.out_of_place->retransmitted.clear();
  EXPECT_EQ(rows_text(context, {row}),
            "     4194304     115200     400.00     10.49     10.38     10.59     83.89    0.00250       -       0\n");
}

TEST(PairTable, OfTcpBothWaysCountsWhatEachRankSentAgain) {
  Context context = quiet_context(RowKind::kBothWays, 1);
  context.backend = "tcp";
  Row row = row_of(4194304, 400e-6);
  row.out_of_place->directions = {5.5e9, 4.98576e9};
  row.out_of_place->retransmitted = {12, 3};
  EXPECT_EQ(header_text(context) + rows_text(context, {row}),
            "#\n"
            "#       size   messages       time      GB/s       low      high        ->        <-      Gb/s     Mmsg/s"
            "    Retr    Retr  #wrong\n"
            "#        (B)                  (us)              (GB/s)    (GB/s)    (GB/s)    (GB/s)                     "
            "      ->      <-        \n"
            "     4194304     115200     400.00     10.49     10.38     10.59      5.50      4.99     83.89    0.00250"
            "      12       3       0\n");
}

TEST(PairTable, HasDashesForWhatIsNotKnown) {
  Row row = latency_row(8, 1.5e-6);
  row.out_of_place->summary.interval.reset();
  row.out_of_place->summary.p99.reset();
  row.out_of_place->wrong.reset();
  EXPECT_EQ(rows_text(quiet_context(RowKind::kLatency, 1), {row}),
            "           8       180       1.50          -          -       1.35          -          -   12345.68      "
            "0.150     N/A\n");
  EXPECT_EQ(rows_text(quiet_context(RowKind::kBandwidth, 1), {row}),
            "           8     115200       1.50   0.00533         -         -    0.0427      0.667     N/A\n");
  EXPECT_EQ(rows_text(quiet_context(RowKind::kBothWays, 1), {row}),
            "           8     115200       1.50   0.00533         -         -         -         -    0.0427      0.667"
            "     N/A\n");
}

TEST(PairTable, CountsWrongElements) {
  Row row = row_of(4194304, 400e-6);
  row.out_of_place->wrong = 12;
  EXPECT_EQ(rows_text(quiet_context(RowKind::kBandwidth, 1), {row}),
            "     4194304     115200     400.00     10.49     10.38     10.59     83.89    0.00250      12\n");
  Ending ending;
  ending.wrong_checks = 1;
  EXPECT_EQ(end_text(quiet_context(RowKind::kBandwidth, 1), {row}, ending), "# Out of bounds values : 1 FAILED\n");
}

TEST(PairTable, HasAnExponentForWhatIsTooSmall) {
  Row row = row_of(1, 1.0);
  EXPECT_EQ(rows_text(quiet_context(RowKind::kBandwidth, 1), {row}),
            "           1     115200  1000000.0   1.0e-09   9.9e-10   1.0e-09   8.0e-09    1.0e-06       0\n");
  row = row_of(0, 1e-6);
  EXPECT_EQ(rows_text(quiet_context(RowKind::kBandwidth, 1), {row}),
            "           0     115200       1.00      0.00      0.00      0.00      0.00       1.00       0\n");
}

TEST(PairTable, SaysWhyASizeWasSkipped) {
  Row row = row_of(3, 1e-6);
  row.out_of_place.reset();
  row.skipped = "it is no whole element";
  EXPECT_EQ(rows_text(quiet_context(RowKind::kLatency, 4), {row}), "# skipped: 3 bytes: it is no whole element\n");
}

TEST(PairTable, AppendsDateAndTimeWhereAskedFor) {
  setenv("TZ", "UTC", 1);
  tzset();
  Context context = quiet_context(RowKind::kBandwidth, 1);
  context.options.output.timestamps = true;
  EXPECT_EQ(rows_text(context, {row_of(4194304, 400e-6)}),
            "     4194304     115200     400.00     10.49     10.38     10.59     83.89    0.00250       0  2026-01-01 "
            "00:00:00\n");
}

constexpr const char* kFourPairs =
    "        1024      0     115200       1.00      1.02      1.01      1.03      8.19       1.00       0\n"
    "        1024      1     115200       4.00     0.256     0.253     0.259      2.05      0.250       0\n"
    "        1024      2     115200       2.00     0.512     0.507     0.517      4.10      0.500       0\n"
    "        1024      3     115200       1.00      1.02      1.01      1.03      8.19       1.00       0\n"
    "# Summary: 4 pairs; size: 1024; min 0.256, median 0.768, max 1.02 GB/s; slowest: pair 1, rank 1 of host a -> rank "
    "5 of "
    "host b; together: 2.82 GB/s, 2.75 Mmsg/s\n"
    "        2048      0     115200       1.00      2.05      2.03      2.07     16.38       1.00       0\n"
    "        2048      1     115200       4.00     0.512     0.507     0.517      4.10      0.250       0\n"
    "        2048      2     115200       2.00      1.02      1.01      1.03      8.19      0.500       0\n"
    "        2048      3     115200       1.00      2.05      2.03      2.07     16.38       1.00       0\n"
    "# Summary: 4 pairs; size: 2048; min 0.512, median 1.54, max 2.05 GB/s; slowest: pair 1, rank 1 of host a -> rank "
    "5 of "
    "host b; together: 5.63 GB/s, 2.75 Mmsg/s\n";

Row one_of_four(Bytes size, int pair) {
  const std::vector<Seconds> times = {1e-6, 4e-6, 2e-6, 1e-6};
  return row_of(size, times[static_cast<std::size_t>(pair)], pair);
}

TEST(PairTableOfSeveral, HasTheNumberOfThePairInTheSecondColumn) {
  EXPECT_EQ(header_text(quiet_context(RowKind::kBandwidth, 4)),
            "#\n"
            "#       size   pair   messages       time      GB/s       low      high      Gb/s     Mmsg/s  #wrong\n"
            "#        (B)                         (us)              (GB/s)    (GB/s)                             \n");
}

TEST(PairTableOfSeveral, PutsTheRowsOfASizeTogetherThatComePairByPair) {
  std::vector<Row> rows;
  for (int pair = 0; pair < 4; ++pair) {
    for (const Bytes size : {1024U, 2048U}) rows.push_back(one_of_four(size, pair));
  }
  EXPECT_EQ(rows_text(quiet_context(RowKind::kBandwidth, 4), rows), kFourPairs);
}

TEST(PairTableOfSeveral, TakesRowsThatComeSizeBySizeAsWell) {
  std::vector<Row> rows;
  for (const Bytes size : {1024U, 2048U}) {
    for (int pair = 0; pair < 4; ++pair) rows.push_back(one_of_four(size, pair));
  }
  EXPECT_EQ(rows_text(quiet_context(RowKind::kBandwidth, 4), rows), kFourPairs);
}

TEST(PairTableOfSeveral, ShowsASizeAsSoonAsTheLastPairHasReportedIt) {
  Table table;
  table->begin(quiet_context(RowKind::kBandwidth, 4));
  const std::size_t header = table.lines().size();
  for (const int pair : {3, 0, 2}) table->record(one_of_four(1024, pair));
  EXPECT_EQ(table.lines().size(), header);
  table->record(one_of_four(1024, 1));
  EXPECT_EQ(table.lines().size(), header + 5);
}

TEST(PairTableOfSeveral, KeepsTheSweepsOfSeveralCyclesApart) {
  const std::vector<Row> rows = {row_of(8, 1e-6, 0), row_of(8, 2e-6, 0), row_of(8, 3e-6, 1), row_of(8, 4e-6, 1)};
  EXPECT_EQ(pairs_shown(rows_text(quiet_context(RowKind::kBandwidth, 2), rows)),
            (std::vector<std::string>{"0", "1", "", "0", "1", ""}));
}

TEST(PairTableOfSeveral, SumsUpLatenciesWithoutAddingThem) {
  const std::vector<Row> rows = {latency_row(8, 1.5e-6, 0), latency_row(8, 1.75e-6, 1), latency_row(8, 0.5e-6, 2)};
  EXPECT_EQ(test::lines_of(rows_text(quiet_context(RowKind::kLatency, 3), rows)).back(),
            "# Summary: 3 pairs; size: 8; min 0.500, median 1.50, max 1.75 us; slowest: pair 1, rank 1 of host a -> "
            "rank 4 of "
            "host b");
}

TEST(PairTableOfSeveral, NamesThePairThatWasSlowestMostOften) {
  std::vector<Row> rows;
  for (const Bytes size : {8U, 16U, 32U}) {
    rows.push_back(row_of(size, size == 8 ? 9e-6 : 1e-6, 0));
    rows.push_back(row_of(size, 2e-6, 1));
  }
  EXPECT_EQ(end_text(quiet_context(RowKind::kBandwidth, 2), rows, {}),
            "# Out of bounds values : 0 OK\n"
            "# Slowest pair         : 1, rank 1 of host a -> rank 3 of host b; in 2 of 3 rows\n");
}

TEST(PairTableOfSeveral, ShowsInTheEndWhatNotEveryPairHasReported) {
  EXPECT_EQ(end_text(quiet_context(RowKind::kBandwidth, 3), {row_of(1024, 1e-6, 2), row_of(1024, 2e-6, 0)}, {}),
            "        1024      0     115200       2.00     0.512     0.507     0.517      4.10      0.500       0\n"
            "        1024      2     115200       1.00      1.02      1.01      1.03      8.19       1.00       0\n"
            "# Summary: 2 of 3 pairs; size: 1024; min 0.512, median 0.768, max 1.02 GB/s; slowest: pair 0, rank 0 of "
            "host a -> "
            "rank 3 of host b; together: 1.54 GB/s, 1.50 Mmsg/s\n"
            "# Out of bounds values : 0 OK\n"
            "# Slowest pair         : 0, rank 0 of host a -> rank 3 of host b; in 1 of 1 rows\n");
}

TEST(PairTableOfMany, ShowsOnlyTheWorstRowsOfEachSize) {
  std::vector<Row> rows;
  for (int pair = 0; pair < 40; ++pair) rows.push_back(row_of(1024, (pair == 17 ? 3e-6 : 1e-6) + pair * 1e-9, pair));
  rows[5].out_of_place->wrong = 3;
  const std::string text = rows_text(quiet_context(RowKind::kBandwidth, 40), rows);
  EXPECT_EQ(pairs_shown(text), (std::vector<std::string>{"5", "17", "39", "38", "37", "36", "35", "34", ""}))
      << "wrong data first";
  EXPECT_EQ(
      test::lines_of(text).back(),
      "# Summary: 40 pairs; size: 1024; min 0.339, median 1.00, max 1.02 GB/s; slowest: pair 17, rank 17 of host a -> "
      "rank 57 of host b; together: 39.51 GB/s, 38.59 Mmsg/s; only the 8 worst are shown, all are in the files "
      "of --json and --csv");
}

TEST(PairTableOfMany, ShowsEveryRowOfUpTo32Pairs) {
  std::vector<Row> rows;
  for (int pair = 0; pair < 32; ++pair) rows.push_back(row_of(1024, 1e-6, pair));
  EXPECT_EQ(pairs_shown(rows_text(quiet_context(RowKind::kBandwidth, 32), rows)).size(), 32U + 1U);
}

TEST(PairTableOfMany, NamesTheFirst64Pairs) {
  const std::string text = header_text(pair_context(RowKind::kBandwidth, 66));
  EXPECT_NE(text.find("# Pair 63: rank 63 of host a -> rank 129 of host b\n# and 2 more pairs\n"), std::string::npos)
      << text;
  EXPECT_EQ(header_text(pair_context(RowKind::kBandwidth, 64)).find("more"), std::string::npos);
}

TEST(PairTableBanner, SaysWhatIsMeasuredAndBetweenWhom) {
  Context context = pair_context(RowKind::kBandwidth, 1);
  context.options.sizes = {1, 4194304, 1048576, 2};
  context.notices = {"a notice"};
  EXPECT_EQ(header_text(context),
            fmt::format("# fabricbench version {}\n", kVersion) +
                "# Point-to-point test starting: send_recv\n"
                "# Sizes: 1 to 4194304 bytes, step: 2(factor); window: 64 messages; warmup iters: 3; iters: auto; "
                "checks: 1; buffers: same\n"
                "# Backend: mpi, because no backend for GPUs is built in; Open MPI 4.1.4\n"
                "# Ranks: 2, hosts: 2; timing: pipelined; buffers: same; clock error: 1 us; clock read: 25 ns; seed: "
                "42\n"
                "# Method: at least 9 epochs a size, sizes at random; time of a window over its messages\n"
                "#\n"
                "# Using devices\n"
                "#  Rank  0 Group  0 Pid    100 on          a device  0 [host] some processor\n"
                "#  Rank  1 Group  0 Pid    200 on          b device  0 [host] some processor\n"
                "#\n"
                "# Pair  0: rank 0 of host a -> rank 1 of host b\n"
                "#\n"
                "# a notice\n" +
                kBandwidthHeader);
}

TEST(PairTableBanner, HasNoWindowWhereThereIsOneMessage) {
  Context context = pair_context(RowKind::kLatency, 1);
  context.options.sizes = {8, 64, 8, 1};
  context.options.iterations = 20;
  const auto lines = test::lines_of(header_text(context));
  EXPECT_EQ(lines[2], "# Sizes: 8 to 64 bytes, step: 8(bytes); warmup iters: 3; iters: 20; checks: 1; buffers: same");
  EXPECT_EQ(lines[5], "# Method: 20 iterations a size, sizes in order; half a round trip");
  context.row_kind = RowKind::kBothWays;
  EXPECT_EQ(test::lines_of(header_text(context))[5],
            "# Method: 20 iterations a size, sizes in order; time of a window over its messages, the harmonic mean "
            "of both directions");
}

TEST(PairTableFooter, HasTheProcessorsOfSixteenHosts) {
  Ending ending;
  ending.processors = std::vector<std::string>(18, "Processors: host a");
  const std::string text = end_text(pair_context(RowKind::kBandwidth, 1), {row_of(8, 1e-6)}, ending);
  EXPECT_NE(text.find("# Processors: host a\n# and 2 more hosts, in the JSON file\n"), std::string::npos) << text;
}

TEST(PairTableFooter, HasNotesWiresProcessorsAndPrecision) {
  Ending ending;
  ending.notes = {"a note"};
  ending.nics = {"Wires: eth0"};
  ending.processors = {"Processors: host a: rank 0 on 3 (NUMA node 0)"};
  ending.precision = "Precision: 1 of 1";
  EXPECT_EQ(end_text(pair_context(RowKind::kBandwidth, 1), {row_of(8, 1e-6)}, ending),
            "# Out of bounds values : 0 OK\n"
            "#\n"
            "# Note: a note\n"
            "# Wires: eth0\n"
            "# Processors: host a: rank 0 on 3 (NUMA node 0)\n"
            "# Precision: 1 of 1\n"
            "#\n"
            "# Point-to-point test concluded: send_recv\n"
            "#\n\n");
  EXPECT_EQ(end_text(quiet_context(RowKind::kBandwidth, 1), {row_of(8, 1e-6)}, ending),
            "# Out of bounds values : 0 OK\n");
}

TEST(PairTableStatistics, StandPairByPair) {
  Context context = quiet_context(RowKind::kLatency, 2);
  context.options.output.stats = true;
  std::vector<Row> rows;
  for (const Bytes size : {8U, 16U}) {
    for (int pair = 0; pair < 2; ++pair) rows.push_back(latency_row(size, 1e-6, pair));
  }
  const auto lines = test::lines_of(end_text(context, rows, {}));
  ASSERT_GT(lines.size(), 3U);
  EXPECT_EQ(lines[3], "# Statistics: times in us of one message");
  for (const char* const first_columns : {"median", "epochs"}) {
    const auto titles = std::find_if(lines.begin(), lines.end(), [&](const std::string& line) {
      return line.starts_with(fmt::format("#       size  {:>8}", first_columns)) ||
             line.starts_with(fmt::format("#       size  {}", first_columns));
    });
    ASSERT_GT(lines.end() - titles, 6) << first_columns;
    EXPECT_EQ(titles[1], "# Pair  0: rank 0 of host a -> rank 2 of host b");
    EXPECT_EQ(titles[2].substr(0, 12), "#          8");
    EXPECT_EQ(titles[3].substr(0, 12), "#         16");
    EXPECT_EQ(titles[4], "# Pair  1: rank 1 of host a -> rank 3 of host b");
  }
}

TEST(PairTable, NamesThePortsOfAPairWhereTheyAreKnown) {
  Context context = quiet_context(RowKind::kBandwidth, 2);
  context.groups[1].ports = "mlx5_0 port 1, mlx5_1 port 2";
  const std::string text = rows_text(context, {row_of(1024, 1e-6, 0), row_of(1024, 4e-6, 1)});
  EXPECT_NE(
      text.find("slowest: pair 1, rank 1 of host a (mlx5_0 port 1) -> rank 3 of host b (mlx5_1 port 2); together"),
      std::string::npos)
      << text;
}

TEST(PairTable, DoesNotAddUpWhatWasCarriedInDifferentRounds) {
  Context context = quiet_context(RowKind::kBandwidth, 2);
  context.groups[1].round = 1;
  const std::string text = rows_text(context, {row_of(1024, 1e-6, 0), row_of(1024, 4e-6, 1)});
  EXPECT_NE(text.find("slowest: pair 1, rank 1 of host a -> rank 3 of host b\n"), std::string::npos) << text;
}

TEST(PairTable, HasTheWordsOfParsersOnlyWhereTheyBelong) {
  for (const RowKind row_kind : {RowKind::kLatency, RowKind::kBandwidth, RowKind::kBothWays}) {
    Context context = pair_context(row_kind, 40);
    context.options.output.stats = true;
    Table table;
    table->begin(context);
    for (int pair = 0; pair < 40; ++pair) table->record(latency_row(8, 1e-6, pair));
    table->end({});
    for (const std::string word : {"FAILED", "bandwidth", "out-of-place", "in-place", "Collective"}) {
      EXPECT_EQ(table.text().find(word), std::string::npos) << word;
    }
    for (const std::string& line : table.lines()) {
      const std::size_t host = line.find(" on ");
      if (host != std::string::npos) {
        EXPECT_EQ(line.substr(0, 7), "#  Rank") << line;
      }
    }
  }
}

}  // namespace pair_table_test
