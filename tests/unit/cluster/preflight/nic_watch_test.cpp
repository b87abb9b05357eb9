// What NICs did between two readings, and what is said of it.

#include "cluster/preflight/nic_watch.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "fake_root.h"

namespace fabricbench::cluster {
namespace {

const std::string kInterface = "sys/class/net/eth0/";
const std::string kPort = "sys/class/infiniband/mlx5_0/ports/1/";

/// One interface and one port, with counters at 100.
void fill(const test::FakeRoot& root) {
  root.write(kInterface + "operstate", "up\n");
  for (const char* name : {"tx_bytes", "rx_bytes", "rx_dropped", "rx_packets"}) {
    root.write(kInterface + "statistics/" + name, "100\n");
  }
  for (const char* name : {"port_xmit_data", "port_rcv_data", "symbol_error"}) {
    root.write(kPort + "counters/" + name, "100\n");
  }
  root.write(kPort + "hw_counters/np_cnp_sent", "100\n");
}

TEST(NicWatchTest, TellsBytesAndEventsSinceTheLastReading) {
  const test::FakeRoot root;
  fill(root);
  NicWatch watch(root.path());
  EXPECT_TRUE(watch.next("node01", 1).empty());
  root.write(kInterface + "statistics/rx_bytes", "2100\n");
  root.write(kInterface + "statistics/rx_packets", "110\n");
  root.write(kInterface + "statistics/rx_dropped", "103\n");
  const std::vector<PreflightTraffic> traffic = watch.next("node01", 3);
  ASSERT_EQ(traffic.size(), 1U);
  EXPECT_EQ(traffic[0].nic, "eth0");
  EXPECT_EQ(traffic[0].rx_bytes, 2000U);
  EXPECT_DOUBLE_EQ(traffic[0].rate(traffic[0].rx_bytes), 1000);
  ASSERT_EQ(traffic[0].events.size(), 1U);  // packets are no event
  EXPECT_EQ(traffic[0].events[0].counter, "rx_dropped");
  EXPECT_EQ(traffic[0].events[0].grew_by, 3U);
}

TEST(NicWatchTest, CountsErrorsOfPortsWithoutTraffic) {
  const test::FakeRoot root;
  fill(root);
  NicWatch watch(root.path());
  root.write(kPort + "counters/symbol_error", "107\n");
  const std::vector<PreflightTraffic> traffic = watch.next("node01", 1);
  ASSERT_EQ(traffic.size(), 1U);
  EXPECT_EQ(traffic[0].nic, "mlx5_0:1");
  EXPECT_EQ(traffic[0].events[0].grew_by, 7U);
}

TEST(JudgeTrafficTest, HostsWithOneCounterShareALine) {
  const std::vector<PreflightFinding> found =
      judge_traffic({{"node01", "mlx5_0:1", 1, 1, 0, 0, {{"symbol_error", 2}}},
                     {"node01", "mlx5_0:1", 2, 1, 0, 0, {{"symbol_error", 3}}},
                     {"node02", "mlx5_0:1", 2, 1, 0, 0, {{"symbol_error", 1}, {"np_cnp_sent", 9}}}});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].what.measured, "np_cnp_sent grew by 9");
  EXPECT_EQ(found[0].what.level, host::CheckLevel::kNote);
  EXPECT_EQ(found[1].hosts, "node[01-02]");
  EXPECT_EQ(found[1].what.measured, "symbol_error grew by up to 5");
  EXPECT_EQ(found[1].what.level, host::CheckLevel::kWarning);
}

}  // namespace
}  // namespace fabricbench::cluster
