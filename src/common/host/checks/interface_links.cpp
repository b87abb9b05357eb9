#include "common/host/checks/checks.h"
#include "common/host/checks/interfaces.h"

#include <fmt/format.h>

namespace fabricbench::host {
namespace {

/// Ports of InfiniBand have a check of their rate.
void look_at_speed(Look& host, const std::string& interface, const std::string& folder) {
  constexpr int kEthernet = 1;  // ARPHRD_ETHER
  if (host.number<int>(folder + "type") != kEthernet) return;
  const int speed = host.number<int>(folder + "speed");
  if (speed <= 0) throw NotSeen(folder + "speed", "is not known, as of virtual interfaces");
  host.state({.key = "speed", .among = interface, .device = interface, .value = fmt::format("{} Mb/s", speed)});
}

void look_at_link(Look& host, const std::string& interface) {
  const std::string folder = fmt::format("{}/{}/", kNetClass, interface);
  const std::string state = host.text(folder + "operstate");
  if (!host.names_if_any(folder + "device/infiniband")) {  // else the state of the port says it
    host.state({.key = "state", .among = interface, .device = interface, .value = state});
  }
  if (state != "up") return;
  host.attempt([&] { look_at_speed(host, interface, folder); });
  host.state({.key = "mtu", .among = interface, .device = interface, .value = host.text(folder + "mtu")});
}

void examine_interface_links(Look& host) {
  each_link(host, [&](const std::string& interface) { look_at_link(host, interface); });
}

}  // namespace

Check interface_links_check() {
  return {.name = "interface_links",
          .what = "An interface is up on all hosts or on none, with one MTU and, if it is Ethernet, one speed.",
          .reads = "/sys/class/net/*/{device,bonding,operstate,mtu,type,speed,device/infiniband}",
          .look = examine_interface_links,
          .compared = {{.key = "state",
                        .title = "state of an interface",
                        .consequence = "what was to go by this interface goes by another one, or nowhere",
                        .next = "ip link show INTERFACE; cable and switch port"},
                       {.key = "mtu",
                        .title = "mtu",
                        .level = CheckLevel::kFailure,
                        .consequence = "large packets are lost between hosts that differ, and connections hang",
                        .next = "ip link set dev INTERFACE mtu BYTES"},
                       {.key = "speed",
                        .title = "speed of an interface",
                        .consequence = "what goes by this interface is slower than on the other hosts",
                        .next = "ethtool INTERFACE; cable, transceiver and switch port"}}};
}

}  // namespace fabricbench::host
