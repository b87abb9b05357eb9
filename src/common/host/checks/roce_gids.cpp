#include "common/host/checks/checks.h"
#include "common/host/checks/devices.h"
#include "common/host/checks/settings.h"

#include <algorithm>

#include <fmt/format.h>

namespace fabricbench::host {
namespace {

constexpr std::string_view kMapped = "0000:0000:0000:0000:0000:ffff:";  // before an IPv4 address

bool is_unused(const std::string& gid) { return gid.find_first_not_of("0:") == std::string::npos; }

bool is_routable(const std::string& gid) {
  if (!gid.starts_with(kMapped)) return !gid.starts_with("fe80:");
  const std::string_view address = std::string_view(gid).substr(kMapped.size());
  return !address.starts_with("a9fe") && !address.starts_with("7f");  // 169.254.0.0/16, 127.0.0.0/8
}

std::string what_is_at(Look& host, const RdmaPort& port, const std::string& index) {
  const auto gid = host.text_if_any(port.folder() + "/gids/" + index);
  if (!gid || is_unused(*gid)) return "no GID";
  return fmt::format("{}, {} address", host.text(port.folder() + "/gid_attrs/types/" + index),
                     is_routable(*gid) ? "routable" : "link-local");
}

/// The index that NCCL takes by itself: of RoCE v2 with a routable address, IPv4 first. Empty: there is none.
std::string best_index(Look& host, const RdmaPort& port) {
  std::vector<std::string> indexes = host.names(port.folder() + "/gids");
  std::sort(indexes.begin(), indexes.end(),
            [](const auto& a, const auto& b) { return std::pair(a.size(), a) < std::pair(b.size(), b); });
  std::string best;
  bool is_ipv4 = false;
  for (const std::string& index : indexes) {
    const std::string gid = host.text(port.folder() + "/gids/" + index);
    if (is_unused(gid) || host.text(port.folder() + "/gid_attrs/types/" + index) != "RoCE v2" || !is_routable(gid))
      continue;
    if (!best.empty() && (is_ipv4 || !gid.starts_with(kMapped))) continue;
    best = index;
    is_ipv4 = gid.starts_with(kMapped);
  }
  return best;
}

void look_at_mtu(Look& host, const RdmaPort& port, const std::string& index) {
  const std::string interface = host.text(port.folder() + "/gid_attrs/ndevs/" + index);
  const int mtu = host.number<int>(fmt::format("/sys/class/net/{}/mtu", interface));
  if (mtu >= 4200) return;  // an RDMA packet of 4096 bytes with its headers
  host.report({.level = CheckLevel::kWarning,
               .device = fmt::format("{} ({})", port.name(), interface),
               .measured = fmt::format("mtu {}", mtu),
               .expected = "at least 4200, usually 9000",
               .consequence = "RDMA packets are smaller than 4096 bytes, which costs bandwidth",
               .next = fmt::format("ip link set dev {} mtu 9000, on all hosts and switches", interface),
               .maybe_by_design = true});
}

void look_at_gids(Look& host, const RdmaPort& port) {
  const std::string best = best_index(host, port);
  const auto [wanted, origin] = find_nccl_setting(host, "NCCL_IB_GID_INDEX").value_or(Setting{"-1", ""});
  const bool is_chosen = !wanted.starts_with('-');
  const std::string found = is_chosen ? what_is_at(host, port, wanted) : "";
  if (best.empty() || (is_chosen && found != "RoCE v2, routable address")) {
    host.report({.level = CheckLevel::kFailure,
                 .device = port.name(),
                 .measured = is_chosen ? fmt::format("GID index {}: {}", wanted, found)
                                       : "no RoCE v2 GID with a routable address",
                 .expected = "a RoCE v2 GID with a routable address",
                 .expected_by = is_chosen ? "NCCL_IB_GID_INDEX of " + origin : "what NCCL connects by",
                 .consequence = "connections of this rail fail or time out (error 12)",
                 .next = best.empty() ? "ip addr: give its interface an address; show_gids lists the result"
                                      : fmt::format("NCCL_IB_GID_INDEX={} fits this port, or unset it", best)});
    return;
  }
  const std::string& index = is_chosen ? wanted : best;
  host.state({.key = "gid_index", .among = board_of(host, port.device), .device = port.name(), .value = index});
  look_at_mtu(host, port, index);
}

void examine_roce_gids(Look& host) {
  each_active_port(host, "Ethernet", [&](const RdmaPort& port) { look_at_gids(host, port); });
}

}  // namespace

Check roce_gids_check() {
  return {.name = "roce_gids",
          .what = "Active RoCE ports have a routable RoCE v2 GID at one index, and an MTU for full packets.",
          .reads = "/sys/class/infiniband/*/ports/*/{gids,gid_attrs}, /sys/class/net/*/mtu, NCCL_IB_GID_INDEX",
          .absent = no_roce_port,
          .look = examine_roce_gids,
          .compared = {{.key = "gid_index",
                        .title = "index of the RoCE v2 GID",
                        .consequence = "no value of NCCL_IB_GID_INDEX fits all ports",
                        .next = "show_gids; leave NCCL_IB_GID_INDEX unset, as NCCL 2.21 and later find the index"}}};
}

}  // namespace fabricbench::host
