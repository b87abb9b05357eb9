// Which device and port are opened, on a fake of libibverbs, and why none can be.

#include "common/backends/verbs/device.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <vector>

#include "fake_root.h"
#include "fake_verbs_devices.h"
#include "missing_error.h"
#include "scripted_clock.h"

using namespace fabricbench::verbs;
using namespace fabricbench::test;

namespace verbs_device_test {

ibv_port_attr port_in(ibv_port_state state, std::uint8_t layer = IBV_LINK_LAYER_INFINIBAND) {
  ibv_port_attr port{};
  port.state = state;
  port.link_layer = layer;
  port.gid_tbl_len = 4;
  return port;
}

ibv_gid_entry entry(std::uint32_t index, ibv_gid_type type, std::uint8_t last, std::uint32_t port = 1) {
  ibv_gid_entry made{};
  made.gid.raw[15] = last;
  made.gid_index = index;
  made.gid_type = type;
  made.port_num = port;
  return made;
}

std::vector<std::string> described(const std::vector<Gid>& gids) {
  std::vector<std::string> texts;
  for (const Gid& gid : gids) texts.push_back(describe(gid));
  return texts;
}

using Texts = std::vector<std::string>;

class OpenDeviceTest : public testing::Test {
 protected:
  OpenDeviceTest() { verbs_ = FakeVerbs(); }
  ~OpenDeviceTest() override { EXPECT_EQ(verbs_.lists, 0) << "a list of devices was not freed"; }

  FakeVerbsDevice& add(const std::string& name, const std::vector<ibv_port_attr>& ports) {
    FakeVerbsDevice& added = verbs_.add(name, (root_.path() / name).string());
    added.ports = ports;
    return added;
  }

  /// `mlx5_0:1`.
  static std::string opened(const std::string& device, int port) {
    const OpenDevice found = open_device(device, port);
    EXPECT_TRUE(found.port.active);
    EXPECT_EQ(found.context->device->name, found.port.device);
    return found.port.device + ":" + std::to_string(found.port.port);
  }

  static std::string error(const std::string& device, int port) {
    return missing_error([&] { (void)open_device(device, port); });
  }

