#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/record/packing.h"
#include "common/report/banner.h"
#include "common/report/file_sinks.h"
#include "option_test_support.h"
#include "report_test_support.h"

using namespace fabricbench;
using test::Written;
using Json = nlohmann::json;

namespace connect_output_test {

const Program& connections() { return test::kConnect; }

ConnectRow example_connections() {
  ConnectRow row;
  const std::vector<Seconds> times = {2e-3, 1e-3, 4e-3};
  row.steps = {summarize(ConnectStep::kConnect, times, 6e-3), summarize(ConnectStep::kDisconnect, {}, 0)};
  row.connections = 3;
  row.failed = 1;
  row.rate = 250;
  row.messages = 24;
  row.lost = 2;
  row.wrong = 1;
  row.first_wrong = "message 0";
  row.status = 4;
  row.problem = "connecting with rank 1";
  return row;
}

Context connect_context() {
  Context context;
  context.program = "rdma_cm_connect";
  context.row_kind = RowKind::kConnections;
  context.options.output.quiet = true;
  return context;
}

TEST(ConnectTimes, HaveAPercentileOnlyWithEnoughSamples) {
  std::vector<Seconds> times;
  for (int i = 298; i > 0; --i) times.push_back(i);
  EXPECT_FALSE(summarize(ConnectStep::kConnect, times, 1).p99.has_value());
  times.push_back(299);
  const ConnectTimes summary = summarize(ConnectStep::kConnect, times, 10);
  EXPECT_EQ(summary.min, 1);
  EXPECT_EQ(summary.median, 150);
  EXPECT_EQ(summary.p99, 297);
  EXPECT_EQ(summary.max, 299);
  EXPECT_EQ(summary.rate, 29.9);
  EXPECT_EQ(summarize(ConnectStep::kConnect, {}, 0).samples, 0);
  EXPECT_FALSE(summarize(ConnectStep::kConnect, {}, 0).rate.has_value());
}

TEST(ConnectTable, HasARowAStep) {
  test::WrittenTable<RowKind::kConnections> table;
  table->begin(connect_context());
  table->record(example_connections());
  table->end({});
  const std::vector<std::string> lines = table.lines();
  ASSERT_EQ(lines.size(), 6U) << table.text();
  EXPECT_EQ(lines[1],
            "# pair              step   samples         min      median         p99         max    steps/s     conns  "
            "failed    "
            "conns/s   messages    lost  #wrong");
  EXPECT_EQ(
      lines[3],
      "     0           connect         3     1000.00     2000.00           -     4000.00     500.00         3    "
      "   1     "
      "250.00         24       2       1");
  EXPECT_EQ(
      lines[4],
      "     0        disconnect         0           -           -           -           -          -         3    "
      "   1     "
      "250.00         24       2       1");
}

TEST(ConnectJson, HasALineAStep) {
  Written<JsonLinesSink> json;
  json->record(example_connections());
  const std::vector<std::string> lines = json.lines();
  ASSERT_EQ(lines.size(), 2U);
  const Json step = Json::parse(lines[0]);
  EXPECT_EQ(step["kind"], "connection_step");
  EXPECT_EQ(step["step"], "connect");
  EXPECT_EQ(step["samples"], 3);
  EXPECT_DOUBLE_EQ(step["time_us_median"].get<double>(), 2000);
  EXPECT_TRUE(step["time_us_p99"].is_null());
  EXPECT_DOUBLE_EQ(step["step_rate_per_s"].get<double>(), 500);
  EXPECT_EQ(step["failed_connections"], 1);
  EXPECT_EQ(step["lost_messages"], 2);
  EXPECT_EQ(step["problem"], "connecting with rank 1");
  EXPECT_TRUE(Json::parse(lines[1])["time_us_median"].is_null());
}

TEST(ConnectRow, IsPackedWhole) {
  const ConnectRow row = example_connections();
  const ConnectRow unpacked = record::unpack<ConnectRow>(record::pack(row));
  ASSERT_EQ(unpacked.steps.size(), 2U);
  EXPECT_EQ(unpacked.steps[0].step, ConnectStep::kConnect);
  EXPECT_EQ(unpacked.steps[0].median, 2e-3);
  EXPECT_EQ(unpacked.steps[0].rate, 500);
  EXPECT_EQ(unpacked.connections, 3);
  EXPECT_EQ(unpacked.failed, 1);
  EXPECT_EQ(unpacked.rate, 250);
  EXPECT_EQ(unpacked.messages, 24U);
  EXPECT_EQ(unpacked.lost, 2U);
  EXPECT_EQ(unpacked.wrong, 1U);
  EXPECT_EQ(unpacked.first_wrong, "message 0");
  EXPECT_EQ(unpacked.status, 4);
  EXPECT_EQ(unpacked.problem, "connecting with rank 1");
}

TEST(ConnectOptions, AreThoseThatMeanSomethingToConnections) {
  EXPECT_EQ(test::own_options(connections()),
            (std::set<std::string>{"iters", "quick", "parallel", "messages", "size", "connection", "ib_dev", "ib_port",
                                   "gid_index", "stall_timeout", "pairs", "timeout", "stall_action"}));
}

TEST(ConnectOptions, AreRead) {
  const Options usual = parse_command_line(connections(), {}).options;
  EXPECT_EQ(usual.rdma.connections, 100);
  EXPECT_EQ(usual.rdma.parallel, 1);
  EXPECT_EQ(usual.rdma.messages, 4);
  EXPECT_EQ(usual.sizes.max_bytes, 64U);
  EXPECT_EQ(usual.rdma.transport, Transport::kRc);
  const Options given =
      parse_command_line(connections(), {"-n", "7", "-C", "2", "-s", "1K", "-c", "UD", "-d", "rxe0", "-x", "1"})
          .options;
  EXPECT_EQ(given.rdma.connections, 7);
  EXPECT_EQ(given.rdma.messages, 2);
  EXPECT_EQ(given.sizes.max_bytes, 1024U);
  EXPECT_EQ(given.rdma.transport, Transport::kUd);
  EXPECT_EQ(given.rdma.device, "rxe0");
}

TEST(ConnectOptions, AreAsManyConnectionsAsAtTheSameTime) {
  const auto connections_of = [](const std::vector<std::string>& arguments) {
    return parse_command_line(connections(), arguments).options.rdma.connections;
  };
  EXPECT_EQ(connections_of({"--parallel", "7"}), 100);
  EXPECT_EQ(connections_of({"--parallel", "700"}), 700);
  EXPECT_EQ(connections_of({"--parallel", "7", "-n", "8"}), 8);
}

TEST(ConnectOptions, RefuseWhatConnectionsCannotDo) {
  EXPECT_THROW((void)parse_command_line(connections(), {"-c", "UC"}), UsageError);
  EXPECT_THROW((void)parse_command_line(connections(), {"-c", "UD", "-s", "8K"}), UsageError);
  EXPECT_THROW((void)parse_command_line(connections(), {"-C", "1024", "-s", "2M"}), UsageError);
  EXPECT_NO_THROW((void)parse_command_line(connections(), {"-C", "1024", "-s", "1M"}));
  EXPECT_THROW((void)parse_command_line(connections(), {"-C", "1024", "-s", "1M", "--parallel", "2"}), UsageError);
  EXPECT_THROW((void)parse_command_line(connections(), {"-n", "7", "--parallel", "8"}), UsageError);
  EXPECT_THROW((void)parse_command_line(connections(), {"--parallel", "0"}), UsageError);
  EXPECT_THROW((void)parse_command_line(connections(), {"--csv", "f"}), UsageError);
  EXPECT_THROW((void)parse_command_line(connections(), {"-q", "2"}), UsageError);
}

}  // namespace connect_output_test
