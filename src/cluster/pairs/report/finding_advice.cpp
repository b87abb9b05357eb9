// The lines below the sentence on a finding: how bad it is, on what that rests, what would settle it, and which
// commands tell more.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/hosts/host_list.h"
#include "cluster/pairs/report/verdict_text.h"
#include "cluster/pairs/sets.h"
#include "common/core/error.h"
#include "common/core/plain_text.h"
#include "common/core/script_command.h"
#include "common/core/units.h"
#include "common/core/wording.h"

namespace fabricbench::cluster {
namespace {

/// The test with most readings.
std::string_view test_of(const Sweep& sweep) {
  const std::string_view kind = sweep.tests.empty() ? "" : std::string_view(sweep.tests.front());
  return kind.substr(0, kind.find(' '));
}

/// Whether it is called as the kernel's drivers call RDMA devices.
bool is_rdma_device(std::string_view name) {
  constexpr auto kDrivers =
      std::to_array<std::string_view>({"mlx4_", "mlx5_", "bnxt_re", "irdma", "hfi1_", "qedr", "rdmap", "roce", "rxe",
                                       "siw", "erdma", "hns_", "ionic_", "ibp"});
  return std::ranges::any_of(kDrivers, [&](std::string_view driver) { return name.starts_with(driver); });
}

/// Whether any reading is known to have used InfiniBand or RoCE, by the names of tests, rails and NICs.
bool used_rdma(const Sweep& sweep) {
  const std::string_view test = test_of(sweep);
  if (test.starts_with("rdma_") || test.starts_with("tcp_")) return test.starts_with("rdma_");
  return std::ranges::any_of(sweep.rails, is_rdma_device) ||
         std::ranges::any_of(sweep.devices, [](const Device& device) {
           return device.kind == DeviceKind::kNic && is_rdma_device(device.name);
         });
}

/// ` OPTION VALUE`, or nothing without a value.
std::string option(std::string_view name, const std::string& value) {
  return value.empty() ? "" : fmt::format(" {} {}", name, shell_word(value));
}

/// The test, where scripts/check_node_pair.sh knows it, and how the sweep started its jobs.
std::string options_of_jobs(const Sweep& sweep) {
  constexpr auto kTests =
      std::to_array<std::string_view>({"pairwise_bw", "send_recv_bibw", "send_recv_bw", "tcp_bibw", "tcp_bw",
                                       "rdma_write_bw", "rdma_read_bw", "rdma_send_bw", "sendrecv_perf"});
  const std::string test(test_of(sweep));
  const bool is_known = std::ranges::find(kTests, test) != kTests.end();
  return option("--test", is_known ? test : "") + option("--launcher", sweep.how.launcher) +
         option("--agent", sweep.how.agent) + option("--mpi-options", sweep.how.mpi_options) +
         option("--programs", sweep.how.programs);
}

/// A space and a word for ssh, where a second shell reads it; nothing if it is empty.
std::string remote_word(const std::string& word) { return word.empty() ? "" : " " + shell_word(shell_word(word)); }

/// The name if it may be a device's: commas separate devices, and a leading `-` begins an option. Else empty.
std::string device_name(const std::string& name) {
  const bool is_one =
      name.find_first_of(", ") == std::string::npos && !name.starts_with('-') && printable(name) == name;
  return is_one ? name : "";
}

/// The device or interface of a rail. Empty if the rail's name is a number: the index of a GPU or a rank.
std::string device_of(const Sweep& sweep, const Finding& finding) {
  if (finding.rail < 0 || finding.other_rail >= 0) return "";
  const std::string& rail = sweep.rails[at(finding.rail)];
  return rail.find_first_not_of("0123456789") == std::string::npos ? "" : device_name(rail);
}

/// A host's name without the user.
std::string without_user(const std::string& host) { return host.substr(host.find('@') + 1); }

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

/// The first hosts that programs accept: all pairs of three with a suspect tell the host from a path, at low cost.
std::vector<std::string> partners_of(std::span<const std::string> hosts) {
  constexpr std::size_t kMostPartners = 3;
  std::vector<std::string> named;
  std::ranges::copy_if(hosts, std::back_inserter(named),
                       [&](const std::string& host) { return named.size() < kMostPartners && is_host_name(host); });
  return named;
}

/// Commands on a finding, in their order.
struct Advice {
  const Sweep& sweep;
  const std::vector<std::string>& hosts;  ///< of the finding, one or more
  std::vector<NextCommand> commands{};

