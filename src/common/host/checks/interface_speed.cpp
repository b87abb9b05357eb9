#include "common/host/checks/checks.h"

#include <fmt/format.h>

namespace fabricbench::host {
namespace {

/// Those of InfiniBand have a check of their rate.
bool is_ethernet(Look& host, const std::string& interface) {
  constexpr int kEthernet = 1;  // ARPHRD_ETHER
  return host.number<int>(fmt::format("/sys/class/net/{}/type", interface)) == kEthernet;
}

void look_at_speed(Look& host, const std::string& interface) {
  const std::string folder = fmt::format("/sys/class/net/{}/", interface);
  if (!is_ethernet(host, interface)) return;
  const bool is_device = host.names_if_any(folder + "device").has_value();
  if (!is_device && !host.names_if_any(folder + "bonding").has_value()) return;
  if (host.text(folder + "operstate") != "up") return;
  const int speed = host.number<int>(folder + "speed");
  if (speed <= 0) throw NotSeen(folder + "speed", "is not known, as of virtual interfaces");
  host.state({.key = "speed", .among = interface, .device = interface, .value = fmt::format("{} Mb/s", speed)});
}

}  // namespace

Check interface_speed_check() {
  return {.name = "interface_speed",
          .what = "An Ethernet interface has one speed on all hosts.",
          .reads = "/sys/class/net/*/{type,device,bonding,operstate,speed}",
          .look =
              [](Look& host) {
                host.each(host.names("/sys/class/net"), [&](const std::string& each) { look_at_speed(host, each); });
              },
          .compared = {{.key = "speed",
                        .title = "speed of an interface",
                        .consequence = "what goes by this interface is slower than on the other hosts",
                        .next = "ethtool INTERFACE; cable, transceiver and switch port"}}};
}

}  // namespace fabricbench::host
