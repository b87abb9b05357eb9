#include "common/host/checks/checks.h"
#include "common/host/checks/devices.h"

#include <fmt/format.h>

namespace fabricbench::host {
namespace {

/// Of ports without a link, which have the rate of nothing, the state says it.
void examine_port_rate(Look& host) {
  each_port(host, [&](const RdmaPort& port) {
    if (!is_active(host, port)) return;
    const std::string board = board_of(host, port.device);
    host.state({.key = "rate", .among = board, .device = port.name(), .value = host.text(port.folder() + "/rate")});
    host.state({.key = "link_layer",
                .among = board,
                .device = port.name(),
                .value = host.text(port.folder() + "/link_layer")});
  });
}

}  // namespace

Check port_rate_check() {
  return {.name = "port_rate",
          .what = "Active ports of adapters of one board have one rate and one link layer.",
          .reads = "/sys/class/infiniband/*/ports/*/{state,rate,link_layer}",
          .absent = no_rdma_device,
          .look = examine_port_rate,
          .compared = {{.key = "rate",
                        .title = "rate of RDMA ports",
                        .level = CheckLevel::kFailure,
                        .consequence = "collectives go at the pace of the slowest rail",
                        .next = "the cable and both of its ends: mlxlink -d DEVICE -m"},
                       {.key = "link_layer",
                        .title = "link layer of RDMA ports",
                        .level = CheckLevel::kFailure,
                        .consequence = "InfiniBand and Ethernet ports cannot reach each other",
                        .next = "mlxconfig -d PCI_ADDRESS query LINK_TYPE_P1"}}};
}

}  // namespace fabricbench::host
