#include "common/host/checks/checks.h"

#include <fmt/format.h>

namespace fabricbench::host {
namespace {

bool is_loopback(const std::string& address) { return address.starts_with("127.") || address == "::1"; }

/// A name that leads to a loopback address, as Debian's 127.0.1.1, makes ranks announce an address that no other host
/// can reach.
void examine_host_name(Look& host) {
  const std::string name = host.text("system/host_name");
  if (name == "localhost" || name.starts_with("localhost.")) {
    host.report({.level = CheckLevel::kFailure,
                 .measured = fmt::format("the host calls itself {}", name),
                 .expected = "a name that no other host has",
                 .consequence = "NCCL and MPI take hosts of one name for one host, and hang",
                 .next = "hostnamectl set-hostname NAME",
                 .only_between_hosts = true});
    return;
  }
  const std::vector<std::string> addresses = host.lines("system/address/" + name);
  for (const std::string& address : addresses) {
    if (!is_loopback(address)) continue;
    host.report({.level = CheckLevel::kFailure,
                 .measured = fmt::format("its own name leads to {}", address),
                 .expected = "an address that other hosts reach",
                 .expected_by = "/etc/hosts and the name service",
                 .consequence = "ranks announce an address that leads every host to itself, and jobs hang",
                 .next = fmt::format("grep -n {} /etc/hosts; getent ahosts {}", address, name),
                 .only_between_hosts = true});
    return;
  }
}

}  // namespace

Check host_name_check() {
  return {.name = "host_name",
          .what = "A host's own name leads to an address that other hosts can reach.",
          .reads = "gethostname(2), getaddrinfo(3)",
          .look = examine_host_name};
}

}  // namespace fabricbench::host
