// Which devices each process drives: pure functions of what every process told all others.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace fabricbench::cuda {

/// What a process sees and needs.
struct ProcessDevices {
  std::uint64_t host = 0;          ///< equal on the processes of one host
  std::string host_name;           ///< for messages
  std::vector<std::string> uuids;  ///< the devices that it sees, in CUDA's order
  int needed = 1;
};

struct DeviceChoice {
  std::vector<std::vector<int>> devices;  ///< CUDA's device numbers of each process, in the order of the processes
  std::string notice;                     ///< who shares a device with whom; empty where nobody does
};

/// Gives every process, in the order of their ranks, as many devices as it needs.
///
/// Processes of one host that see the same set of devices take turns in their order: the p-th with L devices each
/// takes the p-th L of them. So where all see all devices, local rank p has its own, and where a launcher shows each
/// process a set of its own, each begins with its first. Lists with the same devices in another order are one set, and
/// the order is that of the first process. With `first_device`, every process begins at that one of its own list.
///
/// Depends on its arguments only, so all processes come to the same choice, or the same error.
/// Throws Error (missing) naming the host, the number seen and expected; UsageError where `first_device` is negative.
[[nodiscard]] DeviceChoice choose_devices(std::span<const ProcessDevices> processes,
                                          std::optional<std::int64_t> first_device);

}  // namespace fabricbench::cuda
