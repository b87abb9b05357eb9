#include "common/host/pci.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/host/topology.h"
#include "fake_root.h"

using namespace fabricbench::host;
using fabricbench::test::FakeRoot;

namespace pci_locality_test {

using Names = std::vector<std::string>;

/// A PCI device at a path below /sys/devices, such as `pci0000:40/0000:40:01.1/0000:41:00.0`.
void write_device(const FakeRoot& root, const std::string& path, int numa_node) {
  root.write("sys/devices/" + path + "/numa_node", std::to_string(numa_node) + "\n");
  const std::string address = path.substr(path.rfind('/') + 1);
  root.link("sys/bus/pci/devices/" + address, (root.path() / "sys/devices" / path).string());
}

void write_nic(const FakeRoot& root, const std::string& name, const std::string& path, int numa_node) {
  write_device(root, path, numa_node);
  const std::string kind = name.starts_with("mlx") ? "infiniband" : "net";
  root.link("sys/class/" + kind + "/" + name + "/device", (root.path() / "sys/devices" / path).string());
}

constexpr const char* kGpu = "pci0000:40/0000:40:01.1/0000:41:00.0/0000:42:00.0";

TEST(PciLocality, PrefersTheNicBelowTheSameSwitch) {
  const FakeRoot root;
  write_device(root, kGpu, 1);
  write_nic(root, "mlx5_0", "pci0000:40/0000:40:01.1/0000:41:01.0/0000:43:00.0", 1);
  write_nic(root, "mlx5_1", "pci0000:40/0000:40:03.1/0000:51:00.0", 1);
  write_nic(root, "mlx5_2", "pci0000:00/0000:00:01.1/0000:01:00.0", 0);
  const PciLocality locality = pci_locality("0000:42:00.0", root.path());
  EXPECT_EQ(locality.numa_node, 1);
  EXPECT_EQ(locality.nearest_nics, Names{"mlx5_0"});
  EXPECT_EQ(locality.distance, PciDistance::kSwitch);
}

TEST(PciLocality, PrefersTheLowerOfTwoSwitches) {
  const FakeRoot root;
  write_device(root, kGpu, 1);
  write_nic(root, "mlx5_0", "pci0000:40/0000:40:01.1/0000:44:00.0/0000:45:00.0", 1);
  write_nic(root, "mlx5_1", "pci0000:40/0000:40:01.1/0000:41:00.0/0000:42:00.1", 1);
  EXPECT_EQ(pci_locality("0000:42:00.0", root.path()).nearest_nics, Names{"mlx5_1"});
}

TEST(PciLocality, ListsAllThatAreEquallyNear) {
  const FakeRoot root;
  write_device(root, kGpu, 0);
  write_nic(root, "mlx5_1", "pci0000:40/0000:40:03.1/0000:51:00.0", 0);
  write_nic(root, "mlx5_0", "pci0000:40/0000:40:04.1/0000:61:00.0/0000:62:00.0", 0);
  const PciLocality locality = pci_locality("0000:42:00.0", root.path());
  EXPECT_EQ(locality.nearest_nics, (Names{"mlx5_0", "mlx5_1"}));
  EXPECT_EQ(locality.distance, PciDistance::kHostBridge);
}

TEST(PciLocality, FallsBackToTheNumaNodeAndThenToTheHost) {
  const FakeRoot root;
  write_device(root, kGpu, 1);
  write_nic(root, "mlx5_0", "pci0000:00/0000:00:01.1/0000:01:00.0", 0);
  EXPECT_EQ(pci_locality("0000:42:00.0", root.path()).distance, PciDistance::kSystem);
  EXPECT_EQ(pci_locality("0000:42:00.0", root.path()).nearest_nics, Names{"mlx5_0"});
  write_nic(root, "mlx5_9", "pci0000:60/0000:60:01.1/0000:61:00.0", 1);
  EXPECT_EQ(pci_locality("0000:42:00.0", root.path()).distance, PciDistance::kNumaNode);
  EXPECT_EQ(pci_locality("0000:42:00.0", root.path()).nearest_nics, Names{"mlx5_9"});
}

TEST(PciLocality, ListsAnInterfaceOnlyWhereNoRdmaDeviceStandsForIt) {
  const FakeRoot root;
  write_device(root, kGpu, 0);
  write_nic(root, "mlx5_0", "pci0000:40/0000:40:03.1/0000:51:00.0", 0);
  write_nic(root, "eth0", "pci0000:40/0000:40:03.1/0000:51:00.0", 0);
  write_nic(root, "eth1", "pci0000:40/0000:40:04.1/0000:52:00.0/virtio3", 0);
  root.make_directory("sys/class/net/lo");
  EXPECT_EQ(pci_locality("0000:42:00.0", root.path()).nearest_nics, (Names{"eth1", "mlx5_0"}));
}

TEST(PciLocality, TakesUpperCase) {
  const FakeRoot root;
  write_device(root, "pci0000:c0/0000:c0:01.1/0000:c1:00.0", 3);
  EXPECT_EQ(pci_locality("0000:C1:00.0", root.path()).numa_node, 3);
}

TEST(PciLocality, KnowsNothingOfWhatIsNotThere) {
  const FakeRoot root;
  write_nic(root, "mlx5_0", "pci0000:00/0000:00:01.1/0000:01:00.0", -1);
  const PciLocality absent = pci_locality("0000:42:00.0", root.path());
  EXPECT_EQ(absent.numa_node, std::nullopt);
  EXPECT_TRUE(absent.nearest_nics.empty());
  write_device(root, kGpu, -1);
  const PciLocality nowhere = pci_locality("0000:42:00.0", root.path());
  EXPECT_EQ(nowhere.numa_node, std::nullopt);
  EXPECT_EQ(nowhere.distance, PciDistance::kSystem);
}

TEST(NodeBinding, ComparesTheProcesssUnitsWithTheNodes) {
  const FakeRoot root;
  root.write("sys/devices/system/node/node1/cpulist", "16-31,48-63\n");
  EXPECT_EQ(node_binding(1, "16-19", root.path()), NodeBinding::kInside);
  EXPECT_EQ(node_binding(1, "17,50-52", root.path()), NodeBinding::kInside);
  EXPECT_EQ(node_binding(1, "0-63", root.path()), NodeBinding::kPartly);
  EXPECT_EQ(node_binding(1, "0-15,32", root.path()), NodeBinding::kOutside);
}

TEST(NodeBinding, IsUnknownWhereTheNodeOrTheBindingIs) {
  const FakeRoot root;
  EXPECT_EQ(node_binding(0, "0-3", root.path()), NodeBinding::kUnknown);
  root.write("sys/devices/system/node/node0/cpulist", "0-3\n");
  EXPECT_EQ(node_binding(0, "", root.path()), NodeBinding::kUnknown);
  EXPECT_EQ(node_binding(0, "x-y", root.path()), NodeBinding::kUnknown);
}

}  // namespace pci_locality_test
