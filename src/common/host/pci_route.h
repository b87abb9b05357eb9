/// The route between two PCI devices of this host, such as a GPU and an adapter, and what slows data down on it.
/// Addresses are as sysfs writes them, `0000:42:00.0`; `root` is the directory that stands for `/`.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fabricbench::host {

struct PciRoute {
  /// As `nvidia-smi topo -m` names them: PIX over one switch at most, PXB over several, PHB over a host bridge, NODE
  /// between host bridges of a NUMA node, SYS between NUMA nodes, or where the nodes are not known.
  std::string distance;
  std::vector<std::string> bridges;  ///< addresses of those between the two
};

/// Nothing where sysfs does not list one of the two.
[[nodiscard]] std::optional<PciRoute> pci_route(std::string_view from, std::string_view to,
                                                const std::filesystem::path& root = "/");

/// What may keep data from going straight and fast between the two, a sentence each that says where and what to do;
/// none where everything known is well. A route that is longer than PXB, access control services (ACS) that send
/// requests from one device to the other up through the root complex, or of which only root may know; an IOMMU that
/// translates; and PCI Express links below what their ends can do. From sysfs, since hwloc knows nothing of ACS and
/// IOMMUs, and too little of links. Source: PCI Express Base Specification 6.0, 7.7.8 (ACS); /sys/kernel/iommu_groups
/// of Linux.
[[nodiscard]] std::vector<std::string> obstacles_between(std::string_view from, std::string_view to,
                                                         const std::filesystem::path& root = "/");

/// Of an RDMA device such as mlx5_0; empty where it is none on PCI.
[[nodiscard]] std::string pci_address_of_rdma_device(std::string_view name, const std::filesystem::path& root = "/");

}  // namespace fabricbench::host
