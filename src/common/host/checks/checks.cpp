#include "common/host/checks/checks.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

namespace fabricbench::host {
namespace {

/// Of what a virtual machine or a board says of itself; the size of a cloud's machine is in its product's name.
std::string hardware_class(const View& view) {
  Look look(view);
  std::string text;
  for (const char* name : {"sys_vendor", "product_name", "board_name"}) {
    look.attempt([&] { text += (text.empty() ? "" : " ") + look.text(fmt::format("/sys/class/dmi/id/{}", name)); });
  }
  return text.empty() ? "unknown" : text;
}

std::string name_of(const View& view) {
  Look look(view);
  std::string name = kUnknownHost;
  look.attempt([&] { name = look.text("system/host_name"); });
  return name;
}

}  // namespace

const std::vector<Check>& all_checks() {
  static const std::vector<Check> checks = {
      kernel_check(),
      software_check(),
      host_name_check(),
      locked_memory_check(),
      shared_memory_check(),
      processors_check(),
      processor_tuning_check(),
      clock_sync_check(),
      memory_errors_check(),
      process_limits_check(),
      control_group_check(),
      free_space_check(),
      load_check(),
      other_processes_check(),
      configuration_check(),
      socket_interfaces_check(),
      network_stack_check(),
      rdma_choice_check(),
      ucx_devices_check(),
      net_plugins_check(),
      topology_file_check(),
      huge_pages_check(),
      rdma_adapters_check(),
      port_state_check(),
      port_rate_check(),
      adapter_pci_check(),
      rdma_nodes_check(),
      adapter_driver_check(),
      ib_subnet_check(),
      error_counters_check(),
      rdma_interfaces_check(),
      interface_links_check(),
      roce_gids_check(),
      link_lanes_check(),
      bonds_check(),
      rail_routes_check(),
      gpu_pci_check(),
  };
  return checks;
}

HostReport examine(const View& view) {
  HostReport report{name_of(view), hardware_class(view), {}};
  for (const Check& check : all_checks()) report.results.push_back(run_check(check, view));
  return report;
}

}  // namespace fabricbench::host
