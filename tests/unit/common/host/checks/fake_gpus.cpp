#include "common/host/checks/fake_host.h"

#include <fmt/format.h>

namespace fabricbench::host {
namespace {

/// Below a bridge of its own.
void add_gpu(FakeHost& host, int number) {
  const int bus = 16 * number + 8;
  const std::string bridge = fmt::format("/sys/devices/pci0000:{0:02x}/0000:{0:02x}:01.0", bus);
  const std::string address = fmt::format("0000:{:02x}:00.0", bus + 1);
  const std::string device = bridge + "/" + address;
  host.link("/sys/bus/pci/devices/" + address, device);
  host.set(device + "/vendor", "0x10de\n");
  host.set(device + "/class", "0x030200\n");
  host.set(device + "/device", "0x2330\n");
  host.set(device + "/current_link_speed", "2.5 GT/s PCIe\n");
  host.set(device + "/max_link_speed", "32.0 GT/s PCIe\n");
  for (const std::string& end : {bridge, device}) {
    host.set(end + "/current_link_width", "16\n");
    host.set(end + "/max_link_width", "16\n");
  }
}

}  // namespace

void add_h100_gpus(FakeHost& host) {
  constexpr int kGpus = 8;
  for (int number = 0; number < kGpus; ++number) add_gpu(host, number);
}

}  // namespace fabricbench::host