  FakeRoot root_;
  FakeVerbs& verbs_ = fake_verbs();
};

TEST_F(OpenDeviceTest, TakesTheFirstWithAnActivePort) {
  add("mlx5_0", {port_in(IBV_PORT_DOWN)});
  add("mlx5_1", {port_in(IBV_PORT_INIT), port_in(IBV_PORT_ACTIVE)});
  add("mlx5_2", {port_in(IBV_PORT_ACTIVE)});
  EXPECT_EQ(opened("", 0), "mlx5_1:2");
  EXPECT_EQ(opened("", 1), "mlx5_2:1");
  EXPECT_EQ(opened("mlx5_2", 0), "mlx5_2:1");
  EXPECT_EQ(opened("mlx5_1", 2), "mlx5_1:2");
}

TEST_F(OpenDeviceTest, KeepsOpenWhatItReturnsOnly) {
  add("mlx5_0", {port_in(IBV_PORT_DOWN)});
  add("mlx5_1", {port_in(IBV_PORT_ACTIVE)});
  {
    const OpenDevice found = open_device("", 0);
    EXPECT_EQ(verbs_.devices[0].opened, 0);
    EXPECT_EQ(verbs_.devices[1].opened, 1);
  }
  EXPECT_EQ(verbs_.devices[1].opened, 0);
}

TEST_F(OpenDeviceTest, PassesByWhatCannotBeUsed) {
  add("mlx5_0", {port_in(IBV_PORT_ACTIVE)}).open_error = EACCES;
  add("iw0", {port_in(IBV_PORT_ACTIVE)}).device.transport_type = IBV_TRANSPORT_IWARP;
  EXPECT_EQ(error("", 0).find("no RDMA port to use is ACTIVE: mlx5_0 cannot be opened: verbs: ibv_open_device: "
                              "Permission denied (EACCES); "),
            0U)
      << error("", 0);
  EXPECT_EQ(error("iw0", 0),
            "no RDMA port to use is ACTIVE: iw0 is an iWARP device, whose queue pairs only rdma_cm connects; take an "
            "InfiniBand or RoCE one");
  EXPECT_EQ(verbs_.devices[1].opened, 0);
  add("mlx5_1", {port_in(IBV_PORT_ACTIVE)});
  EXPECT_EQ(opened("", 0), "mlx5_1:1");
}

TEST_F(OpenDeviceTest, NamesTheDevicesThatThereAre) {
  add("mlx5_0", {port_in(IBV_PORT_ACTIVE)});
  add("rxe0", {port_in(IBV_PORT_ACTIVE)});
  EXPECT_EQ(error("mlx5_9", 0), "there is no RDMA device 'mlx5_9'; choose one of: mlx5_0, rxe0");
  EXPECT_EQ(error("mlx5_0,rxe0", 0),
            "there is no RDMA device 'mlx5_0,rxe0'; choose one of: mlx5_0, rxe0; --devices takes several, one for each "
            "rank of a host");
}

TEST_F(OpenDeviceTest, SaysWhichPortsAreNotActive) {
  add("mlx5_0", {port_in(IBV_PORT_DOWN, IBV_LINK_LAYER_ETHERNET), port_in(IBV_PORT_ACTIVE)});
  EXPECT_EQ(
      error("mlx5_0", 1),
      "-i 1: no RDMA port to use is ACTIVE: port 1 of mlx5_0 is DOWN; set its network interface up (rdma link tells "
      "its NAME; ip link set dev NAME up), and check the cable and the switch");
  EXPECT_EQ(error("mlx5_0", 3), "-i 3: no RDMA port to use is ACTIVE: mlx5_0 has 2 port(s)");
}

TEST_F(OpenDeviceTest, SaysWhyThereIsNoDevice) {
  EXPECT_EQ(error("", 0), why_no_device(0));
  verbs_.list_error = ENOSYS;
  EXPECT_EQ(error("mlx5_0", 1), why_no_device(ENOSYS));
}

TEST_F(OpenDeviceTest, SaysWhatFailed) {
  FakeVerbsDevice& device = add("mlx5_0", {port_in(IBV_PORT_ACTIVE)});
  device.query_error = EIO;
  EXPECT_EQ(error("", 0).find("no RDMA port to use is ACTIVE: mlx5_0 does not answer: verbs: ibv_query_device: "
                              "Input/output error (EIO); "),
            0U)
      << error("", 0);
  EXPECT_EQ(device.opened, 0);
  device.query_error = 0;
  device.port_error = ETIMEDOUT;
  EXPECT_EQ(error("mlx5_0", 1)
                .find("-i 1: no RDMA port to use is ACTIVE: mlx5_0 does not answer: verbs: "
                      "ibv_query_port: Connection timed out (ETIMEDOUT); "),
            0U)
      << error("mlx5_0", 1);
  EXPECT_EQ(device.opened, 0);
}

TEST_F(OpenDeviceTest, PassesByDevicesThatFailAndNamesThem) {
  add("mlx5_0", {port_in(IBV_PORT_ACTIVE)}).query_error = EIO;
  add("mlx5_1", {port_in(IBV_PORT_DOWN), port_in(IBV_PORT_INIT)});
  add("mlx5_2", {port_in(IBV_PORT_ACTIVE)});
  add("mlx5_3", {port_in(IBV_PORT_DOWN)});
  const OpenDevice found = open_device("", 0);
  EXPECT_EQ(found.port.device, "mlx5_2");
  ASSERT_EQ(found.passed_by.size(), 2U);
  EXPECT_EQ(found.passed_by[0].name, "mlx5_0");
  EXPECT_EQ(found.passed_by[0].reason.find("it does not answer: verbs: ibv_query_device: "), 0U);
  EXPECT_EQ(found.passed_by[1].name, "mlx5_1");
  EXPECT_EQ(found.passed_by[1].reason, "port 1 is DOWN, port 2 is INIT");
  EXPECT_EQ(verbs_.devices[0].opened, 0);
}

TEST_F(OpenDeviceTest, ListsDevicesThatFailToo) {
  add("mlx5_0", {port_in(IBV_PORT_ACTIVE)}).port_error = EIO;
  ibv_port_attr port = port_in(IBV_PORT_ACTIVE);
  port.active_speed = 32;
  port.active_width = 2;
  add("mlx5_1", {port});
  add("mlx5_2", {port});
  root_.make_directory("mlx5_2/device/physfn");
  const std::vector<DeviceState> states = device_states();
  ASSERT_EQ(states.size(), 3U);
  EXPECT_EQ(active_port(states[0], 0), 0);
  EXPECT_EQ(why_unusable(states[0], 0).find("it does not answer: "), 0U);
  EXPECT_EQ(active_port(states[1], 0), 1);
  EXPECT_DOUBLE_EQ(states[1].ports[0].rate, 12.5e9);
  EXPECT_FALSE(states[1].virtual_function);
  EXPECT_TRUE(states[2].virtual_function);
  EXPECT_EQ(why_unusable(states[1], 2), "it has 1 port(s)");
}

TEST_F(OpenDeviceTest, TellsTheFactsOfAnInfiniBandPort) {
  ibv_port_attr port = port_in(IBV_PORT_ACTIVE);
  port.lid = 0xbeef;
  port.active_mtu = IBV_MTU_4096;
  port.max_msg_sz = 1U << 30;
  port.active_speed = 32;
  port.active_width = 2;
  FakeVerbsDevice& device = add("mlx5_0", {port});
  device.gids = {entry(0, IBV_GID_TYPE_IB, 7)};
  device.limits.max_qp_rd_atom = 16;
  device.limits.max_qp_init_rd_atom = 12;
  device.limits.atomic_cap = IBV_ATOMIC_HCA;
  device.limits.max_qp_wr = 32768;
  device.limits.max_cqe = 4194303;
  const PortFacts facts = open_device("", 0).port;
  EXPECT_EQ(facts.state, "ACTIVE");
  EXPECT_FALSE(facts.ethernet);
  EXPECT_EQ(facts.lid, 0xbeefU);
  EXPECT_EQ(facts.mtu, 4096);
  EXPECT_EQ(facts.largest_message, 1U << 30);
  EXPECT_DOUBLE_EQ(facts.rate, 12.5e9);
  EXPECT_EQ(facts.most_outstanding, 12);
  EXPECT_TRUE(facts.atomics);
  EXPECT_EQ(facts.most_requests, 32768);
  EXPECT_EQ(facts.most_completions, 4194303);
  EXPECT_EQ(described(facts.gids), (Texts{"0: InfiniBand ::7"}));
}

TEST_F(OpenDeviceTest, KnowsWhichPortsNeedAGlobalRoute) {
  const auto needs = [&](std::uint8_t link_layer, std::uint8_t flags) {
    verbs_ = FakeVerbs();
    ibv_port_attr port = port_in(IBV_PORT_ACTIVE);
    port.link_layer = link_layer;
    port.flags = flags;
    add("mlx5_0", {port});
    return open_device("", 0).port.needs_global_route;
  };
  EXPECT_FALSE(needs(IBV_LINK_LAYER_INFINIBAND, 0));
  EXPECT_TRUE(needs(IBV_LINK_LAYER_INFINIBAND, IBV_QPF_GRH_REQUIRED));
  EXPECT_TRUE(needs(IBV_LINK_LAYER_UNSPECIFIED, 0)) << "EFA";
}

TEST_F(OpenDeviceTest, CallsALinkLayerWhatItIs) {
  const auto network = [&](std::uint8_t link_layer) {
    verbs_ = FakeVerbs();
    add("mlx5_0", {port_in(IBV_PORT_ACTIVE, link_layer)}).gids = {entry(0, IBV_GID_TYPE_IB, 7)};
    const PortFacts facts = open_device("", 0).port;
    return fmt::format("{}; {}", network_of(facts), describe(facts.gids.at(0)));
  };
  EXPECT_EQ(network(IBV_LINK_LAYER_INFINIBAND), "InfiniBand; 0: InfiniBand ::7");
  EXPECT_EQ(network(IBV_LINK_LAYER_UNSPECIFIED), "unspecified link layer; 0: unspecified link layer ::7");
}

TEST_F(OpenDeviceTest, ReadsThePartitionsOfItsPort) {
  ibv_port_attr port = port_in(IBV_PORT_ACTIVE);
  port.pkey_tbl_len = 5;
  add("mlx5_0", {port}).partitions = {0x7fff, 0, 0x8012, 0, 0};
  EXPECT_EQ(open_device("", 0).port.partitions, (PartitionTable{0x7fff, 0, 0x8012}));
}

TEST_F(OpenDeviceTest, TellsTheFactsOfARocePort) {
  ibv_port_attr port = port_in(IBV_PORT_ACTIVE, IBV_LINK_LAYER_ETHERNET);
  port.active_mtu = IBV_MTU_1024;
  port.active_speed = 4;
  port.active_width = 2;
  add("rxe0", {port});
  const PortFacts facts = open_device("", 0).port;
  EXPECT_TRUE(facts.ethernet);
  EXPECT_EQ(facts.mtu, 1024);
  EXPECT_DOUBLE_EQ(facts.rate, 5e9);
  EXPECT_FALSE(facts.atomics);
  EXPECT_TRUE(facts.gids.empty());
}

TEST_F(OpenDeviceTest, KnowsTheRateThatHasNoCodeOfEightBits) {
  ibv_port_attr port = port_in(IBV_PORT_ACTIVE);
  port.active_speed = 128;
  port.active_width = 2;
  add("mlx5_0", {port});
  EXPECT_DOUBLE_EQ(open_device("", 0).port.rate, 50e9);
  root_.write("mlx5_0/ports/1/rate", "800 Gb/sec (4X XDR)\n");
  EXPECT_DOUBLE_EQ(open_device("", 0).port.rate, 100e9);
}

TEST_F(OpenDeviceTest, ReadsTheGidsOfItsPort) {
  const ibv_port_attr port = port_in(IBV_PORT_ACTIVE, IBV_LINK_LAYER_ETHERNET);
  FakeVerbsDevice& device = add("mlx5_0", {port, port});
  device.gids = {entry(0, IBV_GID_TYPE_ROCE_V1, 1), entry(1, IBV_GID_TYPE_ROCE_V2, 1),
                 entry(2, IBV_GID_TYPE_ROCE_V2, 0), entry(0, IBV_GID_TYPE_ROCE_V1, 2, 2),
                 entry(3, IBV_GID_TYPE_ROCE_V2, 2, 2)};
  EXPECT_EQ(described(open_device("", 1).port.gids), (Texts{"0: RoCE v1 ::1", "1: RoCE v2 ::1"}));
  EXPECT_EQ(described(open_device("", 2).port.gids), (Texts{"0: RoCE v1 ::2", "3: RoCE v2 ::2"}));
}

TEST_F(OpenDeviceTest, ReadsTheGidsOneByOneWhereTheTableIsNotGiven) {
  const ibv_port_attr ethernet = port_in(IBV_PORT_ACTIVE, IBV_LINK_LAYER_ETHERNET);
  FakeVerbsDevice& device = add("mlx5_0", {ethernet, port_in(IBV_PORT_ACTIVE)});
  device.gids = {entry(0, IBV_GID_TYPE_IB, 1), entry(1, IBV_GID_TYPE_IB, 2), entry(2, IBV_GID_TYPE_IB, 0),
                 entry(0, IBV_GID_TYPE_IB, 4, 2),
                 entry(4, IBV_GID_TYPE_IB, 5)};  // the last lies behind the table's end
  device.table_error = EOPNOTSUPP;
  root_.write("mlx5_0/ports/1/gid_attrs/types/0", "IB/RoCE v1\n");
  root_.write("mlx5_0/ports/1/gid_attrs/types/1", "RoCE v2\n");
  root_.write("mlx5_0/ports/2/gid_attrs/types/0", "IB/RoCE v1\n");
  EXPECT_EQ(described(open_device("", 1).port.gids), (Texts{"0: RoCE v1 ::1", "1: RoCE v2 ::2"}));
  EXPECT_EQ(described(open_device("", 2).port.gids), (Texts{"0: InfiniBand ::4"}));
}

TEST_F(OpenDeviceTest, KnowsWhatSharedReceiveQueuesThereAre) {
  FakeVerbsDevice& device = add("mlx5_0", {port_in(IBV_PORT_ACTIVE)});
  const std::string none = missing_error([] { check_shared_receives(open_device("", 0).port, 1); });
  EXPECT_EQ(none.find("--use-srq: mlx5_0 has no shared receive queues"), 0U) << none;
  device.limits.max_srq = 3;
  device.limits.max_srq_wr = 100;
  EXPECT_NO_THROW(check_shared_receives(open_device("", 0).port, 100));
  try {
    check_shared_receives(open_device("", 0).port, 101);
    FAIL() << "that is more than it has";
  } catch (const fabricbench::UsageError& error) {
    EXPECT_STREQ(error.what(), "-r 101: a shared receive queue of mlx5_0 has at most 100 entries; lower it");
  }
}

TEST_F(OpenDeviceTest, SaysWhatHasBecomeOfThePort) {
  FakeVerbsDevice& device = add("mlx5_0", {port_in(IBV_PORT_ACTIVE)});
  const OpenDevice opened = open_device("", 0);
  EXPECT_EQ(own_port_text(opened.port, current_state(opened)), "mlx5_0 port 1 of this host is ACTIVE");
  device.ports[0].state = IBV_PORT_DOWN;
  EXPECT_EQ(own_port_text(opened.port, current_state(opened)), "mlx5_0 port 1 of this host is DOWN");
  EXPECT_EQ(own_port_text(opened.port, std::nullopt),
            "mlx5_0 port 1 of this host is in an unknown state, because the device no longer answers");
}

TEST_F(OpenDeviceTest, GivesAPortAMomentToShowThatItWentDown) {
  FakeVerbsDevice& device = add("mlx5_0", {port_in(IBV_PORT_ACTIVE)});
  const OpenDevice opened = open_device("", 0);
  {
    const ScriptedClock clock;
    EXPECT_EQ(stable_state(opened), IBV_PORT_ACTIVE);
    EXPECT_NEAR(clock.slept(), 0.5, 0.011) << "it stayed up";
  }
  {
    ScriptedClock clock;
    clock.when_sleeping([&](fabricbench::Seconds) {
      if (clock.slept() >= 0.25) device.ports[0].state = IBV_PORT_DOWN;
    });
    EXPECT_EQ(stable_state(opened), IBV_PORT_DOWN);
    EXPECT_NEAR(clock.slept(), 0.26, 0.011) << "no longer than that took";
  }
  const ScriptedClock clock;
  EXPECT_EQ(stable_state(opened), IBV_PORT_DOWN);
  EXPECT_EQ(clock.slept(), 0) << "it is down already";
}

TEST(PortRate, IsNetOfItsCodingOnInfiniBand) {
  constexpr int k1x = 1;
  constexpr int k4x = 2;
  EXPECT_DOUBLE_EQ(port_rate(1, k4x, false), 1e9);                 // SDR: 10 Gbit/s, 8 of data
  EXPECT_DOUBLE_EQ(port_rate(2, k4x, false), 2e9);                 // DDR
  EXPECT_DOUBLE_EQ(port_rate(4, k4x, false), 4e9);                 // QDR
  EXPECT_DOUBLE_EQ(port_rate(8, k4x, false), 5e9);                 // FDR10
  EXPECT_NEAR(port_rate(16, k4x, false), 54.5454e9 / 8, 0.001e9);  // FDR
  EXPECT_DOUBLE_EQ(port_rate(32, k4x, false), 12.5e9);             // EDR
  EXPECT_DOUBLE_EQ(port_rate(64, k4x, false), 25e9);               // HDR
  EXPECT_DOUBLE_EQ(port_rate(128, k4x, false), 50e9);              // NDR
  EXPECT_DOUBLE_EQ(port_rate(256, k4x, false), 100e9);             // XDR
  EXPECT_DOUBLE_EQ(port_rate(64, k1x, false), 6.25e9);
  EXPECT_DOUBLE_EQ(port_rate(64, 16, false), 12.5e9);  // 2X: HDR100
  EXPECT_DOUBLE_EQ(port_rate(32, 4, false), 25e9);     // 8X
  EXPECT_DOUBLE_EQ(port_rate(32, 8, false), 37.5e9);   // 12X
}

TEST(PortRate, IsTheNominalOneOnEthernet) {
  EXPECT_DOUBLE_EQ(port_rate(8, 1, true), 1.25e9);    // 10 Gbit/s as 1X FDR10
  EXPECT_DOUBLE_EQ(port_rate(1, 2, true), 1.25e9);    // or as 4X SDR
  EXPECT_DOUBLE_EQ(port_rate(4, 2, true), 5e9);       // 40 Gbit/s
  EXPECT_DOUBLE_EQ(port_rate(32, 1, true), 3.125e9);  // 25 Gbit/s
  EXPECT_DOUBLE_EQ(port_rate(128, 2, true), 50e9);    // 400 Gbit/s
}

TEST(PortRate, IsZeroWhereACodeIsNotKnown) {
  EXPECT_EQ(port_rate(0, 2, false), 0);
  EXPECT_EQ(port_rate(3, 2, false), 0);
  EXPECT_EQ(port_rate(32, 0, false), 0);
  EXPECT_EQ(port_rate(32, 3, true), 0);
}

TEST(SpeedCode, IsThatOfThePortButForXdr) {
  EXPECT_EQ(speed_code(128, "400 Gb/sec (4X NDR)"), 128);
  EXPECT_EQ(speed_code(128, "800 Gb/sec (4X XDR)"), 256);
  EXPECT_EQ(speed_code(32, ""), 32);
}

TEST(ActivePort, IsTheFirstOrTheOneAskedFor) {
  const DeviceState device{"mlx5_0", {{1, IBV_PORT_DOWN}, {2, IBV_PORT_ACTIVE}, {3, IBV_PORT_ACTIVE}}, ""};
  EXPECT_EQ(active_port(device, 0), 2);
  EXPECT_EQ(active_port(device, 3), 3);
  EXPECT_EQ(active_port(device, 1), 0);
  EXPECT_EQ(active_port(device, 4), 0);
  EXPECT_EQ(active_port({"iw0", {}, "is an iWARP device"}, 0), 0);
}

TEST(WhyNoneActive, ListsAllAndAdvisesOnTheFirst) {
  EXPECT_EQ(
      why_none_active({{"mlx5_0", {}, "cannot be opened"},
                       {"mlx5_1", {{1, IBV_PORT_INIT, 5}, {2, IBV_PORT_DOWN, 2}}, ""},
                       {"mlx5_2", {{1, IBV_PORT_DOWN, 2}}, ""}},
                      0),
      "no RDMA port to use is ACTIVE: mlx5_0 cannot be opened, port 1 of mlx5_1 is INIT, port 2 of mlx5_1 is DOWN, "
      "port 1 of mlx5_2 is DOWN; the link is up, but no subnet manager has configured it; start one (opensm), or check "
      "the running one");
  EXPECT_EQ(
      why_none_active(
          {{"mlx5_1", {{1, IBV_PORT_INIT}, {2, IBV_PORT_DOWN, 2}}, ""}, {"mlx5_2", {{1, IBV_PORT_DOWN}}, ""}}, 2),
      "-i 2: no RDMA port to use is ACTIVE: port 2 of mlx5_1 is DOWN, mlx5_2 has 1 port(s); no link partner answers; "
      "check the cable and the switch's port");
}

TEST(WhyNoneActive, KnowsWhatToDoAboutEachState) {
  const auto ends_with = [](const PortState& port, const std::string& advice) {
    const std::string text = why_none_active({{"mlx5_0", {port}, ""}}, 0);
    return text.size() >= advice.size() && text.substr(text.size() - advice.size()) == advice;
  };
  EXPECT_TRUE(ends_with({1, IBV_PORT_ARMED, 5, false}, "or check the running one"));
  EXPECT_TRUE(ends_with({1, IBV_PORT_DOWN, 3, false}, "it is disabled; enable it (ibportstate)"));
  EXPECT_TRUE(ends_with({1, IBV_PORT_DOWN, 1, false}, "check the cable, the switch's port and ibstat"));
  EXPECT_TRUE(ends_with({1, IBV_PORT_DOWN, 3, true}, "check the cable and the switch"));
}

TEST(WhyNoDevice, TellsAKernelWithoutRdmaFromOneWithoutDevices) {
  const FakeRoot root;
  EXPECT_EQ(
      why_no_device(ENOSYS, root.path()),
      "the kernel has no RDMA support (ENOSYS): its modules are not loaded, or it was built without; load its driver "
      "(modprobe mlx5_ib and ib_uverbs), or create a software device on a network interface (modprobe rdma_rxe; rdma "
      "link add rxe0 type rxe netdev NAME)");
  EXPECT_EQ(
      why_no_device(0, root.path()),
      "no RDMA device: the kernel supports RDMA, but has none; load its driver (modprobe mlx5_ib and ib_uverbs), or "
      "create a software device on a network interface (modprobe rdma_rxe; rdma link add rxe0 type rxe netdev NAME)");
  root.make_directory("sys/class/infiniband");
  EXPECT_EQ(why_no_device(0, root.path()).find("no RDMA device: "), 0U);
}

TEST(WhyNoDevice, NamesDevicesThatTheProgramCannotReach) {
  const FakeRoot root;
  root.make_directory("sys/class/infiniband/mlx5_1");
  root.make_directory("sys/class/infiniband/mlx5_0");
  EXPECT_EQ(why_no_device(ENOSYS, root.path()),
            "no RDMA device can be used: the kernel has mlx5_0, mlx5_1, but not its module ib_uverbs (ENOSYS); load it "
            "(modprobe ib_uverbs)");
  EXPECT_EQ(why_no_device(0, root.path()),
            "no RDMA device can be used: the kernel has mlx5_0, mlx5_1, but there is no /dev/infiniband; start the "
            "container with --device=/dev/infiniband, or load the module ib_uverbs");
  root.make_directory("dev/infiniband");
  EXPECT_EQ(
      why_no_device(0, root.path()),
      "no RDMA device can be used: the kernel has mlx5_0, mlx5_1, but libibverbs has no driver for it, or no file of "
      "it below /dev/infiniband; install ibverbs-providers (rdma-core)");
}

TEST(WhyNoDevice, ExplainsOtherErrors) {
  const FakeRoot root;
  EXPECT_EQ(why_no_device(EMFILE, root.path()),
            "verbs: ibv_get_device_list: Too many open files (EMFILE); this process has too many open files; raise the "
            "limit (ulimit -n)");
}

}  // namespace verbs_device_test
