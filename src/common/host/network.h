// The network devices of this machine, as the kernel lists them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace fabricbench::host {

// Addresses are left out on purpose: results get published.
struct NetworkDevice {
  std::string name;   // a network interface `eth0`, or a port of an RDMA device `mlx5_0:1`
  std::string kind;   // "ethernet", "infiniband" or "other"
  std::string state;  // of an interface as RFC 2863: "up", "down"; of a port: "ACTIVE", "DOWN"
  std::optional<std::int64_t> speed_mbit_per_s;  // none where there is no link or it has no speed
  std::optional<int> numa_node{};                // none where the kernel names none
  std::optional<std::string> guid{};             // of a port's RDMA device, which no other has: `0x0c42a10300f1d2e6`
  std::optional<int> mtu{};                      // of an interface, in bytes
  std::string driver{};    // and its version where the kernel has one, such as `mlx5_core 24.10-1.1.4`; empty: unknown
  std::string firmware{};  // version of an RDMA device's; empty: unknown
};

// Every network interface but the loopback, and every port of every RDMA device, sorted by name;
// an adapter with both appears as both. A property that cannot be read is "unknown", "other" or
// nothing. `root` is the directory that stands for `/`.
// Source: Documentation/ABI/testing/sysfs-class-net and ABI/stable/sysfs-class-infiniband of Linux.
[[nodiscard]] std::vector<NetworkDevice> network_devices(const std::filesystem::path& root = "/");

}  // namespace fabricbench::host
