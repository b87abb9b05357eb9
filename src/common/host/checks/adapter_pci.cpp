#include "common/host/checks/checks.h"
#include "common/host/checks/devices.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "common/host/pci.h"

namespace fabricbench::host {
namespace {

/// `32.0 GT/s PCIe` and `16`. Throws NotSeen where a hypervisor hides them.
PciLink link_of(Look& host, const std::string& device, const std::string& which) {
  const std::string file = fmt::format("{}/{}_link_speed", device, which);
  const std::string speed = host.text(file);
  PciLink link;
  if (std::sscanf(speed.c_str(), "%lf GT/s", &link.gigatransfers_per_s) != 1) {
    throw NotSeen(file, fmt::format("'{}' is not a speed", speed));
  }
  const std::string width_file = fmt::format("{}/{}_link_width", device, which);
  link.width = host.number<int>(width_file);
  constexpr int kMost = 32;
  if (link.width < 1 || link.width > kMost) throw NotSeen(width_file, fmt::format("x{} is not a width", link.width));
  return link;
}

std::string text_of(const PciLink& link) { return fmt::format("{:g} GT/s x{}", link.gigatransfers_per_s, link.width); }

/// What both ends of a link can do: an adapter in a slot of the generation before it is as fast as it can be.
void look_at(Look& host, const std::string& device) {
  const std::string path = host.path(fmt::format("{}/{}/device", kRdmaClass, device));
  const PciLink now = link_of(host, path, "current");
  PciLink most = link_of(host, path, "max");
  const std::filesystem::path above = std::filesystem::path(path).parent_path();
  if (!above.filename().string().starts_with("pci")) {  // a host bridge, pci0000:00, has no link
    const PciLink port = link_of(host, above.string(), "max");
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