  void on_host(const std::string& command, std::string purpose) {
    const std::string agent = sweep.how.agent.empty() ? "ssh" : shell_word(sweep.how.agent);
    commands.push_back({fmt::format("{} {} {}", agent, shell_word(hosts[0]), command), std::move(purpose)});
  }

  /// Measures all pairs of the hosts and of healthy ones.
  void sweep_again(std::vector<std::string> healthy, const std::string& device) {
    std::string purpose =
        healthy.empty() ? "again, one pair at a time" : "again, one pair at a time, with healthy hosts";
    healthy.insert(healthy.end(), hosts.begin(), hosts.end());
    if (healthy.size() < 2) return;
    commands.push_back({fmt::format("{} -H {} --all-pairs --max-concurrent 1{}{}", script_command("sweep_pairs"),
                                    shell_word(fold_hosts(healthy)), option("--rails", device), options_of_jobs(sweep)),
                        std::move(purpose)});
  }

  void check_pair(const std::string& other, const std::string& device, std::string purpose) {
    commands.push_back({fmt::format("{} {} {}{}{}", script_command("check_node_pair"), shell_word(hosts[0]),
                                    shell_word(other), option("--rail", device), options_of_jobs(sweep)),
                        std::move(purpose)});
  }

  void check_ports(const std::string& device) {
    if (used_rdma(sweep)) {
      on_host("ibstat" + remote_word(device), "state and rate of its InfiniBand or RoCE ports");
      commands.push_back(
          {fmt::format("ibqueryerrors --report-port --ca | grep -F -w -A 8 {}", shell_word(without_user(hosts[0]))),
           "error counters of its InfiniBand ports"});
    }
    if (!test_of(sweep).starts_with("rdma_"))
      on_host("ip -s -s link" + (device.empty() ? "" : " show" + remote_word(device)),
              "state and error counters of its network interfaces");
  }

  void check_switches() {
    if (!used_rdma(sweep)) return;
    commands.push_back(
        {"iblinkinfo --switches-only", "InfiniBand: links between switches that are down, narrow or slow"});
    commands.push_back({"ibqueryerrors --switch", "InfiniBand: error counters of the switches' ports"});
  }

