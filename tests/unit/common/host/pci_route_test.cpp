// The route between two PCI devices, below a directory that stands for /sys.

#include "common/host/pci.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fake_root.h"

using namespace fabricbench::host;
using fabricbench::test::FakeRoot;

namespace pci_route_test {

using Texts = std::vector<std::string>;

constexpr const char* kGpu = "0000:42:00.0";
constexpr const char* kNic = "0000:43:00.0";
constexpr const char* kGpuPath = "pci0000:40/0000:40:01.1/0000:41:00.0/0000:41:01.0/0000:42:00.0";
constexpr const char* kNicPath = "pci0000:40/0000:40:01.1/0000:41:00.0/0000:41:02.0/0000:43:00.0";

/// An extended configuration space that begins with another capability and ends with ACS.
std::string configuration(unsigned control) {
  std::string bytes(0x200, '\0');
  const auto put = [&](std::size_t at, unsigned value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) bytes[at + i] = static_cast<char>(value >> (8 * i) & 0xff);
  };
  put(0x100, 0x0001 | 0x140U << 20, 4);
  put(0x140, 0x000d, 4);
  put(0x146, control, 2);
  return bytes;
}

class PciRouteTest : public testing::Test {
 protected:
  PciRouteTest() {
    add(kGpuPath);
    add(kNicPath);
  }

  /// A device and the bridges above it, none of which redirects anything.
  void add(const std::string& path, int numa_node = 0) {
    for (std::size_t end = path.find('/'); end != std::string::npos; end = path.find('/', end + 1)) {
      const std::string bridge = path.substr(0, end);
      if (bridge.find('/') != std::string::npos) link(bridge, numa_node);
    }
    link(path, numa_node);
  }

  void link(const std::string& path, int numa_node) {
    const std::string folder = "sys/devices/" + path;
    root_.write(folder + "/numa_node", std::to_string(numa_node) + "\n");
    root_.write(folder + "/config", configuration(0));
    root_.link("sys/bus/pci/devices/" + path.substr(path.rfind('/') + 1), (root_.path() / folder).string());
  }

  void write(const std::string& address, const std::string& file, const std::string& text) {
    root_.write("sys/bus/pci/devices/" + address + "/" + file, text);
  }

  void write_link(const std::string& address, const std::string& speed, const std::string& width,
                  const std::string& most_width) {
    write(address, "current_link_speed", speed + " GT/s PCIe\n");
    write(address, "max_link_speed", "32.0 GT/s PCIe\n");
    write(address, "current_link_width", width + "\n");
    write(address, "max_link_width", most_width + "\n");
  }

  [[nodiscard]] std::string distance_to(const std::string& to) const {
    return pci_route(kGpu, to, root_.path())->distance;
  }
  [[nodiscard]] Texts obstacles() const { return obstacles_between(kGpu, kNic, root_.path()); }

  /// The only obstacle.
  [[nodiscard]] std::string obstacle() const {
    const Texts all = obstacles();
    EXPECT_EQ(all.size(), 1U);
    return all.empty() ? "" : all.front();
  }

  FakeRoot root_;
};

TEST_F(PciRouteTest, OverOneSwitch) {
  const auto route = pci_route(kGpu, kNic, root_.path());
  ASSERT_TRUE(route.has_value());
  EXPECT_EQ(route->distance, "PIX");
  EXPECT_EQ(route->bridges, (Texts{"0000:41:01.0", "0000:41:00.0", "0000:41:02.0"}));
  EXPECT_EQ(obstacles(), Texts{});
}

TEST_F(PciRouteTest, OverSeveralSwitches) {
  add("pci0000:40/0000:40:01.1/0000:41:00.0/0000:41:03.0/0000:44:00.0/0000:44:01.0/0000:45:00.0");
  EXPECT_EQ(distance_to("0000:45:00.0"), "PXB");
}

TEST_F(PciRouteTest, OverTheHostBridge) {
  add("pci0000:40/0000:40:03.1/0000:51:00.0");
  EXPECT_EQ(distance_to("0000:51:00.0"), "PHB");
  EXPECT_EQ(pci_route(kGpu, "0000:51:00.0", root_.path())->bridges,
            (Texts{"0000:41:01.0", "0000:41:00.0", "0000:40:01.1", "0000:40:03.1"}));
}

