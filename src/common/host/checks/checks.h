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
[[nodiscard]] Check software_check();
[[nodiscard]] Check host_name_check();
[[nodiscard]] Check locked_memory_check();
[[nodiscard]] Check shared_memory_check();
[[nodiscard]] Check processors_check();
[[nodiscard]] Check processor_tuning_check();
[[nodiscard]] Check clock_sync_check();
[[nodiscard]] Check memory_errors_check();
[[nodiscard]] Check process_limits_check();
[[nodiscard]] Check control_group_check();
[[nodiscard]] Check free_space_check();
[[nodiscard]] Check load_check();
[[nodiscard]] Check other_processes_check();
[[nodiscard]] Check configuration_check();
[[nodiscard]] Check socket_interfaces_check();
[[nodiscard]] Check network_stack_check();
[[nodiscard]] Check rdma_choice_check();
[[nodiscard]] Check ucx_devices_check();
[[nodiscard]] Check net_plugins_check();
[[nodiscard]] Check topology_file_check();
[[nodiscard]] Check huge_pages_check();
[[nodiscard]] Check rdma_adapters_check();
[[nodiscard]] Check port_state_check();
[[nodiscard]] Check port_rate_check();
[[nodiscard]] Check adapter_pci_check();
[[nodiscard]] Check rdma_nodes_check();
[[nodiscard]] Check adapter_driver_check();
[[nodiscard]] Check ib_subnet_check();
[[nodiscard]] Check error_counters_check();
[[nodiscard]] Check rdma_interfaces_check();
[[nodiscard]] Check interface_links_check();
[[nodiscard]] Check roce_gids_check();
[[nodiscard]] Check link_lanes_check();
[[nodiscard]] Check bonds_check();
[[nodiscard]] Check rail_routes_check();
[[nodiscard]] Check gpu_pci_check();

}  // namespace fabricbench::host