  void check_device(const Device& device) {
    const bool by_id = device.kind == DeviceKind::kGpu && device.id.find('/') == std::string::npos;
    const std::string name = device_name(by_id ? device.id : device.name);
    if (device.kind == DeviceKind::kNic) check_ports(name);
    if (device.kind == DeviceKind::kSwitchPort) check_switches();
    if (device.kind != DeviceKind::kGpu || name.empty()) return;
    on_host("nvidia-smi -q -i" + remote_word(name),
            "PCIe link, errors and clocks of this GPU, if the host still has it");
  }
};

}  // namespace

std::string extent(const Sweep& sweep, const Alike& alike) {
  constexpr std::size_t kMostNamed = 5;
  const Finding& worst = *alike.front();
  if (worst.blame == Blame::kWrongData)
    return fmt::format("{} of {} with wrong data", worst.slow, counted(worst.readings, "reading"));
  if (has_no_figure(worst))
    return worst.blame == Blame::kTransient ? "no figure in these meetings" : "no figure at all";
  std::string text = percent_text(worst.ratio);
  if (alike.size() == 1) {
    const auto [sends, receives] = worst.ratios;
    text =
        fmt::format("{} GB/s where {} are expected: {} of it", rate_text(worst.rate), rate_text(worst.expected), text);
    const bool differ = std::min(sends, receives) > 0 && std::abs(sends - receives) >= VerdictSettings().tolerance;
    return differ ? fmt::format("{}; {} sending, {} receiving", text, percent_text(sends), percent_text(receives))
                  : text;
  }
  const std::string lowest = fmt::format("{:.0f}", 100 * worst.ratio);
  const std::string highest = percent_text(alike.back()->ratio);
  if (text == highest) return text + " of the bandwidth expected";
  std::vector<std::string> each;
  for (const Finding* finding : alike) {
    const bool of_rail = finding->rail >= 0 && !differ_in_hosts(alike);
    each.push_back(fmt::format("{} {}", of_rail ? rails_text(sweep, {finding->rail}) : subject_of(sweep, {finding}),
                               percent_text(finding->ratio)));
  }
  return fmt::format("{} to {} of the bandwidth expected: {}", lowest, highest,
                     fmt::join(shortened(std::move(each), kMostNamed, "more"), ", "));
}

std::string evidence(const Finding& finding) {
  const bool of_meetings = finding.blame == Blame::kTransient && finding.hosts.size() == 1;
  std::string text = counted(finding.readings, of_meetings ? "meeting" : "reading");
  if (finding.hosts.empty() && finding.partners > 0) text += fmt::format(" of {}", counted(finding.partners, "host"));
  if (finding.hosts.size() == 1 || finding.blame == Blame::kDevice)
    text += fmt::format("{} {}", of_meetings ? ", slow ones with" : " with", counted(finding.partners, "partner"));
  if (has_no_figure(finding) && finding.failed == finding.readings) return text + ", none of them with a figure";
  if (finding.failed > 0) text += fmt::format(", {} without a figure", counted(finding.failed, "reading"));
  const bool is_slow_path = is_path(finding) && finding.blame != Blame::kWrongData && !has_no_figure(finding);
  if (!is_slow_path || finding.slow == 0) return text;
  return text + (finding.slow == finding.readings ? ", slow" : fmt::format(", {} of them slow", finding.slow));
}

std::string chance_in_words(double chance) {
  constexpr double kSmallest = 1e-6;
  if (chance > 0.5) return "not at all: sweeps of healthy hosts look like this as well";
  if (chance > 0.01)
    return fmt::format("{:.0f} of 100 sweeps of healthy hosts look like this", std::ceil(100 * chance));
  if (chance < kSmallest) return "cannot be chance";
  const double sweeps = std::pow(10, std::floor(-std::log10(chance) + 1e-9));
  return fmt::format("fewer than 1 of {} sweeps of healthy hosts look like this",
                     with_commas(static_cast<std::uint64_t>(std::llround(sweeps))));
}

std::string certainty(const Finding& finding) {
  if (finding.blame == Blame::kAll) return "it is compared with --expect, so no probability applies";
  if (finding.blame == Blame::kWrongData) return "data were compared, so no probability applies";
  std::string text = chance_in_words(finding.false_alarm);
  if (text.starts_with("cannot")) text += "; other causes can be";
  return finding.confirmed ? text + "; seen again when measured alone" : text;
}

std::string rate_text(double rate) {
  constexpr int kAnyWidth = 16;
  return readable(rate / 1e9, kAnyWidth);
}

std::string open_follow_up(const Sweep& sweep, const Verdict& verdict, const Finding& finding) {
  if (finding.blame == Blame::kDevice) return "";  // its hosts are fine
  const auto names = [&](std::int32_t host) {
    return host < 0 || std::ranges::find(finding.hosts, host) != finding.hosts.end();
  };
  for (const FollowUp& each : verdict.follow_ups) {
    if (!names(each.host) || !names(each.other)) continue;
    return fmt::format("{} of {} with {} ({})", counted(each.readings, "more reading"), host_name(sweep, each.host),
                       each.other < 0 ? "healthy hosts" : host_name(sweep, each.other), printable(each.why));
  }
  if (finding.blame != Blame::kUndecided) return "";
  return fmt::format("readings of {} with healthy hosts", hosts_text(sweep, finding.hosts));
}

std::vector<NextCommand> next_commands(const Sweep& sweep, const Verdict& verdict, const Finding& finding,
                                       std::span<const std::string> candidates) {
  const std::vector<std::string> hosts = sweep.names_of(finding.hosts);
  if (!std::ranges::all_of(hosts, is_host_name)) return {};
  const std::vector<std::string> fine = partners_of(candidates);
  const std::string device = device_of(sweep, finding);
  Advice advice{sweep, hosts};
  const auto is_next = [next = kind_of(sweep, verdict, finding).next](Next each) { return (next & each) != 0; };
  if (is_next(kUptime)) advice.on_host("uptime", "whether it answers at all");
  if (is_next(kSweepAgain)) advice.sweep_again(fine, device);
  if (is_next(kPairAgain)) advice.check_pair(hosts.at(1), device, "this pair again");
  if (is_next(kWithHealthy) && !fine.empty()) advice.check_pair(fine[0], "", "again, with a healthy host");
  if (is_next(kHostPorts)) advice.check_ports(device);
  for (const std::int32_t place : is_next(kDevices) ? finding.devices : std::vector<std::int32_t>())
    advice.check_device(sweep.devices[at(place)]);
  if (is_next(kSwitches)) advice.check_switches();
  if (is_next(kPing))
    advice.on_host("ping -c 3" + remote_word(without_user(hosts.at(1))), "whether one host reaches the other at all");
  return advice.commands;
}

}  // namespace fabricbench::cluster
