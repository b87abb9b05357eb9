// All checks, in the order of the report.
#pragma once

#include <string>
#include <vector>

#include "common/host/checks/check.h"

namespace fabricbench::host {

[[nodiscard]] const std::vector<Check>& all_checks();

/// What is known of a host when all checks have been asked.
struct HostReport {
  std::string host;
  std::string hardware_class;  ///< board and model: only hosts of one class are compared
  std::vector<CheckResult> results;
};

inline constexpr const char* kUnknownHost = "unknown";

/// Asks all checks. Does not throw NotSeen.
[[nodiscard]] HostReport examine(const View& view);

// A file each. What they have in common is in devices.h.
[[nodiscard]] Check kernel_check();
[[nodiscard]] Check host_name_check();
[[nodiscard]] Check locked_memory_check();
[[nodiscard]] Check shared_memory_check();
[[nodiscard]] Check rdma_adapters_check();
[[nodiscard]] Check port_state_check();
[[nodiscard]] Check port_rate_check();
[[nodiscard]] Check adapter_pci_check();
[[nodiscard]] Check interface_mtu_check();
[[nodiscard]] Check gpu_pci_check();

}  // namespace fabricbench::host
