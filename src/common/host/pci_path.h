// Where a PCI device hangs. Private to this directory.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace fabricbench::host {

// The chain of a device, from its host bridge `pci0000:40` over bridges to itself.
using PciPath = std::vector<std::string>;

// The chain for a link to a device's directory. Parts that are not PCI, such as a virtio device's directory below its
// PCI function, are left out; empty if the device is not on PCI. Source: Documentation/ABI/testing/sysfs-bus-pci of
// Linux; the path of a device below /sys/devices names the bridges above it.
[[nodiscard]] PciPath pci_path(const std::filesystem::path& link);

// How many elements two paths share, from the host bridge down.
[[nodiscard]] std::size_t shared_length(const PciPath& one, const PciPath& other);

}  // namespace fabricbench::host
