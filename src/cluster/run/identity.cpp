#include "cluster/run/identity.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/hosts/host_list.h"
#include "common/options/known_options.h"

namespace fabricbench::baseline {
namespace {

/// Variables that tell of the job, or of the installation, and not of how messages go.
constexpr std::array<std::string_view, 10> kOfJobs = {"SLURM_",
                                                      "PBS_",
                                                      "LSB_",
                                                      "OMPI_COMM_WORLD_SIZE",
                                                      "PMIX_MCA_",
                                                      "OMPI_MCA_plm_",
                                                      "OMPI_MCA_ras_",
                                                      "OMPI_MCA_rmaps_",
                                                      "OMPI_MCA_hwloc_",
                                                      "OMPI_MCA_shmem_RUNTIME_QUERY_hint"};
constexpr std::array<std::string_view, 2> kOfInstallation = {"LD_LIBRARY_PATH", "CUDA_HOME"};

bool is_of_job(std::string_view variable) {
  return std::any_of(kOfJobs.begin(), kOfJobs.end(), [&](auto prefix) { return variable.starts_with(prefix); }) ||
         std::find(kOfInstallation.begin(), kOfInstallation.end(), variable) != kOfInstallation.end();
}

void add(record::Texts& texts, std::string key, std::string value) {
  if (!value.empty()) texts.emplace_back(std::move(key), std::move(value));
}

/// Values with how often each occurs: `2 x A, 6 x B`.
std::string counted(const std::vector<std::string>& values) {
  std::map<std::string, int> counts;
  for (const std::string& value : values) ++counts[value];
  std::vector<std::string> words;
  words.reserve(counts.size());
  for (const auto& [value, count] : counts) words.push_back(count > 1 ? fmt::format("{} x {}", count, value) : value);
  return fmt::format("{}", fmt::join(words, ", "));
}

/// The hosts in the order of their first ranks, and the number of ranks of each.
struct RanksOfHosts {
  std::vector<std::string> hosts;
  std::map<std::string, int> ranks;
  bool one_after_the_other = true;  ///< whether each host's ranks follow each other
};

RanksOfHosts ranks_of_hosts(const Context& context) {
  RanksOfHosts found;
  std::string last;
  for (const RankFacts& rank : context.ranks) {
    if (found.ranks[rank.host]++ == 0) {
      found.hosts.push_back(rank.host);
    } else if (rank.host != last) {
      found.one_after_the_other = false;
    }
    last = rank.host;
  }
  return found;
}

void add_ranks(record::Texts& identity, const Context& context) {
  const RanksOfHosts found = ranks_of_hosts(context);
  std::vector<std::string> per_host;
  per_host.reserve(found.ranks.size());
  for (const auto& [host, ranks] : found.ranks) per_host.push_back(fmt::format("{} ranks", ranks));
  add(identity, "ranks", fmt::format("{}", context.ranks.size()));
  add(identity, "hosts", cluster::fold_hosts(found.hosts));
  add(identity, "ranks_per_host", counted(per_host));
  const bool in_order = std::is_sorted(found.hosts.begin(), found.hosts.end(), cluster::comes_before);
  add(identity, "order_of_ranks",
      !found.one_after_the_other ? "across hosts"
      : in_order                 ? "host by host"
                                 : fmt::format("host by host: {}", fmt::join(found.hosts, ",")));
  std::vector<std::string> bindings;
  bindings.reserve(context.ranks.size());
  for (const RankFacts& rank : context.ranks) bindings.push_back(fmt::format("processors {}", rank.binding));
  add(identity, "binding", counted(bindings));
}

/// The hosts below each of the lowest switches.
void add_places(record::Texts& identity, const Context& context) {
  std::map<std::string, std::vector<std::string>> below;
  for (const HostFacts& host : context.host_facts) below[host.switches].push_back(host.name);
  if (below.empty() || below.begin()->first.empty()) return;
  std::vector<std::string> words;
  words.reserve(below.size());
  for (const auto& [switches, hosts] : below)
    words.push_back(fmt::format("{}: {}", switches, cluster::fold_hosts(hosts)));
  add(identity, "switches", fmt::format("{}", fmt::join(words, "; ")));
}

void add_gpus(record::Texts& identity, const Context& context) {
  std::vector<std::string> models;
  std::set<std::string> drivers;
  for (const RankFacts& rank : context.ranks) {
    if (!rank.gpu) continue;
    models.push_back(rank.gpu->model);
    if (!rank.gpu->driver.empty()) drivers.insert(rank.gpu->driver);
  }
  add(identity, "gpus", counted(models));
  add(identity, "gpu_driver", fmt::format("{}", fmt::join(drivers, ", ")));
}

std::string words_of(const host::NetworkDevice& device) {
  std::string words = fmt::format("{} {}", device.kind, device.state);
  if (device.speed_mbit_per_s) words += fmt::format(" {} Mbit/s", *device.speed_mbit_per_s);
  if (device.mtu) words += fmt::format(" MTU {}", *device.mtu);
  if (!device.driver.empty()) words += ", " + device.driver;
  if (!device.firmware.empty()) words += ", firmware " + device.firmware;
  return words;
}

/// All RDMA ports, and the interfaces that carried data: the others serve containers, or are not used.
void add_network(record::Texts& identity, const Context& context, const UsedNics& used_nics) {
  std::vector<std::string> ports;
  std::vector<std::string> interfaces;
  std::vector<std::string> firmware;
  for (const HostFacts& host : context.host_facts) {
    for (host::NetworkDevice device : host.network_devices) {
      if (device.name.find(':') != std::string::npos) {
        ports.push_back(words_of(device));
      } else if (used_nics.contains(device.name)) {
        if (!device.firmware.empty()) firmware.push_back(std::exchange(device.firmware, ""));
        interfaces.push_back(words_of(device));
      }
    }
  }
  add(identity, "rdma_ports", counted(ports));
  add(identity, std::string(kInterfaces), counted(interfaces));
  add(identity, std::string(kInterfaceFirmware), counted(firmware));
}

template <typename Field>
std::string distinct(const Context& context, Field HostFacts::*field) {
  std::set<std::string> values;
  for (const HostFacts& host : context.host_facts) values.insert(host.*field);
  return fmt::format("{}", fmt::join(values, ", "));
}

}  // namespace

void count_bytes(const std::vector<NicBytes>& nics, DeviceBytes& bytes) {
  for (const NicBytes& nic : nics) {
    if (nic.name == "lo") continue;
    bytes[nic.host][nic.name] += static_cast<double>(nic.sent) + static_cast<double>(nic.received);
  }
}

UsedNics used_nics_on(const std::map<std::string, double>& devices) {
  constexpr double kLeastShare = 0.2;
  double most = 0;
  for (const auto& [name, moved] : devices) most = std::max(most, moved);
  UsedNics used_nics;
  for (const auto& [name, moved] : devices) {
    if (moved > 0 && moved >= kLeastShare * most) used_nics.insert(name);
  }
  return used_nics;
}

std::optional<UsedNics> used_nics_of(const DeviceBytes& bytes, double payload) {
  constexpr double kLeastPayload = 1 << 24;
  UsedNics used_nics;
  for (const auto& [host, devices] : bytes) used_nics.merge(used_nics_on(devices));
  if (used_nics.empty() || payload < kLeastPayload) return std::nullopt;
  return used_nics;
}

record::Texts identity_of(const Context& context, const DeviceBytes& bytes, double payload) {
  record::Texts identity;
  add(identity, "program", context.program);
  add(identity, "timing", std::string(name(context.options.timing)));
  add(identity, "backend", context.backend);
  add(identity, "library", context.library);
  const bool within_a_host = ranks_of_hosts(context).hosts.size() < 2;  // through memory, beside what others send
  const std::optional<UsedNics> used_nics = within_a_host ? std::nullopt : used_nics_of(bytes, payload);
  if (used_nics) add(identity, std::string(kCarriedBy), fmt::format("{}", fmt::join(*used_nics, ", ")));
  add_ranks(identity, context);
  add_places(identity, context);
  add(identity, "processors", distinct(context, &HostFacts::processor));
  add_gpus(identity, context);
  add_network(identity, context, used_nics.value_or(UsedNics()));
  for (const auto& [key, value] : context.option_values) {
    if (!is_comparable(key)) add(identity, "option " + key, value);
  }
  for (const auto& [variable, value] : context.environment) {
    if (!is_of_job(variable)) add(identity, "variable " + variable, value);
  }
  return identity;
}

record::Texts circumstances_of(const Context& context) {
  record::Texts circumstances;
  add(circumstances, "fabricbench", kVersion);
  add(circumstances, "kernel", distinct(context, &HostFacts::kernel));
  add(circumstances, "launcher", context.launcher);
  return circumstances;
}

std::string allocation_of(const Context& context) {
  for (const std::string_view job : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"}) {
    for (const auto& [variable, value] : context.environment) {
      if (variable == job) return fmt::format("{} {}", job, value);
    }
  }
  return {};
}

}  // namespace fabricbench::baseline
