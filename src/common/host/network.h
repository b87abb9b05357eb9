// The network devices of this machine, as the kernel lists them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
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
  std::string firmware{};  // its version; empty: unknown, or of an interface whose adapter's RDMA port tells it
};

// The version of the firmware of a network interface as its driver tells it; empty: it tells none.
using FirmwareReader = std::function<std::string(const std::string& interface)>;

// Every network interface but the loopback, and every port of every RDMA device, sorted by name;
// an adapter with both appears as both. A property that cannot be read is "unknown", "other" or
// nothing. `root` is the directory that stands for `/`; drivers are asked only of this one, unless there is a reader.
// Source: Documentation/ABI/testing/sysfs-class-net and ABI/stable/sysfs-class-infiniband of Linux; SIOCETHTOOL and
// ETHTOOL_GDRVINFO in linux/ethtool.h.
[[nodiscard]] std::vector<NetworkDevice> network_devices(const std::filesystem::path& root = "/",
                                                         const FirmwareReader& firmware_of = {});

}  // namespace fabricbench::host
