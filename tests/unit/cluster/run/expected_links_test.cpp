#include "cluster/run/expectation.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/core/error.h"

namespace fabricbench::expected {
namespace {

constexpr double kGiga = 1e9;

host::NetworkDevice device_of(std::string name, std::string kind, std::int64_t mbit, std::string driver) {
  host::NetworkDevice device;
  device.name = std::move(name);
  device.kind = std::move(kind);
  device.state = "up";
  if (mbit > 0) device.speed_mbit_per_s = mbit;
  device.driver = std::move(driver);
  return device;
}

/// One rank on each of two hosts, which have an interface of 100 Gbit/s and one of 1 Gbit/s.
Context two_hosts() {
  Context context;
  context.program = "all_reduce_perf";
  context.backend = "mpi";
  for (int rank = 0; rank < 2; ++rank) {
    RankFacts facts;
    facts.rank = rank;
    facts.host = rank == 0 ? "node01" : "node02";
    context.ranks.push_back(facts);
    HostFacts host;
    host.name = facts.host;
    host.network_devices = {device_of("eth0", "ethernet", 100'000, "ice"), device_of("eth1", "ethernet", 1000, "igb")};
    context.host_facts.push_back(std::move(host));
  }
  context.hosts = 2;
  context.groups = {{"0-1", "node01, node02"}};
  context.groups[0].host_names = {"node01", "node02"};
  context.groups[0].usual_busbw = 1;
  context.groups[0].most_busbw = 1;
  return context;
}

baseline::DeviceBytes moved_by(const std::string& device, double bytes) {
  return {{"node01", {{device, bytes}}}, {"node02", {{device, bytes}}}};
}

MeasuredRow row_of(Bytes size, double busbw_gb) {
  MeasuredRow row{.busbw = busbw_gb * kGiga, .time = static_cast<double>(size) / busbw_gb / kGiga, .operations = 100};
  row.key.datatype = "float";
  row.key.size = size;
  return row;
}

/// The bytes that 100 operations of these rows need, and a little more.
baseline::DeviceBytes bytes_for(const std::vector<MeasuredRow>& rows, const std::string& device = "eth0") {
  double bytes = 0;
  for (const MeasuredRow& row : rows) bytes += 2.1 * static_cast<double>(row.key.size) * row.operations;
  return moved_by(device, bytes);
}

Expectation expect_of(const Context& context, const std::vector<MeasuredRow>& rows, double required,
                      const std::string& device = "eth0", double line_rate = 0) {
  return expect(context, rows, bytes_for(rows, device), {required, line_rate});
}

TEST(PayloadShare, FollowsFromTheHeadersOfThePackets) {
  host::NetworkDevice device = device_of("eth0", "ethernet", 1000, "igb");
  EXPECT_NEAR(payload_share(device), 1448.0 / 1538, 1e-9);
  device.mtu = 9000;
  EXPECT_NEAR(payload_share(device), 8948.0 / 9038, 1e-9);
  EXPECT_NEAR(payload_share(device_of("mlx5_0:1", "infiniband", 1000, "mlx5_core")), 4096.0 / 4122, 1e-9);
  EXPECT_NEAR(payload_share(device_of("mlx5_0:1", "ethernet", 1000, "mlx5_core")), 4096.0 / 4178, 1e-9);
}

TEST(NicRate, IsThatOfTheDevicesThatCarriedTheData) {
  const Context context = two_hosts();
  baseline::DeviceBytes bytes = moved_by("eth0", 1e9);
  bytes["node01"]["eth1"] = 1e7;  // management
  const LinkRate rate = nic_rate(context, bytes, 0);
  EXPECT_DOUBLE_EQ(rate.line, 12.5 * kGiga);
  EXPECT_NEAR(rate.payload, 12.5 * kGiga * 1448 / 1538, 1);
  EXPECT_EQ(rate.words, "1 x 100 Gbit/s (eth0), 94.1 % of it payload");
  EXPECT_DOUBLE_EQ(nic_rate(context, moved_by("eth1", 1e9), 0).line, 0.125 * kGiga);
}

TEST(NicRate, IsThatOfTheHostWithTheSlowestNics) {
  Context context = two_hosts();
  context.host_facts[1].network_devices[0].speed_mbit_per_s = 25'000;
  EXPECT_DOUBLE_EQ(nic_rate(context, moved_by("eth0", 1e9), 0).line, 3.125 * kGiga);
}

TEST(NicRate, OfVirtualDevicesIsUnknownUnlessGiven) {
  Context context = two_hosts();
  context.host_facts[1].network_devices[0].driver = "virtio_net 1.0";
  const LinkRate unknown = nic_rate(context, moved_by("eth0", 1e9), 0);
  EXPECT_EQ(unknown.line, 0);
  EXPECT_EQ(unknown.words, "the rate of eth0 on node02 (virtio_net 1.0) is unknown; give it with --line-rate");
  EXPECT_DOUBLE_EQ(nic_rate(context, moved_by("eth0", 1e9), 5 * kGiga).line, 5 * kGiga);
  context.host_facts[1].network_devices[0].driver.clear();  // veth, bridge and the like
  EXPECT_EQ(nic_rate(context, moved_by("eth0", 1e9), 0).words,
            "the rate of eth0 on node02 is unknown; give it with --line-rate");
}

TEST(NicRate, OfNcclIsThatOfAllPortsLikeThoseThatCarriedData) {
  Context context = two_hosts();
  context.backend = "nccl";
  for (HostFacts& host : context.host_facts) {
    for (int port = 0; port < 4; ++port) {
      host.network_devices.push_back(
          device_of("mlx5_" + std::to_string(port) + ":1", "infiniband", 400'000, "mlx5_core"));
    }
    host.network_devices.back().speed_mbit_per_s = 100'000;  // for storage
  }
  EXPECT_DOUBLE_EQ(nic_rate(context, moved_by("mlx5_0:1", 1e9), 0).line, 150 * kGiga);
  context.backend = "mpi";
  EXPECT_DOUBLE_EQ(nic_rate(context, moved_by("mlx5_0:1", 1e9), 0).line, 50 * kGiga);
}

TEST(NicRate, OfUncountedBytesIsUnknown) {
  EXPECT_EQ(nic_rate(two_hosts(), {}, 0).line, 0);
  EXPECT_EQ(nic_rate(two_hosts(), moved_by("eth9", 1e9), 0).words, "node01 has no device 'eth9'");
}

TEST(NvlinkRate, IsThatOfTheGpuWithTheSlowest) {
  Context context = two_hosts();
  EXPECT_EQ(nvlink_rate(context).line, 0);
  for (RankFacts& rank : context.ranks) {
    rank.gpu.emplace();
    rank.gpu->nvlink_rate = rank.rank == 0 ? 450 * kGiga : 425 * kGiga;
  }
  EXPECT_DOUBLE_EQ(nvlink_rate(context).line, 425 * kGiga);
  context.ranks[0].gpu->nvlink_rate = 0;
  EXPECT_EQ(nvlink_rate(context).line, 0);
}

TEST(Expectation, JudgesTheBestRowOfASeries) {
  const std::vector<MeasuredRow> rows = {row_of(1 << 10, 0.1), row_of(1 << 20, 9.5), row_of(1 << 24, 10.5)};
  const Expectation reached = expect_of(two_hosts(), rows, 0.85);
  EXPECT_EQ(reached.exit_status, 0) << reached.headline;
  EXPECT_EQ(reached.rows[0].verdict, Reach::kNotRequired);
  EXPECT_EQ(reached.rows[2].verdict, Reach::kReached);
  EXPECT_NEAR(reached.rows[2].share(), 10.5 / (12.5 * 1448 / 1538), 1e-6);
  const Expectation below = expect_of(two_hosts(), rows, 0.95);
  EXPECT_EQ(below.exit_status, 6);
  EXPECT_EQ(below.rows[2].verdict, Reach::kBelow);
  EXPECT_EQ(below.headline,
            "16 MiB float has 10.5 GB/s, 89 % of the 11.77 GB/s that its links allow; --expect requires "
            "95 %");
}

TEST(Expectation, IsNoPassAboveTheLimit) {
  const Expectation above = expect_of(two_hosts(), {row_of(1 << 24, 13)}, 0.8);
  EXPECT_EQ(above.exit_status, 7) << above.headline;
  EXPECT_EQ(above.rows[0].verdict, Reach::kAboveLimit);
  ASSERT_EQ(warnings_of(above).size(), 1U);
  EXPECT_NE(warnings_of(above)[0].find("13 GB/s where 12.5 GB/s are possible"), std::string::npos);
  const Expectation not_required = expect_of(two_hosts(), {row_of(1 << 24, 13)}, 0);
  EXPECT_EQ(not_required.exit_status, 0);
  EXPECT_EQ(warnings_of(not_required).size(), 1U);
  EXPECT_TRUE(lines_of(not_required).empty());
}

TEST(Expectation, IsUnknownWhereTheDataWentAnotherWay) {
  const std::vector<MeasuredRow> rows = {row_of(1 << 24, 10)};
  const Expectation unknown = expect(two_hosts(), rows, moved_by("eth0", 1e6), {0.8, 0});
  EXPECT_EQ(unknown.exit_status, 7);
  EXPECT_EQ(
      unknown.headline,
      "what the links allow is unknown: most of the data between hosts did not go over NICs whose bytes are counted");
}

TEST(Expectation, IsUnknownWhereTheTestDoesNotTellItsTraffic) {
  Context context = two_hosts();
  context.groups[0].usual_busbw = 0;
  EXPECT_EQ(expect_of(context, {row_of(1 << 24, 10)}, 0.8).exit_status, 7);
}

TEST(Expectation, OnOneHostIsOfNvlinks) {
  Context context = two_hosts();
  context.groups[0].host_names = {"node01"};
  const Expectation unknown = expect_of(context, {row_of(1 << 24, 400)}, 0.8);
  EXPECT_EQ(unknown.exit_status, 7);
  EXPECT_NE(unknown.headline.find("all ranks are on one host"), std::string::npos) << unknown.headline;
  for (RankFacts& rank : context.ranks) {
    rank.gpu.emplace();
    rank.gpu->nvlink_rate = 450 * kGiga;
  }
  EXPECT_EQ(expect_of(context, {row_of(1 << 24, 400)}, 0.8).exit_status, 0);
  EXPECT_EQ(expect_of(context, {row_of(1 << 24, 300)}, 0.8).exit_status, 6);
}

/// Hosts below these switches, with InfiniBand ports of 400 Gbit/s that carry the data.
Context hosts_below(const std::vector<std::string>& switches) {
  Context context = two_hosts();
  context.host_facts.clear();
  context.groups[0].host_names.clear();
  for (std::size_t i = 0; i < switches.size(); ++i) {
    HostFacts host;
    host.name = fmt::format("node{:02}", i + 1);
    host.switches = switches[i];
    host.network_devices = {device_of("mlx5_0:1", "infiniband", 400'000, "mlx5_core")};
    context.groups[0].host_names.push_back(host.name);
    context.host_facts.push_back(std::move(host));
  }
  context.options.timing = Timing::kIsolated;
  return context;
}

int switches_of(const std::vector<std::string>& switches) {
  const Context context = hosts_below(switches);
  return Paths(context).most_switches(context.groups[0]);
}

TEST(MostSwitches, AreThoseOfTheLongestPath) {
  EXPECT_EQ(switches_of({"leaf1", "leaf1"}), 1);
  EXPECT_EQ(switches_of({"spine.leaf1", "spine.leaf1"}), 1);
  EXPECT_EQ(switches_of({"spine.leaf1", "spine.leaf1", "spine.leaf2"}), 3);
  EXPECT_EQ(switches_of({"core.spine1.leaf1", "core.spine1.leaf2"}), 3);
  EXPECT_EQ(switches_of({"core.spine1.leaf1", "core.spine2.leaf1"}),
            5);                                                 // a leaf's name says nothing without its spine
  EXPECT_EQ(switches_of({"spine1.leaf1", "spine2.leaf2"}), 4);  // with a cable between the spines at best
}

TEST(MostSwitches, AreUnknownIfTheSchedulerTellsNone) {
  EXPECT_EQ(switches_of({"", ""}), 0);
  EXPECT_EQ(switches_of({"leaf1", ""}), 0);
}

TEST(PathLatency, IsThatOfMessagesWhichWaitForEachOther) {
  constexpr Latency kLatency{.ends = 0.6e-6, .of_switch = 0.13e-6};
  const auto time_of = [&](const Context& context) { return Paths(context).path_latency(context.groups[0], kLatency); };
  EXPECT_NEAR(time_of(hosts_below({"s.a", "s.b"})), 0.6e-6 + 3 * 0.13e-6, 1e-12);
  EXPECT_NEAR(time_of(hosts_below({"", ""})), 0.6e-6 + 0.13e-6, 1e-12);  // one switch at least
  EXPECT_NEAR(time_of(hosts_below({"s.a", "s.a", "s.b", "s.b", "s.b"})), 3 * 0.6e-6 + (2 + 3) * 0.13e-6, 1e-12);
}

TEST(PathLatency, IsUnknownWhereOperationsOverlap) {
  Context context = hosts_below({"s.a", "s.b"});
  context.options.timing = Timing::kPipelined;
  constexpr Latency kLatency{.ends = 0.6e-6, .of_switch = 0.13e-6};
  EXPECT_EQ(Paths(context).path_latency(context.groups[0], kLatency), 0);
  context.row_kind = RowKind::kLatency;  // one message at a time, however it is timed
  EXPECT_GT(Paths(context).path_latency(context.groups[0], kLatency), 0);
  context.row_kind = RowKind::kBandwidth;
  EXPECT_EQ(Paths(context).path_latency(context.groups[0], kLatency), 0);
}

TEST(LatencyOfDevice, IsThatOfRdmaPorts) {
  EXPECT_DOUBLE_EQ(latency_of(device_of("mlx5_0:1", "infiniband", 1000, "mlx5_core")).of_switch, 130e-9);
  EXPECT_DOUBLE_EQ(latency_of(device_of("mlx5_0:1", "ethernet", 1000, "mlx5_core")).of_switch, 300e-9);
  EXPECT_EQ(latency_of(device_of("eth0", "ethernet", 1000, "ice")).ends, 0);
}

TEST(Expectation, OfSmallMessagesHasThePathLatency) {
  const Context context = hosts_below({"s.a", "s.b"});
  constexpr Bytes kSmall = 8;
  constexpr double kTwoMicroseconds = kSmall / 2e-6 / kGiga;
  const std::vector<MeasuredRow> rows = {row_of(kSmall, kTwoMicroseconds), row_of(1 << 26, 45)};
  const Expectation expectation = expect(context, rows, bytes_for(rows, "mlx5_0:1"), {0.8, 0});
  ASSERT_EQ(expectation.exit_status, 0) << expectation.headline;
  EXPECT_NEAR(expectation.rows[0].share(), 0.99 / 2, 0.001);  // 0.6 us and three switches, of 2 us
  EXPECT_NEAR(expectation.rows[1].share(), 45 / (50 * 4096.0 / 4122), 0.001);
}

TEST(Expectation, OfGroupsOnOneHostAndAcrossHostsNamesAllLinks) {
  Context context = two_hosts();
  context.groups.push_back(context.groups[0]);
  context.groups[0].host_names = {"node01"};
  std::vector<MeasuredRow> rows = {row_of(1 << 24, 10), row_of(1 << 24, 11)};
  rows[1].group = 1;
  rows[1].key.subject = "ranks 2-3";
  const Expectation unknown = expect_of(context, rows, 0.8);
  EXPECT_EQ(unknown.exit_status, 7);
  EXPECT_EQ(unknown.headline.find("what the links allow is unknown: all ranks are on one host"), 0U)
      << unknown.headline;
  EXPECT_NE(unknown.links.find("one host, and the rate of what connects them there is unknown; 1 x 100 Gbit/s (eth0)"),
            std::string::npos)
      << unknown.links;
  EXPECT_EQ(unknown.rows[1].verdict, Reach::kReached);
}

TEST(Expectation, WithoutRowsCannotBeJudged) { EXPECT_EQ(expect_of(two_hosts(), {}, 0.8).exit_status, 7); }

TEST(Expectation, JudgesNothingWhereRanksWaitedForAProcessor) {
  for (const double busbw : {12.0, 1.0}) {
    std::vector<MeasuredRow> rows{row_of(1 << 20, 5), row_of(1 << 30, busbw)};
    rows[0].processor_wait = 0.63;
    const Expectation expectation = expect_of(two_hosts(), rows, 0.8);
    EXPECT_EQ(expectation.exit_status, 7);
    EXPECT_EQ(expectation.headline,
              "ranks waited for a processor 63 % of the time: these are not figures of the network");
  }
}

TEST(Expectation, ShowsAllRowsIfSomethingIsRequired) {
  const std::vector<std::string> lines = lines_of(expect_of(two_hosts(), {row_of(1 << 24, 10.5)}, 0.8));
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(lines[0], "Links: 1 x 100 Gbit/s (eth0), 94.1 % of it payload");
  EXPECT_NE(lines[3].find("16777216"), std::string::npos);
  EXPECT_EQ(lines[4], "Expected: the largest figures reach 89 % of what the links allow, or more; 80 % are required");
  for (const std::string& line : lines) {
    EXPECT_EQ(line.find("bandwidth"), std::string::npos) << line;  // for parsers of the table
    EXPECT_EQ(line.find("FAILED"), std::string::npos) << line;
  }
}

}  // namespace
}  // namespace fabricbench::expected
