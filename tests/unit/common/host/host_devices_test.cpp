#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <optional>
#include <string>
#include <vector>

#include "common/host/nics.h"
#include "common/host/topology.h"
#include "fake_root.h"
#include "scoped_variable.h"

using namespace fabricbench::host;
using fabricbench::test::FakeRoot;
using fabricbench::test::ScopedVariable;

namespace host_devices_test {

void write_port(const FakeRoot& root, const std::string& device, const std::string& port, const std::string& rate) {
  const std::string directory = "sys/class/infiniband/" + device + "/ports/" + port;
  root.write(directory + "/rate", rate + "\n");
  root.write(directory + "/state", "4: ACTIVE\n");
  root.write(directory + "/link_layer", "InfiniBand\n");
}

void write_interface(const FakeRoot& root, const std::string& name, const std::string& speed) {
  const std::string directory = "sys/class/net/" + name;
  root.write(directory + "/operstate", "up\n");
  root.write(directory + "/type", "1\n");
  root.write(directory + "/speed", speed + "\n");
}

TEST(NetworkDevices, NoneWhereTheKernelListsNone) {
  const FakeRoot root;
  EXPECT_TRUE(network_devices(root.path()).empty());
}

TEST(NetworkDevices, InterfacesWithoutTheLoopback) {
  const FakeRoot root;
  write_interface(root, "eth0", "25000");
  root.write("sys/class/net/eth0/device/numa_node", "1\n");
  write_interface(root, "lo", "10");
  root.write("sys/class/net/bonding_masters", "bond0\n");
  const auto devices = network_devices(root.path());
  ASSERT_EQ(devices.size(), 1U);
  EXPECT_EQ(devices[0].name, "eth0");
  EXPECT_EQ(devices[0].kind, "ethernet");
  EXPECT_EQ(devices[0].state, "up");
  EXPECT_EQ(devices[0].speed_mbit_per_s, 25000);
  EXPECT_EQ(devices[0].numa_node, 1);
}

TEST(NetworkDevices, MtuDriverAndFirmware) {
  const FakeRoot root;
  write_interface(root, "eth0", "25000");
  root.write("sys/class/net/eth0/mtu", "9000\n");
  root.link("sys/class/net/eth0/device/driver", "../../bus/pci/drivers/ice");
  write_port(root, "mlx5_0", "1", "400 Gb/sec (4X NDR)");
  root.write("sys/class/infiniband/mlx5_0/fw_ver", "28.39.3004\n");
  root.link("sys/class/infiniband/mlx5_0/device/driver", "../../bus/pci/drivers/mlx5_core");
  root.write("sys/module/mlx5_core/version", "24.10-1.1.4\n");
  const auto devices = network_devices(root.path());
  ASSERT_EQ(devices.size(), 2U);
  EXPECT_EQ(devices[0].mtu, 9000);
  EXPECT_EQ(devices[0].driver, "ice") << "a driver of the kernel has no version";
  EXPECT_EQ(devices[0].firmware, "");
  EXPECT_EQ(devices[1].mtu, std::nullopt);
  EXPECT_EQ(devices[1].driver, "mlx5_core 24.10-1.1.4");
  EXPECT_EQ(devices[1].firmware, "28.39.3004");
}

TEST(NetworkDevices, FirmwareOfEthernetAdapters) {
  const FakeRoot root;
  for (const char* name : {"eth0", "eth1", "eth2", "eth3"}) {
    write_interface(root, name, "25000");
    root.write(fmt::format("sys/class/net/{}/device/numa_node", name), "0\n");
  }
  write_interface(root, "br0", "25000");
  root.make_directory("sys/class/net/eth3/device/infiniband");
  const auto told = [](const std::string& interface) -> std::string {
    return interface == "eth1" ? "N/A" : interface == "eth2" ? "1\xff" : "4.40 0x8001c967 1.3534.0";
  };
  std::vector<std::string> found;
  for (const NetworkDevice& device : network_devices(root.path(), told)) {
    if (!device.firmware.empty()) found.push_back(device.name + " " + device.firmware);
  }
  EXPECT_EQ(found, std::vector<std::string>{"eth0 4.40 0x8001c967 1.3534.0"})
      << "none is told, no text, told by its RDMA port, no adapter";
  EXPECT_EQ(network_devices(root.path()).at(1).firmware, "") << "the drivers of another root are not asked";
}

TEST(NetworkDevices, UnknownPropertiesAreLeftOut) {
  const FakeRoot root;
  for (const std::string speed : {"-1", "0", "4294967295", "fast", ""}) {
    write_interface(root, "eth0", speed);
    EXPECT_EQ(network_devices(root.path()).at(0).speed_mbit_per_s, std::nullopt) << speed;
  }
  root.write("sys/class/net/eth0/device/numa_node", "-1\n");
  EXPECT_EQ(network_devices(root.path()).at(0).numa_node, std::nullopt);
  root.make_directory("sys/class/net/dark");
  const auto device = network_devices(root.path()).at(0);
  EXPECT_EQ(device.name, "dark");
  EXPECT_EQ(device.kind, "other");
  EXPECT_EQ(device.state, "unknown");
  EXPECT_EQ(device.speed_mbit_per_s, std::nullopt);
  EXPECT_EQ(device.numa_node, std::nullopt);
}

TEST(NetworkDevices, PortsOfRdmaDevices) {
  const FakeRoot root;
  write_port(root, "mlx5_0", "1", "100 Gb/sec (4X EDR)");
  root.write("sys/class/infiniband/mlx5_0/device/numa_node", "0\n");
  root.write("sys/class/infiniband/mlx5_0/node_guid", "0c42:a103:00f1:d2e6\n");
  root.write("sys/class/infiniband/mlx5_1/node_guid", "0000:0000:0000:0000\n");
  write_port(root, "mlx5_0", "2", "2.5 Gb/sec (1X SDR)");
  root.write("sys/class/infiniband/mlx5_0/ports/2/state", "1: DOWN\n");
  write_port(root, "mlx5_1", "1", "400 Gb/sec (4X NDR)");
  root.write("sys/class/infiniband/mlx5_1/ports/1/link_layer", "Ethernet\n");
  const auto devices = network_devices(root.path());
  ASSERT_EQ(devices.size(), 3U);
  EXPECT_EQ(devices[0].name, "mlx5_0:1");
  EXPECT_EQ(devices[0].kind, "infiniband");
  EXPECT_EQ(devices[0].state, "ACTIVE");
  EXPECT_EQ(devices[0].speed_mbit_per_s, 100000);
  EXPECT_EQ(devices[0].numa_node, 0);
  EXPECT_EQ(devices[0].guid, "0x0c42a10300f1d2e6");
  EXPECT_EQ(devices[1].name, "mlx5_0:2");
  EXPECT_EQ(devices[1].state, "DOWN");
  EXPECT_EQ(devices[1].speed_mbit_per_s, 2500);
  EXPECT_EQ(devices[2].kind, "ethernet");
  EXPECT_EQ(devices[2].speed_mbit_per_s, 400000);
  EXPECT_EQ(devices[2].numa_node, std::nullopt);
  EXPECT_EQ(devices[2].guid, std::nullopt) << "zeros";
}

TEST(NetworkDevices, MalformedRatesAreLeftOut) {
  const FakeRoot root;
  for (const std::string rate :
       {"", "fast", "100", "100 Mb/sec", "-5 Gb/sec", "inf Gb/sec", "nan Gb/sec", "1e300 Gb/sec", "0 Gb/sec"}) {
    write_port(root, "mlx5_0", "1", rate);
    EXPECT_EQ(network_devices(root.path()).at(0).speed_mbit_per_s, std::nullopt) << rate;
  }
}

TEST(NetworkDevices, AreSortedByName) {
  const FakeRoot root;
  write_interface(root, "zeta", "10");
  write_interface(root, "eth1", "10");
  write_interface(root, "eth0", "10");
  write_port(root, "mlx5_0", "1", "10 Gb/sec");
  std::vector<std::string> names;
  for (const auto& device : network_devices(root.path())) names.push_back(device.name);
  EXPECT_EQ(names, (std::vector<std::string>{"eth0", "eth1", "mlx5_0:1", "zeta"}));
}

TEST(NetworkDevices, OfThisMachine) {
  for (const auto& device : network_devices()) {
    EXPECT_NE(device.name, "lo");
    EXPECT_FALSE(device.state.empty());
  }
}

TEST(TopologyOf, ASyntheticMachine) {
  const ScopedVariable machine("HWLOC_SYNTHETIC", "pack:2 numa:1(memory=1073741824) l3:2(size=1048576) core:4 pu:2");
  const Topology found = topology();
  EXPECT_EQ(found.sockets, 2);
  EXPECT_EQ(found.numa_nodes, 2);
  EXPECT_EQ(found.cores, 16);
  EXPECT_EQ(found.processing_units, 32);
  EXPECT_EQ(found.last_level_cache_bytes, 4U * 1048576U);
  ASSERT_EQ(found.nodes.size(), 2U);
  EXPECT_EQ(found.nodes[0].index, 0);
  EXPECT_EQ(found.nodes[0].memory_bytes, 1073741824U);
  EXPECT_EQ(found.nodes[0].processing_units, "0-15");
  EXPECT_EQ(found.nodes[1].processing_units, "16-31");
}

TEST(TopologyOf, AMachineWithoutThirdLevelSumsTheSecond) {
  const ScopedVariable machine("HWLOC_SYNTHETIC", "pack:1 l2:4(size=262144) core:1 pu:1");
  EXPECT_EQ(topology().last_level_cache_bytes, 4U * 262144U);
}

TEST(TopologyOf, AMachineWithoutCaches) {
  const ScopedVariable machine("HWLOC_SYNTHETIC", "pack:1 core:2 pu:1");
  EXPECT_EQ(topology().last_level_cache_bytes, 0U);
}

TEST(TopologyOf, ThisMachine) {
  const Topology found = topology();
  EXPECT_GE(found.processing_units, 1);
  EXPECT_GE(found.numa_nodes, 1);
  ASSERT_EQ(found.nodes.size(), static_cast<std::size_t>(found.numa_nodes));
  EXPECT_GT(found.nodes[0].memory_bytes, 0U);
}

TEST(CurrentBinding, FollowsTheAffinityOfTheMainThread) {
  const std::string before = current_binding();
  ASSERT_FALSE(before.empty());
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  const int last = [&all] {
    int unit = CPU_SETSIZE - 1;
    while (!CPU_ISSET(unit, &all)) --unit;
    return unit;
  }();
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(last, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(current_binding(), std::to_string(last));
  ASSERT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
  EXPECT_EQ(current_binding(), before);
}

}  // namespace host_devices_test
