/// The location of a PCI device in this host: its NUMA node, the nearest network devices, and whether this process runs
/// near it. `root` is the directory that stands for `/`.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fabricbench::host {

/// The distance between two PCI devices, from near to far.
enum class PciDistance {
  kSwitch,      ///< below a common bridge or switch (nvidia-smi topo: PIX, PXB)
  kHostBridge,  ///< below one host bridge (PHB)
  kNumaNode,    ///< on one NUMA node (NODE)
  kSystem       ///< across NUMA nodes, or unknown (SYS)
};

struct PciLocality {
  std::optional<int> numa_node;                 ///< empty if the kernel gives none
  std::vector<std::string> nearest_nics;        ///< `mlx5_0`, `eth0`: all that are equally near, sorted; empty: no NIC
  PciDistance distance = PciDistance::kSystem;  ///< of those NICs
};

/// `address` is in sysfs form, `0000:42:00.0`; upper case is accepted too. A network interface on the PCI device of an
/// RDMA device is not listed separately. Unreadable values are left out, and a device that sysfs does not list has no
/// values; neither is an exception. Source: Documentation/ABI/testing/sysfs-bus-pci of Linux; the path of a device
/// below /sys/devices names the bridges above it.
[[nodiscard]] PciLocality pci_locality(std::string_view address, const std::filesystem::path& root = "/");

/// The relation between this process's processing units and those of a NUMA node.
enum class NodeBinding {
  kInside,   ///< it runs on the node only
  kPartly,   ///< it may run on the node and elsewhere, like an unbound process
  kOutside,  ///< it never runs on the node
  kUnknown   ///< the node cannot be read
};

/// `binding` is the list of the processing units that the process may use, as current_binding() gives it.
/// Source: `cpulist` of Documentation/ABI/stable/sysfs-devices-node of Linux.
[[nodiscard]] NodeBinding node_binding(int numa_node, std::string_view binding,
                                       const std::filesystem::path& root = "/");

}  // namespace fabricbench::host
