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

void examine_interface_links(Look& host) {
  each_link(host, [&](const std::string& interface) {
    const std::string folder = fmt::format("{}/{}/", kNetClass, interface);
    host.attempt([&] { look_at_speed(host, interface, folder); });
    host.state({.key = "mtu", .among = interface, .device = interface, .value = host.text(folder + "mtu")});
  });
}

}  // namespace

Check interface_links_check() {
  return {.name = "interface_links",
          .what = "An interface has one MTU and, if it is Ethernet, one speed on all hosts.",
          .reads = "/sys/class/net/*/{device,bonding,operstate,mtu,type,speed}",
          .look = examine_interface_links,
          .compared = {{.key = "mtu",
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
