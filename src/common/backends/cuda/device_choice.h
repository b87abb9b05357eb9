// The choice of devices for each process: pure functions of data that all processes exchanged.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fabricbench::cuda {

/// The devices that a process sees and needs.
struct ProcessDevices {
  std::uint64_t host = 0;          ///< the same for processes of one host
  std::string host_name;           ///< for messages
  std::vector<std::string> uuids;  ///< the visible devices, in CUDA's order
  int needed = 1;
};

struct DeviceChoice {
  std::vector<std::vector<int>> devices;  ///< CUDA's device numbers of each process, in the order of the processes
  std::string notice;                     ///< the processes that share a device; empty if none do
};

/// Assigns every process, in the order of ranks, as many devices as it needs.
///
/// Processes of one host that see the same set of devices share them out in order: with L devices per process, the p-th
/// process gets the p-th L of them. So if all processes see all devices, each local rank has its own; and if the
/// launcher shows each process a different set, each begins with its first device. Lists with the same devices in
/// another order are the same set, in the order of the first process. With `first_device`, every process begins at that
/// device of its own list.
///
/// `shared_by`: what several processes must set to use one device, for the advice of an error.
///
/// The result depends only on the arguments, so all processes make the same choice or get the same error. Throws Error
/// (missing) with the host and the existing and required numbers of devices; UsageError if `first_device` is negative.
[[nodiscard]] DeviceChoice choose_devices(std::span<const ProcessDevices> processes,
                                          std::optional<std::int64_t> first_device,
                                          std::string_view shared_by = "--device 0");

}  // namespace fabricbench::cuda
