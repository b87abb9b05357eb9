#include "common/report/banner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "report_test_support.h"

using namespace fabricbench;

namespace perftest_table_test {

struct Table : test::WrittenTable<RowKind::kBandwidth> {
  Table() : WrittenTable(options()) {}
  static Options options() {
    Options options;
    options.rdma.perftest_table = true;
    return options;
  }
};

Context rdma_context(RowKind row_kind, int pairs = 1) {
  Context context = test::example_context();
  context.program = row_kind == RowKind::kLatency ? "rdma_write_lat" : "rdma_write_bw";
  context.row_kind = row_kind;
  context.backend = "verbs";
  context.library = "libibverbs, firmware 28.39";
  context.groups.clear();
  for (int pair = 0; pair < pairs; ++pair) {
    context.groups.push_back({std::to_string(pair) + ", " + std::to_string(pair + pairs), "a, b"});
  }
  return context;
}

Context quiet_context(RowKind row_kind) {
  Context context = rdma_context(row_kind);
  context.options.output.quiet = true;
  return context;
}

/// Its fastest sample took 0.8 of the median, and the mean is twice that.
Row bandwidth_row(Bytes size, Seconds time, int pair = 0) {
  Row row;
  row.size = size;
  row.group = pair;
  row.datatype = DataType::kInt8;
  row.out_of_place = test::measurement(time, static_cast<double>(size) / time / 1e9, 0);
  row.out_of_place->message_rate = 1 / time;
  row.out_of_place->operations_per_sample = 128;
  row.out_of_place->summary.min = time / 1.25;
  row.out_of_place->summary.mean = time * 2;
  return row;
}

Row latency_row() {
  Row row;
  row.size = 8;
  row.datatype = DataType::kInt8;
  row.out_of_place = test::measurement(13.64e-6, 0, 0);
  Summary& summary = row.out_of_place->summary;
  summary.samples = 500;
  summary.min = 12.36e-6;
  summary.max = 168.94e-6;
  summary.mean = 15.01e-6;
  summary.standard_deviation = 9.67e-6;
  summary.p99 = 75.39e-6;
  return row;
}

std::string text_of(const Context& context, const std::vector<Row>& rows, const Ending& ending = {}) {
  Table table;
  table->begin(context);
  for (const Row& row : rows) table->record(row);
  table->end(ending);
  return table.text();
}

std::vector<std::string> fields(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> all;
  for (std::string field; stream >> field;) all.push_back(field);
  return all;
}

/// Azure's node health checks (azure_ib_write_bw_non_gdr.nhc): field 3, from 0, of the first line with the size.
std::string as_azure_reads(const std::string& text, const std::string& size) {
  for (const std::string& line : test::lines_of(text)) {
    if (line.find(size) != std::string::npos) return fields(line).at(3);
  }
  return "";
}

/// SuperBench's ib_validation_performance.cc: the largest of what a regular expression finds, -1 where it finds
/// nothing.
float as_superbench_reads(const std::string& text) {
  const bool bandwidth = text.find("BW") != std::string::npos;
  const std::regex pattern(bandwidth
                               ? R"(\d+\s+\d+\s+\d+\.\d+\s+(\d+\.\d+)\s+\d+\.\d+)"
                               : R"(\d+\s+\d+\s+\d+\.\d+\s+\d+\.\d+\s+\d+\.\d+\s+(\d+\.\d+)\s+\d+\.\d+\s+\d+\.\d+)"
                                 R"(\s+\d+\.\d+)");
  float found = -1;
  for (const std::string& line : test::lines_of(text)) {
    std::smatch match;
    if (std::regex_search(line, match, pattern)) found = std::max(found, std::stof(match.str(1)));
  }
  return found;
}

/// SuperBench's ib_loopback_performance.py: sizes and averages of the lines of five fields of which the first is a
/// whole number.
std::vector<std::pair<std::string, std::string>> as_loopback_reads(const std::string& text) {
  std::vector<std::pair<std::string, std::string>> found;
  for (const std::string& line : test::lines_of(text)) {
    const std::vector<std::string> all = fields(line);
    if (all.size() == 5 && std::regex_match(all[0], std::regex(R"([+-]?\d+)"))) found.emplace_back(all[0], all[3]);
  }
  return found;
}

/// An ending and a context with everything that could come in a parser's way.
Ending talkative_ending() {
  Ending ending;
  ending.notes = {"Rank 1 of host b took longest in 65536 of 65536 samples", "12 samples began late"};
  ending.nics = {"Wires: host a: mlx5_0:1 100 %, 65536 B sent"};
  ending.precision = "Precision: 95 % interval within +-2.5 % for 1 of 1 measurements";
  return ending;
}

Context talkative_context(RowKind row_kind, int pairs = 1) {
  Context context = rdma_context(row_kind, pairs);
  context.notices = {"Reducing maxBytes to 65536"};
  context.options.output.stats = true;
  context.options.output.timestamps = true;
  return context;
}

constexpr const char* kDashes =
    "---------------------------------------------------------------------------------------\n";

TEST(PerftestTable, OfABandwidthHasTheBytesOfPerftests) {
  Context context = quiet_context(RowKind::kBandwidth);
  context.options.rdma.gbits = true;
  Row row = bandwidth_row(4096, 8 * 4096 / 0.58e9);
  row.out_of_place->summary.min = row.out_of_place->summary.median * 0.58 / 0.37;
  row.out_of_place->summary.mean = 8 * 4096 / 0.29e9;
  row.out_of_place->summary.samples = 5;
  row.out_of_place->operations_per_sample = 100;
  row.out_of_place->message_rate = 0.017658e6;
  EXPECT_EQ(text_of(context, {row}),
            " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
            " 4096       500              0.37               0.29   \t\t   0.008829\n"
            " Out of bounds values : 0 OK\n");
}

TEST(PerftestTable, OfALatencyHasTheBytesOfPerftests) {
  EXPECT_EQ(text_of(quiet_context(RowKind::kLatency), {latency_row()}),
            " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% "
            "percentile[usec]   99.9% percentile[usec] \n"
            " 8       500          12.36          168.94       13.64    \t       15.01       \t9.67   \t\t75.39   "
            "\t\t168.94 \n"
            " Out of bounds values : 0 OK\n");
}

TEST(PerftestTable, IsInMebibytesUnlessBitsAreAskedFor) {
  const Row row = bandwidth_row(1U << 20U, 1e-3);
  const auto lines = test::lines_of(text_of(quiet_context(RowKind::kBandwidth), {row}));
  EXPECT_EQ(lines[0], " #bytes     #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]");
  EXPECT_EQ(fields(lines[1]), (std::vector<std::string>{"1048576", "23040", "1250.00", "500.00", "0.000500"}))
      << "the peak is of the fastest sample, the average of the mean, not of the median";
}

TEST(PerftestTable, HasSixDecimalsBelowATenthOfAGigabit) {
  Context context = quiet_context(RowKind::kBandwidth);
  context.options.rdma.gbits = true;
  EXPECT_EQ(test::lines_of(text_of(context, {bandwidth_row(2, 1e-6)}))[1],
            " 2          23040           0.020000            0.008000            0.500000");
  context.options.rdma.gbits = false;
  EXPECT_EQ(fields(test::lines_of(text_of(context, {bandwidth_row(2, 1e-6)}))[1])[3], "0.95");
}

TEST(PerftestTable, HasNoNumberOfIterationsWhereItIsUnknown) {
  Row row = latency_row();
  row.out_of_place->operations_per_sample.reset();  // as of a row that is cut short
  EXPECT_EQ(fields(test::lines_of(text_of(quiet_context(RowKind::kLatency), {row}))[1])[1], "N/A");
  row = bandwidth_row(8, 1e-6);
  row.out_of_place->operations_per_sample.reset();
  EXPECT_EQ(fields(test::lines_of(text_of(quiet_context(RowKind::kBandwidth), {row}))[1])[1], "N/A");
}

TEST(PerftestTable, HasTheLargestSampleForAPercentileOfTooFew) {
  Row row = latency_row();
  row.out_of_place->summary.p99.reset();
  const auto all = fields(test::lines_of(text_of(quiet_context(RowKind::kLatency), {row}))[1]);
  ASSERT_EQ(all.size(), 9U);
  EXPECT_EQ(all[7], "168.94");
  EXPECT_EQ(all[8], "168.94");
}

TEST(PerftestTable, StandsBetweenDashedLinesBelowTheSettings) {
  Context context = rdma_context(RowKind::kBothWays);
  context.notices = {"a notice"};
  RdmaOptions& rdma = context.options.rdma;
  rdma.device = "mlx5_0";
  rdma.queue_pairs = 4;
  rdma.mtu = 4096;
  rdma.moderation = 16;
  rdma.inlined = 220;
  Ending ending;
  ending.notes = {"a note"};
  ending.nics = {"Wires: mlx5_0"};
  ending.processors = {"Processors: host a: rank 0 on 3 (NUMA node 0)"};
  ending.precision = "Precision: 1 of 1";
  EXPECT_EQ(text_of(context, {bandwidth_row(1U << 20U, 1e-3)}, ending),
            std::string(kDashes) +
                "                    rdma_write_bw Bidirectional Test\n"
                " Device          : mlx5_0\n"
                " Library         : libibverbs, firmware 28.39\n"
                " Number of qps   : 4\n"
                " Connection type : RC\n"
                " TX depth        : 128\n"
                " CQ Moderation   : 16\n"
                " Mtu             : 4096[B]\n"
                " Max inline data : 220[B]\n" +
                kDashes +
                " #bytes     #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]\n"
                " 1048576    23040            1250.00            500.00 \t\t   0.000500\n" +
                kDashes +
                " Out of bounds values : 0 OK\n"
                " Notice          : a notice\n"
                " Note            : a note\n"
                " Wires: mlx5_0\n"
                " Processors: host a: rank 0 on 3 (NUMA node 0)\n"
                " Precision: 1 of 1\n");
}

TEST(PerftestTable, LeavesOutWhatNobodyAskedFor) {
  const std::string text = text_of(rdma_context(RowKind::kLatency), {latency_row()});
  for (const char* label : {"Device ", "Moderation", "inline", "Pair"}) EXPECT_EQ(text.find(label), std::string::npos);
  EXPECT_NE(text.find(" Mtu             : largest of both ports\n"), std::string::npos) << text;
  EXPECT_NE(text.find(" TX depth        : 1\n"), std::string::npos) << text;
}

TEST(PerftestTable, HasARowForEachPairInTheirOrder) {
  const std::string text =
      text_of(rdma_context(RowKind::kBandwidth, 2), {bandwidth_row(65536, 2e-6, 1), bandwidth_row(131072, 4e-6, 1),
                                                     bandwidth_row(65536, 1e-6, 0), bandwidth_row(131072, 2e-6, 0)});
  EXPECT_NE(text.find(" Pair 1          : rank 1 of host a -> rank 3 of host b\n"), std::string::npos) << text;
  EXPECT_EQ(as_loopback_reads(text),
            (std::vector<std::pair<std::string, std::string>>{
                {"65536", "31250.00"}, {"65536", "15625.00"}, {"131072", "31250.00"}, {"131072", "15625.00"}}));
}

TEST(PerftestTable, ShowsInTheEndWhatNotEveryPairHasReported) {
  const std::string text = text_of(rdma_context(RowKind::kBandwidth, 2), {bandwidth_row(65536, 1e-6, 1)});
  EXPECT_EQ(as_loopback_reads(text).size(), 1U);
}

TEST(PerftestTable, TellsBelowTheRowsOfSkippedSizesAndLostMessages) {
  Row skipped;
  skipped.size = 65536;
  skipped.skipped = "above the MTU";
  Row row = bandwidth_row(65536, 1e-6);
  row.out_of_place->lost = 3;
  const auto lines = test::lines_of(text_of(rdma_context(RowKind::kBandwidth), {skipped, row}));
  const auto line_of = [&](const std::string& line) { return std::find(lines.begin(), lines.end(), line); };
  const auto first = line_of(" Skipped         : 65536 bytes: above the MTU");
  ASSERT_NE(first, lines.end());
  EXPECT_EQ(*(first - 1) + "\n", kDashes);
  EXPECT_EQ(*(first + 1), " Lost            : 3 messages of 65536 bytes; rank 0 of host a -> rank 1 of host b");
}

TEST(PerftestTable, TellsOfWrongData) {
  Ending ending;
  ending.wrong_checks = 2;
  EXPECT_EQ(test::lines_of(text_of(quiet_context(RowKind::kBandwidth), {}, ending)).back(),
            " Out of bounds values : 2 FAILED");
}

TEST(PerftestTableForParsers, IsReadByAzuresNodeHealthChecks) {
  Context context = talkative_context(RowKind::kBandwidth);
  context.options.rdma.gbits = true;
  for (const Bytes size : {65536U, 1048576U, 8388608U}) {
    const std::string text =
        text_of(context, {bandwidth_row(size, static_cast<double>(size) / 100e9)}, talkative_ending());
    EXPECT_EQ(as_azure_reads(text, std::to_string(size)), "400.00") << text;
  }
}

TEST(PerftestTableForParsers, IsReadBySuperBench) {
  Context context = talkative_context(RowKind::kBandwidth, 2);
  context.options.rdma.gbits = true;
  const std::string text =
      text_of(context, {bandwidth_row(65536, 0.7e-6, 0), bandwidth_row(65536, 0.65536e-6, 1)}, talkative_ending());
  EXPECT_FLOAT_EQ(as_superbench_reads(text), 400.00F) << text;
  EXPECT_EQ(as_loopback_reads(text).size(), 2U);
  const std::string slow = text_of(context, {bandwidth_row(2, 1e-6, 0), bandwidth_row(2, 1e-6, 1)}, talkative_ending());
  EXPECT_FLOAT_EQ(as_superbench_reads(slow), 0.008F);
  EXPECT_FLOAT_EQ(as_superbench_reads(text_of(talkative_context(RowKind::kBandwidth), {}, talkative_ending())), -1)
      << "nothing but rows is read as a row";
}

TEST(PerftestTableForParsers, OfALatencyIsReadBySuperBench) {
  const std::string text = text_of(talkative_context(RowKind::kLatency), {latency_row()}, talkative_ending());
  EXPECT_EQ(text.find("BW"), std::string::npos) << "by which it tells bandwidths";
  EXPECT_FLOAT_EQ(as_superbench_reads(text), 15.01F);
}

TEST(PerftestTableForParsers, HasNumericRowsOnlyBetweenTheTitleAndTheDashes) {
  const std::string text =
      text_of(talkative_context(RowKind::kBandwidth), {bandwidth_row(65536, 1e-6)}, talkative_ending());
  int marked = 0;
  for (const std::string& line : test::lines_of(text)) {
    marked += line.find('#') != std::string::npos ? 1 : 0;
    const bool numeric = std::regex_match(line, std::regex(R"([\s\d.]+)"));
    EXPECT_EQ(numeric, fields(line).front() == "65536") << line;
  }
  EXPECT_EQ(marked, 1) << "the title";
}

}  // namespace perftest_table_test