TEST_F(PciRouteTest, BetweenHostBridges) {
  add("pci0000:60/0000:60:01.1/0000:61:00.0", 0);
  add("pci0000:80/0000:80:01.1/0000:81:00.0", 1);
  add("pci0000:90/0000:90:01.1/0000:91:00.0", -1);
  EXPECT_EQ(distance_to("0000:61:00.0"), "NODE");
  EXPECT_EQ(distance_to("0000:81:00.0"), "SYS");
  EXPECT_EQ(distance_to("0000:91:00.0"), "SYS");
}

TEST_F(PciRouteTest, OfADeviceThatIsNotThere) {
  EXPECT_FALSE(pci_route(kGpu, "0000:ff:00.0", root_.path()).has_value());
  const Texts all = obstacles_between(kGpu, "", root_.path());
  ASSERT_EQ(all.size(), 1U);
  EXPECT_NE(all.front().find("is unknown"), std::string::npos) << all.front();
}

TEST_F(PciRouteTest, ALongRouteIsAnObstacle) {
  add("pci0000:80/0000:80:01.1/0000:81:00.0", 1);
  const Texts all = obstacles_between(kGpu, "0000:81:00.0", root_.path());
  ASSERT_EQ(all.size(), 1U);
  EXPECT_NE(all.front().find("are SYS apart"), std::string::npos) << all.front();
}

TEST_F(PciRouteTest, AcsThatRedirects) {
  constexpr unsigned kSourceValidation = 1;
  write("0000:41:00.0", "config", configuration(kSourceValidation));
  EXPECT_EQ(obstacles(), Texts{});
  for (const unsigned redirects : {0x4U, 0x8U, 0x1dU}) {
    write("0000:41:02.0", "config", configuration(redirects));
    EXPECT_EQ(obstacle().substr(0, 43), "ACS of bridge 0000:41:02.0 redirects reques") << redirects;
  }
  write("0000:41:01.0", "config", configuration(0x1d));
  EXPECT_NE(obstacle().find("bridges 0000:41:01.0, 0000:41:02.0"), std::string::npos) << obstacle();
}

TEST_F(PciRouteTest, AcsThatOnlyRootMaySee) {
  write("0000:41:01.0", "config", configuration(0x1d).substr(0, 64));
  EXPECT_EQ(obstacle().substr(0, 56), "whether ACS of bridge 0000:41:01.0 redirects requests is");
}

/// A list of capabilities that leads back to itself, as a device that has fallen off the bus may show it.
TEST_F(PciRouteTest, CapabilitiesWithoutAnEnd) {
  std::string bytes(0x200, '\0');
  bytes[0x102] = '\0';
  bytes[0x103] = '\x10';
  write("0000:41:01.0", "config", bytes);
  write("0000:41:02.0", "config", std::string(0x1000, '\xff'));
  EXPECT_EQ(obstacles(), Texts{});
}

TEST_F(PciRouteTest, AnIommuThatTranslates) {
  write(kGpu, "iommu_group/type", "identity\n");
  EXPECT_EQ(obstacles(), Texts{});
  write(kNic, "iommu_group/type", "DMA-FQ\n");
  EXPECT_EQ(obstacle(), "the IOMMU translates the addresses of 0000:43:00.0 (DMA-FQ); start the kernel with iommu=pt");
}

TEST_F(PciRouteTest, LinksThatAreSlow) {
  write_link(kGpu, "32.0", "16", "16");
  EXPECT_EQ(obstacles(), Texts{});
  write_link("0000:41:00.0", "32.0", "8", "16");
  EXPECT_EQ(obstacle(),
            "the link of 0000:41:00.0 runs at 32 GT/s x8 and can do 32 GT/s x16; check that its slot has that many "
            "lanes, and reseat it");
  write_link("0000:41:00.0", "2.5", "16", "16");
  EXPECT_EQ(obstacle().substr(0, 66), "the link of 0000:41:00.0 runs at 2.5 GT/s x16 and can do 32 GT/s x");
}

TEST_F(PciRouteTest, OfAnRdmaDevice) {
  root_.link("sys/class/infiniband/mlx5_0/device", (root_.path() / "sys/devices" / kNicPath).string());
  root_.make_directory("sys/devices/virtual/infiniband/rxe0");
  root_.link("sys/class/infiniband/rxe0", (root_.path() / "sys/devices/virtual/infiniband/rxe0").string());
  EXPECT_EQ(pci_address_of_rdma_device("mlx5_0", root_.path()), kNic);
  EXPECT_EQ(pci_address_of_rdma_device("rxe0", root_.path()), "");
  EXPECT_EQ(pci_address_of_rdma_device("mlx5_1", root_.path()), "");
}

}  // namespace pci_route_test
