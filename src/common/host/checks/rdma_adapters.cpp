#include "common/host/checks/checks.h"
#include "common/host/checks/devices.h"

#include <map>

#include <fmt/format.h>

namespace fabricbench::host {
namespace {

/// A version such as 28.41.1000. Recorded hosts may have a placeholder, which cannot be compared.
bool is_version(const std::string& text) {
  return text.find_first_not_of("0123456789.") == std::string::npos && text.find('.') != std::string::npos;
}

void examine_rdma_adapters(Look& host) {
  std::map<std::string, int> counts;
  host.each(rdma_devices(host), [&](const std::string& device) {
    const std::string folder = fmt::format("{}/{}/", kRdmaClass, device);
    const std::string board = board_of(host, device);
    ++counts[board];
    host.attempt([&] {
      const std::string address = host.target(folder + "device");
      host.state({.key = "name", .among = address, .device = address, .value = device});
    });
    const std::string firmware = host.text(folder + "fw_ver");
    if (!is_version(firmware)) throw NotSeen(folder + "fw_ver", fmt::format("'{}' is not a version", firmware));
    host.state({.key = "firmware", .among = board, .device = device, .value = firmware});
  });
  for (const auto& [board, count] : counts) {
    host.state({.key = "adapters", .among = board, .value = fmt::format("{}", count)});
  }
}

}  // namespace

Check rdma_adapters_check() {
  return {
      .name = "rdma_adapters",
      .what = "Hosts have as many RDMA adapters of each board, with one firmware, and one name for each PCI address.",
      .reads = "/sys/class/infiniband/*/{board_id,hca_type,fw_ver,device}",
      .absent = no_rdma_device,
      .look = examine_rdma_adapters,
      .compared = {{.key = "adapters",
                    .title = "number of RDMA adapters",
                    .level = CheckLevel::kFailure,
                    .consequence = "NCCL uses as many rails as the poorest host has",
                    .next = "lspci -d 15b3: and the kernel log show whether the device is on the bus",
                    .is_count = true},
                   {.key = "firmware",
                    .title = "firmware of RDMA adapters",
                    .consequence = "speed and faults differ from rail to rail",
                    .next = "mstflint -d PCI_ADDRESS query"},
                   {.key = "name",
                    .title = "name of the RDMA device",
                    .consequence = "NCCL_IB_HCA and UCX_NET_DEVICES name other rails on this host",
                    .next = "udev rules of rdma-core (60-rdma-persistent-naming.rules) give names that last"}}};
}

}  // namespace fabricbench::host
