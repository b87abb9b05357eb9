// What checks read of devices on PCI.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/host/checks/check.h"
#include "common/host/pci.h"

namespace fabricbench::host {

/// `current` or `max` of a device's link, from `32.0 GT/s PCIe` and `16`. Throws NotSeen where a hypervisor hides them.
[[nodiscard]] PciLink link_of(Look& look, const std::string& device, const std::string& which);
/// Its width alone.
[[nodiscard]] int link_width(Look& look, const std::string& device, const std::string& which);

/// The bridge above a device; none if that is a host bridge, which has no link. `path` is without links in it.
[[nodiscard]] std::optional<std::string> slot_above(const std::string& path);

inline const std::string kPciDevices = "/sys/bus/pci/devices";

/// The addresses of NVIDIA's GPUs, whether or not a driver has them. Throws NotSeen.
[[nodiscard]] std::vector<std::string> nvidia_gpus(Look& look);

/// `no NVIDIA GPU`: `absent` of Check.
[[nodiscard]] std::optional<std::string> no_nvidia_gpu(Look& look);

}  // namespace fabricbench::host
