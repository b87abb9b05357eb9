#include "common/host/checks/checks.h"
#include "common/host/checks/devices.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "common/host/checks/pci_devices.h"
#include "common/host/pci.h"

namespace fabricbench::host {
namespace {

std::string text_of(const PciLink& link) { return fmt::format("{:g} GT/s x{}", link.gigatransfers_per_s, link.width); }

/// What both ends of a link can do: an adapter in a slot of the generation before it is as fast as it can be.
void look_at(Look& host, const std::string& device) {
  const std::string path = host.path(fmt::format("{}/{}/device", kRdmaClass, device));
  const PciLink now = link_of(host, path, "current");
  PciLink most = link_of(host, path, "max");
  if (const auto above = slot_above(path)) {
    const PciLink port = link_of(host, *above, "max");
    most.gigatransfers_per_s = std::min(most.gigatransfers_per_s, port.gigatransfers_per_s);
    most.width = std::min(most.width, port.width);
  }
  if (now.width >= most.width && now.gigatransfers_per_s >= most.gigatransfers_per_s) return;
  host.report({.level = CheckLevel::kFailure,
               .device = fmt::format("{} ({})", device, std::filesystem::path(path).filename().string()),
               .measured = fmt::format("PCIe link {}", text_of(now)),
               .expected = text_of(most),
               .expected_by = "what the adapter and its slot can do",
               .consequence = fmt::format("at most {:.0f} Gb/s pass to and from the host, of {:.0f}",
                                          bytes_per_second(now) * 8e-9, bytes_per_second(most) * 8e-9),
               .next = "reseat the card; dmesg | grep -i 'limited by'"});
}

void examine_adapter_pci(Look& host) {
  host.each(rdma_devices(host), [&](const std::string& device) { look_at(host, device); });
}

}  // namespace

Check adapter_pci_check() {
  return {
      .name = "adapter_pci",
      .what = "The PCI Express link of each RDMA adapter has the speed and width that the adapter and its slot have.",
      .reads = "/sys/class/infiniband/*/device/{current,max}_link_{speed,width}, and of the bridge above",
      .absent = no_rdma_device,
      .look = examine_adapter_pci};
}

}  // namespace fabricbench::host
