#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "common/report/banner.h"
#include "report_test_support.h"

// The table of messages between two ranks, as programs over RDMA verbs have it.

using namespace fabricbench;

namespace rdma_table_test {

using Table = test::WrittenTable<RowKind::kBandwidth>;

Row row_of(Bytes size, Seconds time) {
  Row row;
  row.size = size;
  row.count = size;
  row.datatype = DataType::kInt8;
  row.out_of_place = test::measurement(time, static_cast<double>(size) / time / 1e9, 0);
  row.out_of_place->message_rate = 1 / time;
  row.out_of_place->operations_per_sample = 640;
  return row;
}

Row latency_row(Bytes size, Seconds time) {
  Row row = row_of(size, time);
  Summary& summary = row.out_of_place->summary;
  summary.min = 0.9 * time;
  summary.max = 12345.678e-6;
  summary.p99 = 2 * time;
  summary.jitter = time / 10;
  return row;
}

std::string header_text(const Context& context) {
  Table table;
  table->begin(context);
  return table.text();
}

/// What is written below the header.
std::string rows_text(const Context& context, const std::vector<Row>& rows) {
  Table table;
  table->begin(context);
  const std::size_t before = table.text().size();
  for (const Row& row : rows) table->record(row);
  return table.text().substr(before);
}

Context rdma_context(RowKind row_kind, Transport transport = Transport::kRc) {
  Context context = test::example_context();
  context.row_kind = row_kind;
  context.options.output.quiet = true;
  context.groups = {{"0, 1", "a, b"}};
  context.groups[0].wire_rate = 12.5e9;
  context.backend = "verbs";
  context.options.rdma.transport = transport;
  return context;
}

TEST(RdmaTable, OfRdmaHasTheShareOfThePortsRate) {
  EXPECT_EQ(header_text(rdma_context(RowKind::kBandwidth)) +
                rows_text(rdma_context(RowKind::kBandwidth), {row_of(4194304, 400e-6)}),
            "#\n"
            "#       size   messages       time      GB/s       low      high      Gb/s     Mmsg/s   %rate  #wrong\n"
            "#        (B)                  (us)              (GB/s)    (GB/s)                                     \n"
            "     4194304     115200     400.00     10.49     10.38     10.59     83.89    0.00250    83.9       0\n");
}

TEST(RdmaTable, OfRdmaBothWaysHasTheShareOfOneDirection) {
  Row row = row_of(4194304, 400e-6);
  row.out_of_place->directions = {5.5e9, 4.98576e9};
  const std::string text = rows_text(rdma_context(RowKind::kBothWays), {row});
  EXPECT_EQ(text.substr(text.size() - 24), "0.00250    41.9       0\n") << text;
}

TEST(RdmaTable, OfRdmaHasADashWhereThePortsRateIsNotKnown) {
  Context context = rdma_context(RowKind::kBandwidth);
  context.groups[0].wire_rate = 0;
  const std::string text = rows_text(context, {row_of(4194304, 400e-6)});
  EXPECT_EQ(text.substr(text.size() - 24), "0.00250       -       0\n") << text;
}

TEST(RdmaTable, OfRdmaHasADashFromWhereARowIsFasterThanThePort) {
  Context context = rdma_context(RowKind::kBandwidth);
  const std::vector<Row> rows = {row_of(4194304, 400e-6), row_of(4194304, 200e-6), row_of(4194304, 400e-6)};
  context.groups[0].wire_rate = 4194304 / 200e-6 / 1.049;
  EXPECT_NE(rows_text(context, rows).find(" 104.9 "), std::string::npos) << "clocks are not exact";
  context.groups[0].wire_rate = 4194304 / 200e-6 / 1.051;
  const std::string text = rows_text(context, rows);
  EXPECT_EQ(text.find("105"), std::string::npos) << text;
  EXPECT_EQ(text.substr(text.size() - 24), "0.00250       -       0\n") << "a rate that was wrong stays wrong";
  EXPECT_NE(text.find("0.00250    52.5       0\n"), std::string::npos) << "as far as was known then";
}

TEST(RdmaTable, OfDatagramsCountsWhatWasLost) {
  Context context = rdma_context(RowKind::kBandwidth, Transport::kUd);
  Row row = row_of(1024, 1e-6);
  row.out_of_place->lost = 12;
  EXPECT_NE(header_text(context).find("Mmsg/s   %rate    lost  #wrong\n"), std::string::npos);
  std::string text = rows_text(context, {row});
  EXPECT_EQ(text.substr(text.size() - 25), "     8.2      12       0\n") << text;
  row.out_of_place->lost.reset();
  text = rows_text(context, {row});
  EXPECT_EQ(text.substr(text.size() - 17), "       -       0\n") << text;
  EXPECT_NE(header_text(rdma_context(RowKind::kLatency, Transport::kUd)).find("stdev    lost  #wrong\n"),
            std::string::npos);
}

TEST(RdmaTable, OfALatencyUnderLoadHasTheLoad) {
  Context context = rdma_context(RowKind::kLatency);
  context.options.rdma.background = true;
  Row row = latency_row(8, 1.6e-6);
  row.out_of_place->background_rate = 24.5e9;
  EXPECT_NE(header_text(context).find("stdev      load  #wrong\n"), std::string::npos) << header_text(context);
  const std::string text = rows_text(context, {row});
  EXPECT_TRUE(text.ends_with("   24.50       0\n")) << text;
}

TEST(RdmaTable, OfALatencyByRdmaHasMeanAndDeviation) {
  Row row = latency_row(8, 1.6e-6);
  row.out_of_place->summary.mean = 1.75e-6;
  row.out_of_place->summary.standard_deviation = 0.25e-6;
  EXPECT_EQ(header_text(rdma_context(RowKind::kLatency)) + rows_text(rdma_context(RowKind::kLatency), {row}),
            "#\n"
            "#       size   samples     median        low       high        min        p99      p99.9        max     "
            "jitter       mean      stdev  #wrong\n"
            "#        (B)                 (us)       (us)       (us)       (us)       (us)       (us)       (us)       "
            "(us)       (us)       (us)        \n"
            "           8       180       1.60       1.58       1.62       1.44       3.20          -   12345.68      "
            "0.160       1.75      0.250       0\n");
}

TEST(RdmaTableBanner, OfRdmaHasTheQueuesInThePlaceOfTheWindow) {
  Context context = rdma_context(RowKind::kBandwidth);
  context.options.output.quiet = false;
  context.options.sizes = {2, 65536, 1048576, 2};
  EXPECT_EQ(test::lines_of(header_text(context))[2],
            "# Sizes: 2 to 65536 bytes, step: 2(factor); queue pairs: 1; depth: 128; moderation: auto; inline: auto; "
            "transport: RC; mtu: auto; warmup iters: 3; iters: auto; checks: 1");
  RdmaOptions& rdma = context.options.rdma;
  rdma.queue_pairs = 4;
  rdma.depth = 64;
  rdma.moderation = 16;
  rdma.post_list = 8;
  rdma.inlined = 0;
  rdma.transport = Transport::kUc;
  rdma.mtu = 4096;
  EXPECT_EQ(test::lines_of(header_text(context))[2],
            "# Sizes: 2 to 65536 bytes, step: 2(factor); queue pairs: 4; depth: 64; moderation: 16; post list: 8; "
            "inline: 0; transport: UC; mtu: 4096; warmup iters: 3; iters: auto; checks: 1");
  context.row_kind = RowKind::kLatency;
  EXPECT_EQ(test::lines_of(header_text(context))[2],
            "# Sizes: 2 to 65536 bytes, step: 2(factor); queue pairs: 4; inline: 0; transport: UC; mtu: 4096; warmup "
            "iters: 3; iters: auto; checks: 1");
}

TEST(RdmaTableBanner, SaysWhatATimeIsInTheProgramsOwnWords) {
  Context context = rdma_context(RowKind::kLatency);
  context.options.output.quiet = false;
  context.options.iterations = 20;
  context.time_means = "from posting a read to its completion";
  EXPECT_EQ(test::lines_of(header_text(context))[5],
            "# Method: 20 iterations a size, sizes in order; from posting a read to its completion");
}

}  // namespace rdma_table_test
