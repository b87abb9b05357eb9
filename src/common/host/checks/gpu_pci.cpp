#include "common/host/checks/checks.h"
#include "common/host/checks/pci_devices.h"

#include <algorithm>

#include <fmt/format.h>

namespace fabricbench::host {
namespace {

/// Only the width: an idle GPU lowers the speed of its link to save power.
void look_at_gpu(Look& host, const std::string& address) {
  const std::string path = host.path(kPciDevices + "/" + address);
  const int now = link_width(host, path, "current");
  int most = link_width(host, path, "max");
  if (const auto above = slot_above(path)) most = std::min(most, link_width(host, *above, "max"));
  if (now >= most) return;
  host.report({.level = CheckLevel::kFailure,
               .device = "GPU " + address,
               .measured = fmt::format("PCIe link x{}", now),
               .expected = fmt::format("x{}", most),
               .expected_by = "what the GPU and its slot can do",
               .consequence = fmt::format("copies to and from the GPU have {} of {} lanes", now, most),
               .next = "reseat the GPU or its riser; dmesg | grep -i -e aer -e pcie"});
}

void examine_gpu_pci(Look& host) {
  host.each(nvidia_gpus(host), [&](const std::string& gpu) { look_at_gpu(host, gpu); });
}

}  // namespace

Check gpu_pci_check() {
  return {.name = "gpu_pci",
          .what = "The PCI Express link of each NVIDIA GPU has as many lanes as the GPU and its slot have.",
          .reads = "/sys/bus/pci/devices/*/{vendor,class,current_link_width,max_link_width}, and of the bridge above",
          .absent = no_nvidia_gpu,
          .look = examine_gpu_pci};
}

}  // namespace fabricbench::host
