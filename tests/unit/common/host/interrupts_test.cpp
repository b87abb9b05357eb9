#include "common/host/interrupts.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <fmt/format.h>

#include "fake_root.h"

namespace interrupts_test {

using fabricbench::host::DeviceInterrupts;
using fabricbench::host::InterruptReader;
using fabricbench::host::interrupts_between;
using fabricbench::test::FakeRoot;

/// Each device as `name: processor=count processor=count`.
std::vector<std::string> described(const std::vector<DeviceInterrupts>& devices) {
  std::vector<std::string> texts;
  for (const DeviceInterrupts& device : devices) {
    std::string text = device.device + ":";
    for (const auto& [processor, count] : device.by_processor) text += fmt::format(" {}={}", processor, count);
    texts.push_back(text);
  }
  return texts;
}

/// A RoCE adapter with an interface and an RDMA device, a virtio interface, a bond without interrupts, and an adapter
/// whose interrupts are not listed in /proc/interrupts.
class Interrupts : public testing::Test {
 protected:
  Interrupts() {
    const std::string adapter = "sys/devices/pci0000:40/0000:40:01.0/0000:42:00.0";
    for (const char* const number : {"120", "121"}) root_.write(adapter + "/msi_irqs/" + number, "msix\n");
    root_.link("sys/class/net/ens1/device", "../../../devices/pci0000:40/0000:40:01.0/0000:42:00.0");
    root_.link("sys/class/infiniband/mlx5_0/device", "../../../devices/pci0000:40/0000:40:01.0/0000:42:00.0");
    const std::string below = "sys/devices/pci0000:00/0000:00:04.0";
    root_.write(below + "/msi_irqs/41", "msix\n");
    root_.make_directory(below + "/virtio3");
    root_.link("sys/class/net/eth0/device", "../../../devices/pci0000:00/0000:00:04.0/virtio3");
    root_.make_directory("sys/class/net/bond0");
    root_.write("sys/devices/pci0000:80/0000:80:00.0/msi_irqs/300", "msi\n");
    root_.link("sys/class/net/ens9/device", "../../../devices/pci0000:80/0000:80:00.0");
    table("1000", "5", "9", "77");
  }

  /// Processor 1 is off.
  void table(const std::string& first, const std::string& second, const std::string& third, const std::string& virtio) {
    root_.write("proc/interrupts",
                "           CPU0       CPU2       CPU3\n"
                "  41:  " +
                    virtio +
                    "   0   0  PCI-MSIX-0000:00:04.0   1-edge      virtio3-rx\n"
                    " 120:  " +
                    first + "  " + second +
                    "   0  IR-PCI-MSIX-0000:42:00.0  0-edge  mlx5_comp0@pci:0000:42:00.0\n"
                    " 121:      0   0   " +
                    third +
                    "  IR-PCI-MSIX-0000:42:00.0  1-edge  mlx5_comp1@pci:0000:42:00.0\n"
                    " 122:  12345   0   0  IR-PCI-MSIX-0000:01:00.0  1-edge  nvme0q1\n"
                    " LOC:  99999   8   7  Local timer interrupts\n"
                    " ERR:      0\n");
  }

  FakeRoot root_;
};

TEST_F(Interrupts, AreCountedByDeviceAndProcessor) {
  EXPECT_EQ(described(InterruptReader(root_.path()).read()),
            (std::vector<std::string>{"eth0: 0=77", "ens1 and mlx5_0: 0=1000 2=5 3=9", "ens9:"}));
}

TEST_F(Interrupts, BetweenTwoReadings) {
  const InterruptReader reader(root_.path());
  const auto before = reader.read();
  table("1000", "105", "9", "80");
  EXPECT_EQ(described(interrupts_between(before, reader.read())),
            (std::vector<std::string>{"eth0: 0=3", "ens1 and mlx5_0: 2=100", "ens9:"}));
}

TEST_F(Interrupts, OfADeviceThatIsGoneAreNone) {
  const InterruptReader reader(root_.path());
  const auto before = reader.read();
  root_.remove("proc/interrupts");
  EXPECT_EQ(described(interrupts_between(before, reader.read())),
            (std::vector<std::string>{"eth0:", "ens1 and mlx5_0:", "ens9:"}));
}

TEST(InterruptsOfAHost, WithoutNetworkDevicesAreNone) {
  EXPECT_TRUE(InterruptReader(FakeRoot().path()).read().empty());
}

}  // namespace interrupts_test
