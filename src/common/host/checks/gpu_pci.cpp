#include "common/host/checks/checks.h"
#include "common/host/checks/pci_devices.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

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

/// A GPU that fell off the bus may be gone from PCI as well: then only other hosts tell.
void count_gpus(Look& host, const std::vector<std::string>& gpus) {
  std::map<std::string, int> of_model;
  for (const std::string& each : gpus) ++of_model[host.text(fmt::format("{}/{}/device", kPciDevices, each))];
  for (const auto& [model, count] : of_model) {
    host.state({.key = "gpus", .among = "PCI device " + model, .value = fmt::format("{}", count)});
  }
}

void examine_gpu_pci(Look& host) {
  const std::vector<std::string> gpus = nvidia_gpus(host);
  host.attempt([&] { count_gpus(host, gpus); });
  host.each(gpus, [&](const std::string& gpu) { look_at_gpu(host, gpu); });
}

}  // namespace

Check gpu_pci_check() {
  return {.name = "gpu_pci",
          .what =
              "All hosts have as many NVIDIA GPUs on PCI, and the link of each has as many lanes as the GPU and its "
              "slot have.",
          .reads =
              "/sys/bus/pci/devices/*/{vendor,class,device,current_link_width,max_link_width}, and of the bridge above",
          .absent = no_nvidia_gpu,
          .look = examine_gpu_pci,
          .compared = {{.key = "gpus",
                        .title = "number of GPUs",
                        .level = CheckLevel::kFailure,
                        .consequence = "jobs that ask for all GPUs of each host do not start",
                        .next = "lspci -d 10de:; dmesg | grep -i 'fallen off the bus'",
                        .is_count = true}}};
}

}  // namespace fabricbench::host
