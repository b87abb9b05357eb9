#include "common/host/pci.h"

#include <gtest/gtest.h>

#include <string>

#include "fake_root.h"

using namespace fabricbench::host;
using fabricbench::test::FakeRoot;

namespace pci_link_test {

constexpr const char* kAddress = "0000:42:00.0";
constexpr const char* kDevice = "sys/devices/pci0000:40/0000:40:01.1/0000:41:00.0/0000:42:00.0";
constexpr const char* kSwitch = "sys/devices/pci0000:40/0000:40:01.1/0000:41:00.0";

/// The device's link, current and largest.
FakeRoot& write_link(FakeRoot& root, const std::string& directory, const std::string& which, const std::string& speed,
                     const std::string& width) {
  root.write(directory + "/" + which + "_link_speed", speed + "\n");
  root.write(directory + "/" + which + "_link_width", width + "\n");
  root.link("sys/bus/pci/devices/" + directory.substr(directory.rfind('/') + 1), (root.path() / directory).string());
  return root;
}

TEST(PciLink, CarriesWhatItsEncodingLeaves) {
  EXPECT_DOUBLE_EQ(bytes_per_second({2.5, 1}), 0.25e9);
  EXPECT_DOUBLE_EQ(bytes_per_second({5, 16}), 8e9);
  EXPECT_NEAR(bytes_per_second({8, 16}), 15.754e9, 1e6);
  EXPECT_NEAR(bytes_per_second({16, 16}), 31.508e9, 1e6);
  EXPECT_NEAR(bytes_per_second({32, 16}), 63.015e9, 1e6);
  EXPECT_DOUBLE_EQ(bytes_per_second({64, 16}), 118e9);
}

TEST(PciLink, IsReadAsTheKernelWritesIt) {
  FakeRoot root;
  write_link(root, kDevice, "current", "16.0 GT/s PCIe", "8");
  write_link(root, kDevice, "max", "32.0 GT/s PCIe", "16");
  const PciLinks links = pci_links(kAddress, root.path());
  EXPECT_EQ(links.current, (PciLink{16, 8}));
  EXPECT_EQ(links.most, (PciLink{32, 16}));
  EXPECT_EQ(links.narrowest, (PciLink{16, 8}));
}

TEST(PciLink, IsReadAsOlderKernelsWriteIt) {
  FakeRoot root;
  write_link(root, kDevice, "current", "2.5 GT/s", "1");
  EXPECT_EQ(pci_links(kAddress, root.path()).current, (PciLink{2.5, 1}));
}

TEST(PciLink, MayBeNarrowestAboveASwitch) {
  FakeRoot root;
  write_link(root, kDevice, "current", "32.0 GT/s PCIe", "16");
  write_link(root, kSwitch, "current", "16.0 GT/s PCIe", "16");
  const PciLinks links = pci_links(kAddress, root.path());
  EXPECT_EQ(links.current, (PciLink{32, 16}));
  EXPECT_EQ(links.narrowest, (PciLink{16, 16}));
}

TEST(PciLink, IsNotGuessed) {
  FakeRoot root;
  EXPECT_FALSE(pci_links(kAddress, root.path()).current);
  EXPECT_FALSE(pci_links(kAddress, root.path()).narrowest);
  for (const auto& [speed, width] : {std::pair{"Unknown", "16"}, {"16.0 GT/s PCIe", "0"}, {"16.0 GT/s PCIe", "255"}}) {
    write_link(root, kDevice, "current", speed, width);
    EXPECT_FALSE(pci_links(kAddress, root.path()).current) << speed << " " << width;
    EXPECT_FALSE(pci_links(kAddress, root.path()).narrowest) << speed << " " << width;
  }
}

}  // namespace pci_link_test
