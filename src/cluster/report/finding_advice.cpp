// Advice on a finding: which readings would settle it, and which commands tell more.

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>

#include <fmt/format.h>

#include "cluster/hosts/host_folding.h"
#include "cluster/hosts/host_list.h"
#include "cluster/report/finding_words.h"
#include "cluster/report/verdict_lists.h"
#include "common/core/error.h"
#include "common/core/plain_text.h"
#include "common/core/script_command.h"
#include "common/core/wording.h"

namespace fabricbench::cluster {
namespace {

/// Number of fine hosts in a command: all pairs with a suspect then tell the host from a path, at low cost.
constexpr std::size_t kMostPartners = 3;

/// The test with most readings.
std::string_view test_of(const Sweep& sweep) {
  if (sweep.kinds.empty()) return "";
  const std::string_view kind = sweep.kinds.front();
  return kind.substr(0, kind.find(' '));
}

/// Whether it is called as the kernel's drivers call RDMA devices.
bool is_rdma_device(std::string_view name) {
  constexpr auto kDrivers =
      std::to_array<std::string_view>({"mlx4_", "mlx5_", "bnxt_re", "irdma", "hfi1_", "qedr", "rdmap", "roce", "rxe",
                                       "siw", "erdma", "hns_", "ionic_", "ibp"});
  return std::any_of(kDrivers.begin(), kDrivers.end(),
                     [&](std::string_view driver) { return name.starts_with(driver); });
}

/// Whether any reading is known to have used InfiniBand or RoCE, by the names of tests, rails and NICs.
bool used_rdma(const Sweep& sweep) {
  const std::string_view test = test_of(sweep);
  if (test.starts_with("rdma_") || test.starts_with("tcp_")) return test.starts_with("rdma_");
  return std::any_of(sweep.rails.begin(), sweep.rails.end(), is_rdma_device) ||
         std::any_of(sweep.devices.begin(), sweep.devices.end(), [](const Device& device) {
           return device.kind == DeviceKind::kNic && is_rdma_device(device.name);
         });
}

/// The options by which the sweep started its jobs.
std::string options_of_jobs(const HowStarted& how) {
  std::string options;
  const auto add = [&](std::string_view option, const std::string& value) {
    if (!value.empty()) options += fmt::format(" {} {}", option, shell_word(value));
  };
  add("--launcher", how.launcher);
  add("--agent", how.agent);
  add("--mpi-options", how.mpi_options);
  add("--programs", how.programs);
  return options;
}

/// The beginning of a command on a host.
std::string on_host(const Sweep& sweep, const std::string& host) {
  return fmt::format("{} {}", sweep.how.agent.empty() ? "ssh" : shell_word(sweep.how.agent), shell_word(host));
}

/// ` --test NAME`, where scripts/check_node_pair.sh knows it.
std::string test_option(const Sweep& sweep) {
  constexpr std::array<std::string_view, 9> kTests = {"pairwise_bw",  "send_recv_bibw", "send_recv_bw",
                                                      "tcp_bibw",     "tcp_bw",         "rdma_write_bw",
                                                      "rdma_read_bw", "rdma_send_bw",   "sendrecv_perf"};
  const std::string_view test = test_of(sweep);
  const bool known = std::find(kTests.begin(), kTests.end(), test) != kTests.end();
  return known ? fmt::format(" --test {}", test) : "";
}

/// Whether a text may be a device's name: commas separate devices, and a leading `-` begins an option.
bool is_device_name(const std::string& name) {
  return !name.empty() && name.find_first_of(", ") == std::string::npos && name.front() != '-' &&
         printable(name) == name;
}

/// The device or interface of a rail. Empty if the rail's name is a number, which is the index of a GPU or a rank, or
/// if it is no device name.
std::string device_of(const Sweep& sweep, const Finding& finding) {
  if (finding.rail < 0 || finding.other_rail >= 0) return "";
  const std::string& rail = sweep.rails[static_cast<std::size_t>(finding.rail)];
  const bool number =
      std::all_of(rail.begin(), rail.end(), [](char character) { return character >= '0' && character <= '9'; });
  return number || !is_device_name(rail) ? "" : rail;
}

std::string host_of(const Sweep& sweep, std::int32_t host) { return sweep.hosts[static_cast<std::size_t>(host)]; }

/// A host's name without the user.
std::string without_user(const std::string& host) { return host.substr(host.find('@') + 1); }

/// ` OPTION DEVICE`, or nothing without a device.
std::string device_option(std::string_view option, const std::string& device) {
  return device.empty() ? "" : fmt::format(" {}{}", option, shell_word(device));
}

/// Quotes a command for ssh, where a second shell reads it.
std::string remote_word(const std::string& word) { return shell_word(shell_word(word)); }

/// Whether programs accept a name as this host and nothing else: host lists take it, and it is no option.
bool is_host_name(const std::string& name) {
  try {
    HostList list;
    list.add_list(name, "");
    return list.names() == std::vector<std::string>{name};
  } catch (const UsageError&) {
    return false;
  }
}

/// At most as many hosts as commands take.
std::vector<std::string> first_that_can_be_named(std::span<const std::string> hosts) {
  std::vector<std::string> named;
  std::copy_if(hosts.begin(), hosts.end(), std::back_inserter(named),
               [&](const std::string& host) { return named.size() < kMostPartners && is_host_name(host); });
  return named;
}

/// Commands that measure again, with other hosts. Empty: there is no other host.
std::vector<NextCommand> sweep_again(const Sweep& sweep, const Finding& finding, std::span<const std::string> fine) {
  std::vector<std::string> hosts(fine.begin(), fine.end());
  for (const std::int32_t host : finding.hosts) hosts.push_back(host_of(sweep, host));
  if (hosts.size() < 2) return {};
  return {{fmt::format("{} -H {} --all-pairs --max-concurrent 1{}{}{}", script_command("sweep_pairs"),
                       shell_word(fold_hosts(hosts)), test_option(sweep),
                       device_option("--rails ", device_of(sweep, finding)), options_of_jobs(sweep.how)),
           fine.empty() ? "again, one pair at a time" : "again, one pair at a time, with healthy hosts"}};
}

NextCommand check_pair(const Sweep& sweep, const std::string& host, const std::string& other, const std::string& device,
                       std::string purpose) {
  return {fmt::format("{} {} {}{}{}{}", script_command("check_node_pair"), shell_word(host), shell_word(other),
                      test_option(sweep), device_option("--rail ", device), options_of_jobs(sweep.how)),
          std::move(purpose)};
}

/// Commands that show a host's ports.
void add_host_checks(std::vector<NextCommand>& commands, const Sweep& sweep, const std::string& host,
                     const std::string& device) {
  const std::string remote = device.empty() ? "" : " " + remote_word(device);
  if (used_rdma(sweep)) {
    commands.push_back(
        {fmt::format("{} ibstat{}", on_host(sweep, host), remote), "state and rate of its InfiniBand or RoCE ports"});
    commands.push_back(
        {fmt::format("ibqueryerrors --report-port --ca | grep -F -w -A 8 {}", shell_word(without_user(host))),
         "error counters of its InfiniBand ports"});
  }
  if (!test_of(sweep).starts_with("rdma_")) {
    commands.push_back({fmt::format("{} ip -s -s link{}", on_host(sweep, host), device.empty() ? "" : " show" + remote),
                        "state and error counters of its network interfaces"});
  }
}

void add_switch_checks(std::vector<NextCommand>& commands, const Sweep& sweep) {
  if (!used_rdma(sweep)) return;
  commands.push_back(
      {"iblinkinfo --switches-only", "InfiniBand: links between switches that are down, narrow or slow"});
  commands.push_back({"ibqueryerrors --switch", "InfiniBand: error counters of the switches' ports"});
}

/// The device's name on its host; empty: no command takes it.
std::string device_there(const Device& device) {
  const bool by_id = device.kind == DeviceKind::kGpu && device.id.find('/') == std::string::npos;
  const std::string& name = by_id ? device.id : device.name;
  return is_device_name(name) ? name : "";
}

/// Commands on devices, for a host that used them.
void add_device_checks(std::vector<NextCommand>& commands, const Sweep& sweep, const Finding& finding) {
  const std::string host = host_of(sweep, finding.hosts.at(0));
  for (const std::int32_t place : finding.devices) {
    const Device& device = sweep.devices[static_cast<std::size_t>(place)];
    const std::string name = device_there(device);
    switch (device.kind) {
      case DeviceKind::kGpu:
        if (name.empty()) break;
        commands.push_back({fmt::format("{} nvidia-smi -q -i {}", on_host(sweep, host), remote_word(name)),
                            "PCIe link, errors and clocks of this GPU, if the host still has it"});
        break;
      case DeviceKind::kNic: add_host_checks(commands, sweep, host, name); break;
      case DeviceKind::kSwitchPort: add_switch_checks(commands, sweep); break;
    }
  }
}

}  // namespace

std::string open_follow_up(const Sweep& sweep, const Verdict& verdict, const Finding& finding) {
  if (finding.blame == Blame::kDevice) return "";  // its hosts are fine
  for (const FollowUp& follow_up : verdict.follow_ups) {
    const auto names = [&](std::int32_t host) {
      return std::find(finding.hosts.begin(), finding.hosts.end(), host) != finding.hosts.end();
    };
    if (!names(follow_up.host) || (follow_up.other >= 0 && !names(follow_up.other))) continue;
    const std::string partner = follow_up.other < 0 ? "healthy hosts" : host_name(sweep, follow_up.other);
    return fmt::format("{} of {} with {} ({})", counted(follow_up.readings, "more reading"),
                       host_name(sweep, follow_up.host), partner, printable(follow_up.why));
  }
  if (finding.blame != Blame::kUndecided) return "";
  return finding.hosts.size() == 1 ? "readings of this host with healthy hosts"
                                   : "readings of each of these hosts with healthy hosts, and with each other again";
}

std::vector<NextCommand> next_commands(const Sweep& sweep, const Verdict& verdict, const Finding& finding,
                                       std::span<const std::string> candidates) {
  const auto can_be_named = [&](std::int32_t host) { return is_host_name(host_of(sweep, host)); };
  if (!std::all_of(finding.hosts.begin(), finding.hosts.end(), can_be_named)) return {};
  const std::vector<std::string> fine = first_that_can_be_named(candidates);
  const std::string host = finding.hosts.empty() ? "" : host_of(sweep, finding.hosts[0]);
  const std::string device = device_of(sweep, finding);
  const int next = kind_of(sweep, verdict, finding).next;
  std::vector<NextCommand> commands;
  if ((next & kUptime) != 0)
    commands.push_back({fmt::format("{} uptime", on_host(sweep, host)), "whether it answers at all"});
  if ((next & kSweepAgain) != 0) commands = sweep_again(sweep, finding, fine);
  if ((next & kPairAgain) != 0)
    commands.push_back(check_pair(sweep, host, host_of(sweep, finding.hosts.at(1)), device, "this pair again"));
  if ((next & kWithHealthy) != 0 && !fine.empty())
    commands.push_back(check_pair(sweep, host, fine.front(), "", "again, with a healthy host"));
  if ((next & kHostPorts) != 0) add_host_checks(commands, sweep, host, device);
  if ((next & kDevices) != 0) add_device_checks(commands, sweep, finding);
  if ((next & kSwitches) != 0) add_switch_checks(commands, sweep);
  if ((next & kPing) != 0) {
    const std::string other = remote_word(without_user(host_of(sweep, finding.hosts.at(1))));
    commands.push_back(
        {fmt::format("{} ping -c 3 {}", on_host(sweep, host), other), "whether one host reaches the other at all"});
  }
  return commands;
}

}  // namespace fabricbench::cluster
