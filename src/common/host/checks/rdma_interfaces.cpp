#include "common/host/checks/checks.h"
#include "common/host/checks/devices.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace fabricbench::host {
namespace {

constexpr int kManyChanges = 20;  // a start of the host and a few of its switch take fewer

/// The interface of a port that is active; verbs may work without it.
void look_at_interface(Look& host, const std::string& device, const std::string& interface) {
  const std::string folder = fmt::format("{}/{}/device/net/{}/", kRdmaClass, device, interface);
  const std::string name = fmt::format("{} ({})", interface, device);
  const std::string state = host.text(folder + "operstate");
  const int changes = host.number<int>(folder + "carrier_changes");
  if (state == "down") {
    host.report({.level = CheckLevel::kWarning,
                 .device = name,
                 .measured = fmt::format("interface down, {} changes of its carrier", changes),
                 .expected = "interface up",
                 .expected_by = "the port, which is active",
                 .consequence = "RDMA may work, but TCP, rdma_cm and NCCL_SOCKET_IFNAME do not on this rail",
                 .next = fmt::format("ip link show {}; dmesg | grep {}", interface, interface)});
  } else if (changes > kManyChanges) {
    host.report({.level = CheckLevel::kNote,
                 .device = name,
                 .measured = fmt::format("carrier changed {} times since the interface was made", changes),
                 .expected = fmt::format("at most {}", kManyChanges),
                 .consequence = "a link that flaps ends jobs",
                 .next = fmt::format("journalctl -k | grep {}", interface)});
  }
}

void look_at_device(Look& host, const std::string& device) {
  const std::vector<std::string> interfaces = interfaces_of(host, device);
  const std::string names = interfaces.empty() ? "none" : fmt::format("{}", fmt::join(interfaces, " "));
  const std::string address = host.target(fmt::format("{}/{}/device", kRdmaClass, device));
  host.state({.key = "interfaces", .among = address, .device = address, .value = names});
  bool has_active_port = false;
  bool is_roce = false;
  host.each(host.names(fmt::format("{}/{}/ports", kRdmaClass, device)), [&](const std::string& number) {
    const RdmaPort port{device, number};
    if (!is_active(host, port)) return;
    has_active_port = true;
    is_roce = host.text(port.folder() + "/link_layer") == "Ethernet" || is_roce;
  });
  if (is_roce && interfaces.empty()) {
    host.report({.level = CheckLevel::kNote,
                 .device = device,
                 .measured = "RoCE without a network interface here",
                 .expected = "an interface, from which RoCE has its addresses",
                 .consequence = "in a container with a network of its own, its GIDs cannot be used",
                 .next = "docker run --network=host"});
  }
  if (!has_active_port) return;
  host.each(interfaces, [&](const std::string& interface) { look_at_interface(host, device, interface); });
}

void examine_rdma_interfaces(Look& host) {
  host.each(rdma_devices(host), [&](const std::string& device) { look_at_device(host, device); });
}

}  // namespace

Check rdma_interfaces_check() {
  return {
      .name = "rdma_interfaces",
      .what = "Network interfaces of active RDMA adapters are up, do not flap, and have the same names on all hosts.",
      .reads = "/sys/class/infiniband/*/device/net/*/{operstate,carrier_changes}",
      .absent = no_rdma_device,
      .look = examine_rdma_interfaces,
      .compared = {{.key = "interfaces",
                    .title = "interfaces of an RDMA adapter",
                    .consequence = "NCCL_SOCKET_IFNAME and NCCL_IB_HCA name other rails on this host",
                    .next = "ibdev2netdev on both hosts; udev rules give names that last"}}};
}

}  // namespace fabricbench::host
