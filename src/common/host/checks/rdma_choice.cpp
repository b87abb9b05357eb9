#include "common/host/checks/checks.h"
#include "common/host/checks/devices.h"
#include "common/host/checks/settings.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace fabricbench::host {
namespace {

std::optional<std::string> no_rdma_choice(Look& host) {
  const Settings nccl = nccl_settings(host);
  if (find_setting(nccl, "NCCL_IB_HCA") || find_setting(nccl, "NCCL_IB_DISABLE")) return std::nullopt;
  return "no variable that chooses RDMA devices of NCCL";
}

void tell_rdma_choice(Look& host, CheckLevel level, const std::string& variable, const Setting& setting,
                      const std::string& what, const std::string& consequence) {
  host.report({.level = level,
               .measured = fmt::format("{}={}: {}", variable, setting.value, what),
               .expected = "names of RDMA devices that this host has",
               .expected_by = setting.origin,
               .consequence = consequence,
               .next = "ls /sys/class/infiniband; '=' before the list wants whole names"});
}

/// A name without `=` also selects those that begin with it, as mlx5_1 does mlx5_10.
void examine_prefixes(Look& host, const Setting& setting, const NameList& list,
                      const std::vector<std::string>& devices) {
  for (const ListedName& listed : list.names) {
    if (list.is_exact || std::find(devices.begin(), devices.end(), listed.name) == devices.end()) continue;
    std::vector<std::string> others;
    for (const std::string& device : devices) {
      const bool is_listed = std::any_of(list.names.begin(), list.names.end(),
                                         [&](const ListedName& each) { return each.name == device; });
      if (device.starts_with(listed.name) && !is_listed) others.push_back(device);
    }
    if (others.empty()) continue;
    tell_rdma_choice(host, CheckLevel::kWarning, "NCCL_IB_HCA", setting,
                     fmt::format("{} also selects {}", listed.name, fmt::join(others, ", ")),
                     "NCCL uses other adapters than were meant");
  }
}

void examine_nccl_devices(Look& host, const Setting& setting, const std::vector<std::string>& devices) {
  const NameList list = NameList::of(setting.value);
  std::vector<std::string> selected;
  for (const std::string& device : devices) {
    if (list.selects(device)) selected.push_back(device);
  }
  if (selected.empty()) {
    return tell_rdma_choice(host, CheckLevel::kFailure, "NCCL_IB_HCA", setting, "it selects no device",
                            "NCCL falls back to sockets without a word");
  }
  for (const ListedName& listed : list.names) {
    const auto is_it = [&](const std::string& device) {
      return list.matches(listed, device) && has_port(host, device, listed.port);
    };
    if (list.excludes || std::any_of(devices.begin(), devices.end(), is_it)) continue;
    tell_rdma_choice(host, CheckLevel::kFailure, "NCCL_IB_HCA", setting,
                     fmt::format("there is no {}{}{}", listed.name, listed.port.empty() ? "" : ":", listed.port),
                     "NCCL leaves this rail out");
  }
  if (!list.excludes) examine_prefixes(host, setting, list, devices);
}

void examine_rdma_choice(Look& host) {
  const std::vector<std::string> devices = rdma_devices(host);
  const Settings nccl = nccl_settings(host);
  const auto disabled = find_setting(nccl, "NCCL_IB_DISABLE");
  if (disabled && disabled->value != "0" && !devices.empty()) {
    tell_rdma_choice(host, CheckLevel::kWarning, "NCCL_IB_DISABLE", *disabled,
                     fmt::format("{} RDMA devices are not used", devices.size()), "NCCL uses sockets, which are slow");
  }
  if (const auto setting = find_setting(nccl, "NCCL_IB_HCA")) examine_nccl_devices(host, *setting, devices);
}

}  // namespace

Check rdma_choice_check() {
  return {.name = "rdma_choice",
          .what = "RDMA devices that NCCL_IB_HCA names are there, and no others are selected with them.",
          .reads = "NCCL_IB_HCA, NCCL_IB_DISABLE and the files of NCCL, /sys/class/infiniband/*/ports",
          .absent = no_rdma_choice,
          .look = examine_rdma_choice};
}

}  // namespace fabricbench::host
