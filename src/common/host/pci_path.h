// Where a PCI device hangs. Private to this directory.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace fabricbench::host {

// What stands above a device, from its host bridge `pci0000:40` over bridges to itself.
using PciPath = std::vector<std::string>;

// Of a link to a device's directory, read from sysfs and not from hwloc: docs/decisions/0016-what-hwloc-tells.md. What
// is not PCI, such as a virtio device's own directory below that of its PCI function, is left out; empty where the
// device is not on PCI. Source: Documentation/ABI/testing/sysfs-bus-pci of Linux; the path of a device below
// /sys/devices names the bridges above it.
[[nodiscard]] PciPath pci_path(const std::filesystem::path& link);

// How many elements two paths share, from the host bridge down.
[[nodiscard]] std::size_t shared_length(const PciPath& one, const PciPath& other);

}  // namespace fabricbench::host
