#include "common/host/checks/checks.h"
#include "common/host/checks/interfaces.h"
#include "common/host/checks/settings.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace fabricbench::host {
namespace {

struct Choice {
  std::string variable;
  Setting setting;
  bool is_of_nccl = false;  ///< else whole names, or subnets
};

/// Variables that are set. PyTorch's Gloo and TensorPipe have no files.
std::vector<Choice> interface_choices(Look& host) {
  std::vector<Choice> choices;
  const auto add = [&](const Settings& settings, const std::string& name) {
    if (auto setting = find_setting(settings, name)) choices.push_back({name, *setting, name.starts_with("NCCL")});
  };
  add(nccl_settings(host), "NCCL_SOCKET_IFNAME");
  const Settings mpi = mpi_settings(host);
  for (const char* name : {"OMPI_MCA_btl_tcp_if_include", "OMPI_MCA_oob_tcp_if_include"}) add(mpi, name);
  for (const char* name : {"GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME"}) add(environment_settings(host, name), name);
  return choices;
}

void tell_choice(Look& host, const Choice& choice, const HostInterface* interface, const std::string& what) {
  host.report({.level = CheckLevel::kFailure,
               .device = interface == nullptr ? "" : interface->name,
               .measured = fmt::format("{}={}: {}", choice.variable, choice.setting.value, what),
               .expected = "interfaces that are up and reach the other hosts",
               .expected_by = choice.setting.origin,
               .consequence = choice.is_of_nccl ? "NCCL finds no socket interface, or hangs at its start"
                                                : "the job does not start, or hangs at its start",
               .next = "ip -br addr; name an interface that all hosts have, or unset it",
               .only_between_hosts = interface != nullptr});
}

void examine_choice(Look& host, const Choice& choice, const std::vector<HostInterface>& interfaces) {
  NameList list = NameList::of(choice.setting.value);
  list.is_exact = list.is_exact || !choice.is_of_nccl;
  const auto matches = [&](const HostInterface& each, const ListedName& listed) {
    return choice.is_of_nccl ? list.matches(listed, each.name) : each.is_named_by(listed.name);
  };
  std::vector<std::string> used;
  bool has_told = false;
  for (const HostInterface& each : interfaces) {
    const bool is_listed = std::any_of(list.names.begin(), list.names.end(),
                                       [&](const ListedName& listed) { return matches(each, listed); });
    if (is_listed == list.excludes) continue;
    const std::string obstacle = each.obstacle();
    const std::string detour = obstacle.empty() ? each.detour() : "";
    const bool is_passed_over = choice.is_of_nccl && !list.is_exact;  // where it has no address
    if (obstacle.empty() && detour.empty()) used.push_back(each.name);
    if (detour.empty() && (obstacle.empty() || is_passed_over)) continue;
    tell_choice(host, choice, &each, fmt::format("it {}{}", obstacle, detour));
    has_told = true;
  }
  if (used.empty() && !has_told) tell_choice(host, choice, nullptr, "it selects no interface that could be used");
  for (const ListedName& listed : list.names) {
    const bool is_there = std::any_of(interfaces.begin(), interfaces.end(),
                                      [&](const HostInterface& each) { return matches(each, listed); });
    if (list.is_exact && !list.excludes && !used.empty() && !is_there)
      tell_choice(host, choice, nullptr, fmt::format("there is no {}", listed.name));
  }
  host.state({.key = "interfaces", .among = choice.variable, .value = fmt::format("{}", fmt::join(used, ","))});
}

void examine_socket_interfaces(Look& host) {
  const std::vector<HostInterface> interfaces = interfaces_of_host(host);
  for (const Choice& choice : interface_choices(host)) examine_choice(host, choice, interfaces);
}

std::optional<std::string> no_interface_choice(Look& host) {
  return interface_choices(host).empty() ? std::optional("no variable that names an interface") : std::nullopt;
}

}  // namespace

Check socket_interfaces_check() {
  return {.name = "socket_interfaces",
          .what = "Interfaces that variables name are there, are up, and have an address that other hosts can reach.",
          .reads =
              "NCCL_SOCKET_IFNAME, OMPI_MCA_{btl,oob}_tcp_if_include, GLOO_SOCKET_IFNAME, TP_SOCKET_IFNAME and "
              "the files of the libraries, getifaddrs(3)",
          .absent = no_interface_choice,
          .look = examine_socket_interfaces,
          .compared = {{.key = "interfaces",
                        .title = "interfaces chosen by variables",
                        .level = CheckLevel::kNote,
                        .consequence = "hosts may be in other networks than their peers",
                        .next = "compare ip -br addr"}}};
}

}  // namespace fabricbench::host
