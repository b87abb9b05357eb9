#include "common/host/checks/checks.h"
#include "common/host/checks/devices.h"
#include "common/host/checks/interfaces.h"
#include "common/host/checks/settings.h"

#include <algorithm>

#include <fmt/format.h>

namespace fabricbench::host {
namespace {

bool is_device_of_ucx(Look& host, const ListedName& listed) {
  const std::vector<std::string> devices = rdma_devices(host);
  const bool is_rdma = std::find(devices.begin(), devices.end(), listed.name) != devices.end();
  if (is_rdma) return has_port(host, listed.name, listed.port);
  const auto interfaces = interfaces_of_host(host);
  return std::any_of(interfaces.begin(), interfaces.end(),
                     [&](const HostInterface& each) { return each.name == listed.name; });
}

/// Whole names with a port, or interfaces. Ranges (`mlx5_[0-3]`) are left to UCX.
void examine_ucx_devices(Look& host) {
  const auto setting = find_setting(ucx_settings(host), "UCX_NET_DEVICES");
  const NameList list = NameList::of(setting->value);
  if (list.excludes || setting->value == "all" || setting->value.find('[') != std::string::npos) return;
  for (const ListedName& listed : list.names) {
    if (is_device_of_ucx(host, listed)) continue;
    host.report({.level = CheckLevel::kFailure,
                 .measured = fmt::format("UCX_NET_DEVICES={}: there is no {}{}{}", setting->value, listed.name,
                                         listed.port.empty() ? "" : ":", listed.port),
                 .expected = "devices that this host has",
                 .expected_by = setting->origin,
                 .consequence = "UCX leaves this rail out, or ends if it was the only one",
                 .next = "ucx_info -d | grep Device"});
  }
}

std::optional<std::string> no_ucx_devices(Look& host) {
  if (find_setting(ucx_settings(host), "UCX_NET_DEVICES")) return std::nullopt;
  return "no UCX_NET_DEVICES";
}

}  // namespace

Check ucx_devices_check() {
  return {.name = "ucx_devices",
          .what = "Devices that UCX_NET_DEVICES names are there.",
          .reads = "UCX_NET_DEVICES and the files of UCX, /sys/class/infiniband/*/ports, getifaddrs(3)",
          .absent = no_ucx_devices,
          .look = examine_ucx_devices};
}

}  // namespace fabricbench::host
