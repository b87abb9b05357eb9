#include "common/host/checks/checks.h"
#include "common/host/checks/devices.h"

#include <fmt/format.h>

namespace fabricbench::host {
namespace {

/// `ACTIVE` of `4: ACTIVE`.
std::string word_of(const std::string& text) {
  const std::size_t colon = text.find(": ");
  return colon == std::string::npos ? text : text.substr(colon + 2);
}

void look_at(Look& host, const RdmaPort& port) {
  const std::string state = word_of(host.text(port.folder() + "/state"));
  const std::string physical = word_of(host.text(port.folder() + "/phys_state"));
  if (state == "ACTIVE") return;
  const bool has_link = physical == "LinkUp";
  host.report({.level = has_link ? CheckLevel::kFailure : CheckLevel::kWarning,
               .device = port.name(),
               .measured = fmt::format("state {}, physical state {}", state, physical),
               .expected = "state ACTIVE",
               .expected_by = has_link ? "the cable is connected" : "every port that has a cable",
               .consequence = "nothing can use this port: NCCL leaves the rail out, or hangs",
               .next = has_link ? "the subnet manager has not configured it: sminfo, and the log of opensm or UFM"
                                : "cable and switch port; if it is unused by design, nothing",
               .maybe_by_design = !has_link});
}

void examine_port_state(Look& host) {
  each_port(host, [&](const RdmaPort& port) { look_at(host, port); });
}

}  // namespace

Check port_state_check() {
  return {.name = "port_state",
          .what = "Ports of RDMA adapters are active.",
          .reads = "/sys/class/infiniband/*/ports/*/{state,phys_state}",
          .is_required = true,
          .absent = no_rdma_device,
          .look = examine_port_state};
}

}  // namespace fabricbench::host
