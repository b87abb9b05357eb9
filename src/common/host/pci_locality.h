/// Where a PCI device stands in this host: its NUMA node, the network devices nearest to it, and whether this process
/// runs beside it. `root` is the directory that stands for `/`.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fabricbench::host {

/// How far two PCI devices are from each other, from near to far.
enum class PciDistance {
  kSwitch,      ///< below a common bridge or switch (nvidia-smi topo: PIX, PXB)
  kHostBridge,  ///< below one host bridge (PHB)
  kNumaNode,    ///< on one NUMA node (NODE)
  kSystem       ///< across NUMA nodes, or not known (SYS)
};

struct PciLocality {
  std::optional<int> numa_node;                 ///< none where the kernel names none
  std::vector<std::string> nearest_nics;        ///< `mlx5_0`, `eth0`: all that are equally near, by name; none: no NIC
  PciDistance distance = PciDistance::kSystem;  ///< of those NICs
};

/// `address` is as sysfs writes it, `0000:42:00.0`; in upper case it is found too. An interface whose PCI device is an
/// RDMA device's as well is not listed beside it. What cannot be read is left out, and nothing is known of a device
/// that sysfs does not list; nothing is thrown for it.
/// Source: Documentation/ABI/testing/sysfs-bus-pci of Linux; the path of a device below /sys/devices names the bridges
/// above it.
[[nodiscard]] PciLocality pci_locality(std::string_view address, const std::filesystem::path& root = "/");

/// How this process's processing units lie to a NUMA node's.
enum class NodeBinding {
  kInside,   ///< it runs on the node only
  kPartly,   ///< it may run on the node and elsewhere, as a process that is not bound
  kOutside,  ///< it never runs on the node
  kUnknown   ///< the node cannot be read
};

/// `binding` is the list of the processing units that the process may use, as current_binding() gives it.
/// Source: `cpulist` of Documentation/ABI/stable/sysfs-devices-node of Linux.
[[nodiscard]] NodeBinding node_binding(int numa_node, std::string_view binding,
                                       const std::filesystem::path& root = "/");

}  // namespace fabricbench::host
