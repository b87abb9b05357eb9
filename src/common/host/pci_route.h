/// The path between two PCI devices of this host, such as a GPU and an adapter, and its bottlenecks. Addresses are in
/// sysfs form, `0000:42:00.0`; `root` is the directory that stands for `/`.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fabricbench::host {

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
