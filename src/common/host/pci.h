/// The PCI devices of this host: the links of each, its NUMA node and nearest network devices, and the path between two
/// of them. Addresses are in sysfs form, `0000:42:00.0`; `root` is the directory that stands for `/`.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fabricbench::host {

/// One PCI Express link: transfers per second and lane, and number of lanes.
struct PciLink {
  double gigatransfers_per_s = 0;
  int width = 0;

  friend bool operator==(const PciLink&, const PciLink&) = default;
};

/// What a link carries in one direction, in bytes per second: transfers x lanes x the share that its encoding leaves to
/// packets, whose headers take a part of it too. Encodings: 8 of 10 bits at 2.5 and 5 GT/s, 128 of 130 from 8 to
/// 32 GT/s, 236 of 256 bytes of a flit at 64 GT/s and above.
/// Source: PCI Express Base Specification 6.0, sections 4.2.1, 4.2.2 and 4.2.3.
[[nodiscard]] constexpr double bytes_per_second(const PciLink& link) {
  const double share = link.gigatransfers_per_s < 8 ? 0.8 : link.gigatransfers_per_s < 64 ? 128.0 / 130 : 236.0 / 256;
  return link.gigatransfers_per_s * 1e9 * link.width * share / 8;
}

/// Of what sysfs says, `32.0 GT/s PCIe` and `16`; nothing where the kernel does not know one of them: speed `Unknown`,
/// width 0 or 255.
[[nodiscard]] std::optional<double> link_speed_in(std::string_view text);
[[nodiscard]] std::optional<int> link_width_in(std::string_view text);

struct PciLinks {
  std::optional<PciLink> current;    ///< of the device now; idle GPUs lower the speed
  std::optional<PciLink> most;       ///< the maximum of the device
  std::optional<PciLink> narrowest;  ///< the slowest link now, from the device up to the host bridge
};

/// From sysfs: hwloc has one figure for a link, what it carries now, and neither its width nor what its ends can do.
/// Values that cannot be read or that the kernel does not know, as in many virtual machines, are left out without an
/// exception. Source: current_link_speed, current_link_width, max_link_speed and max_link_width of
/// Documentation/ABI/testing/sysfs-bus-pci of Linux.
[[nodiscard]] PciLinks pci_links(std::string_view address, const std::filesystem::path& root = "/");

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

/// `address` may be in upper case too. A network interface on the PCI device of an RDMA device is not listed
/// separately. Unreadable values are left out, and a device that sysfs does not list has no values; neither is an
/// exception. Source: Documentation/ABI/testing/sysfs-bus-pci of Linux; the path of a device below /sys/devices names
/// the bridges above it.
[[nodiscard]] PciLocality pci_locality(std::string_view address, const std::filesystem::path& root = "/");

/// The path between two devices, such as a GPU and an adapter.
struct PciRoute {
  /// As in `nvidia-smi topo -m`: PIX over at most one switch, PXB over several, PHB over a host bridge, NODE between
  /// host bridges of a NUMA node, SYS between NUMA nodes or unknown ones.
  std::string distance;
  std::vector<std::string> bridges;  ///< addresses of the bridges between the two
};

/// Empty if sysfs does not list one of the two.
[[nodiscard]] std::optional<PciRoute> pci_route(std::string_view from, std::string_view to,
                                                const std::filesystem::path& root = "/");

/// Obstacles to a direct, fast path between the two, one sentence each with the place and the remedy; empty if none is
/// known. Obstacles are a path longer than PXB; access control services (ACS) that redirect requests through the root
/// complex, or that only root can read; an IOMMU that translates addresses; and PCI Express links below the capability
/// of their ends. Source: PCI Express Base Specification 6.0, 7.7.8 (ACS); /sys/kernel/iommu_groups of Linux.
[[nodiscard]] std::vector<std::string> obstacles_between(std::string_view from, std::string_view to,
                                                         const std::filesystem::path& root = "/");

/// The address of an RDMA device such as mlx5_0; empty if it is not on PCI.
[[nodiscard]] std::string pci_address_of_rdma_device(std::string_view name, const std::filesystem::path& root = "/");

}  // namespace fabricbench::host
