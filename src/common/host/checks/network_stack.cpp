#include "common/host/checks/checks.h"
#include "common/host/checks/interfaces.h"
#include "common/host/checks/settings.h"

#include <fmt/format.h>

namespace fabricbench::host {
namespace {

/// Open MPI takes docker0 and virbr0 for networks; all hosts have one address there, so that ranks connect to
/// themselves. Source: open-mpi/ompi issue 6377.
void examine_bridges(Look& host) {
  const Settings mpi = mpi_settings(host);
  const auto has = [&](const std::string& name) {
    return find_setting(mpi, name + "_include") || find_setting(mpi, name + "_exclude");
  };
  const bool is_told = has("OMPI_MCA_btl_tcp_if") && has("OMPI_MCA_oob_tcp_if");
  for (const HostInterface& each : interfaces_of_host(host)) {
    if (is_told || !each.is_bridge_of_containers() || !each.obstacle().empty()) continue;
    host.report(
        {.level = CheckLevel::kWarning,
         .device = each.name,
         .measured = fmt::format("a bridge of containers is up, with the address {}", each.addresses.front()),
         .expected = "a setting that keeps MPI from it",
         .expected_by = "open-mpi/ompi issue 6377",
         .consequence = "where hosts have the same address there, Open MPI connects to the wrong host and hangs",
         .next = fmt::format("OMPI_MCA_btl_tcp_if_exclude=lo,{}, and the same for oob_tcp_if_exclude", each.name),
         .only_between_hosts = true});
  }
}

void examine_network_stack(Look& host) {
  host.attempt([&] { examine_bridges(host); });
  const auto disabled = host.text_if_any("/proc/sys/net/ipv6/conf/all/disable_ipv6");
  host.state({.key = "ipv6", .value = !disabled ? "not in the kernel" : *disabled == "0" ? "on" : "off"});
}

}  // namespace

Check network_stack_check() {
  return {.name = "network_stack",
          .what = "MPI is kept from bridges of containers, and IPv6 is on everywhere or nowhere.",
          .reads =
              "getifaddrs(3), OMPI_MCA_{btl,oob}_tcp_if_{include,exclude} and MPI's files, "
              "/proc/sys/net/ipv6/conf/all/disable_ipv6",
          .look = examine_network_stack,
          .compared = {{.key = "ipv6",
                        .title = "IPv6",
                        .consequence = "hosts announce addresses of IPv6 that others cannot use",
                        .next = "NCCL_SOCKET_FAMILY=AF_INET, or the same setting on all hosts"}}};
}

}  // namespace fabricbench::host
