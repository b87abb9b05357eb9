#include "common/host/checks/checks.h"

#include <fmt/format.h>

namespace fabricbench::host {
namespace {

/// Interfaces of devices, and bonds; not those of bridges, containers and tunnels.
void examine_interface_mtu(Look& host) {
  host.each(host.names("/sys/class/net"), [&](const std::string& interface) {
    const std::string folder = fmt::format("/sys/class/net/{}/", interface);
    if (interface == "lo" || !host.names_if_any(folder + "device").has_value()) {
      if (!host.names_if_any(folder + "bonding").has_value()) return;
    }
    if (host.text(folder + "operstate") != "up") return;
    host.state({.key = "mtu", .among = interface, .device = interface, .value = host.text(folder + "mtu")});
  });
}

}  // namespace

Check interface_mtu_check() {
  return {.name = "interface_mtu",
          .what = "An interface has one MTU on all hosts.",
          .reads = "/sys/class/net/*/{device,bonding,operstate,mtu}",
          .look = examine_interface_mtu,
          .compared = {{.key = "mtu",
                        .title = "mtu",
                        .level = CheckLevel::kFailure,
                        .consequence = "large packets are lost between hosts that differ, and connections hang",
                        .next = "ip link set dev INTERFACE mtu BYTES"}}};
}

}  // namespace fabricbench::host
