// What to do about a finding: what would settle it, and which commands say more.

#include <algorithm>
#include <array>
#include <cstddef>

#include <fmt/format.h>

#include "cluster/hosts/host_fold.h"
#include "cluster/report/device_words.h"
#include "cluster/report/finding_words.h"
#include "cluster/report/verdict_lists.h"

namespace fabricbench::cluster {
namespace {

/// So many hosts that are fine make all pairs with a suspect tell the host from a path, and cost no more than that.
constexpr std::size_t kMostPartners = 3;

/// What the sweep measured over, as far as the tests' names tell.
enum class Transport { kUnknown, kRdma, kTcp };

/// The test that most readings are of, or the only one.
std::string_view test_of(const Sweep& sweep) {
  if (sweep.kinds.empty()) return "";
  const std::string_view kind = sweep.kinds.front();
  return kind.substr(0, kind.find(' '));
}

Transport transport_of(const Sweep& sweep) {
  const std::string_view test = test_of(sweep);
  if (test.substr(0, 5) == "rdma_") return Transport::kRdma;
  return test.substr(0, 4) == "tcp_" ? Transport::kTcp : Transport::kUnknown;
}

/// ` --test NAME`, where scripts/check_node_pair.sh would take another one by itself.
std::string test_option(const Sweep& sweep) {
  constexpr std::array<std::string_view, 8> kTests = {"send_recv_bibw", "send_recv_bw",  "tcp_bibw",
                                                      "tcp_bw",         "rdma_write_bw", "rdma_read_bw",
                                                      "rdma_send_bw",   "sendrecv_perf"};
  const std::string_view test = test_of(sweep);
  const bool known = std::find(kTests.begin(), kTests.end(), test) != kTests.end();
  return known ? fmt::format(" --test {}", test) : "";
}

/// A rail that is named by a number is a GPU's or a rank's place; other names are of devices or interfaces.
std::string device_of(const Sweep& sweep, const Finding& finding) {
  if (finding.rail < 0) return "";
  const std::string& rail = sweep.rails[static_cast<std::size_t>(finding.rail)];
  const bool number =
      std::all_of(rail.begin(), rail.end(), [](char character) { return character >= '0' && character <= '9'; });
  return number ? "" : rail;
}

std::string host_of(const Sweep& sweep, std::int32_t host) { return sweep.hosts[static_cast<std::size_t>(host)]; }

/// In quotes where a shell would read the brackets.
std::string quoted(const std::string& list) {
  return list.find('[') == std::string::npos ? list : fmt::format("'{}'", list);
}

/// The first few hosts that are fine and not already among `hosts`.
std::vector<std::string> with_partners(std::vector<std::string> hosts, std::span<const std::string> fine) {
  const std::size_t most = hosts.size() + kMostPartners;
  for (const std::string& host : fine) {
    if (hosts.size() == most) break;
    if (std::find(hosts.begin(), hosts.end(), host) == hosts.end()) hosts.push_back(host);
  }
  return hosts;
}

NextCommand sweep_again(const Sweep& sweep, const Finding& finding, std::span<const std::string> fine) {
  std::vector<std::string> hosts;
  for (const std::int32_t host : finding.hosts) hosts.push_back(host_of(sweep, host));
  hosts = with_partners(std::move(hosts), fine);
  const std::string device = device_of(sweep, finding);
  const std::string rails = device.empty() ? "" : fmt::format(" --rails {}", device);
  return {fmt::format("scripts/sweep_pairs.sh -H {} --all-pairs --max-concurrent 1{}{}", quoted(fold_hosts(hosts)),
                      test_option(sweep), rails),
          "again, one pair at a time, with others that are fine"};
}

NextCommand pair_again(const Sweep& sweep, const Finding& finding) {
  const std::string device = device_of(sweep, finding);
  const std::string rail = device.empty() ? "" : fmt::format(" --rail {}", device);
  return {fmt::format("scripts/check_node_pair.sh {} {}{}{}", host_of(sweep, finding.hosts.at(0)),
                      host_of(sweep, finding.hosts.at(1)), test_option(sweep), rail),
          "this pair again"};
}

/// What a host says of its ports.
void add_host_checks(std::vector<NextCommand>& commands, const Sweep& sweep, const std::string& host,
                     const std::string& device) {
  const Transport transport = transport_of(sweep);
  if (transport != Transport::kTcp) {
    commands.push_back({fmt::format("ssh {} ibstat{}", host, device.empty() ? "" : " " + device),
                        "state and rate of its InfiniBand or RoCE ports"});
    commands.push_back({fmt::format("ibqueryerrors --report-port --ca | grep -A 8 '\"{}'", host),
                        "error counters of its InfiniBand ports"});
  }
  if (transport != Transport::kRdma) {
    commands.push_back({fmt::format("ssh {} ip -s -s link{}", host, device.empty() ? "" : " show " + device),
                        "state and error counters of its network interfaces"});
  }
}

void add_switch_checks(std::vector<NextCommand>& commands, const Sweep& sweep) {
  if (transport_of(sweep) == Transport::kTcp) return;
  commands.push_back(
      {"iblinkinfo --switches-only", "InfiniBand: links between switches that are down, or narrow or slow"});
  commands.push_back({"ibqueryerrors --switch", "InfiniBand: error counters of the switches' ports"});
}

/// Of devices on a host that had them.
void add_device_checks(std::vector<NextCommand>& commands, const Sweep& sweep, const Finding& finding) {
  const std::string host = host_of(sweep, finding.hosts.at(0));
  for (const std::int32_t place : finding.devices) {
    const Device& device = sweep.devices[static_cast<std::size_t>(place)];
    switch (device.kind) {
      case DeviceKind::kGpu:
        if (is_plain_word(device.id)) {
          commands.push_back({fmt::format("ssh {} nvidia-smi -q -i {}", host, device.id),
                              "PCIe link, errors and clocks of this GPU, where the host still has it"});
        }
        break;
      case DeviceKind::kNic:
        add_host_checks(commands, sweep, host, is_plain_word(device.name) ? device.name : "");
        break;
      case DeviceKind::kSwitchPort: add_switch_checks(commands, sweep); break;
    }
  }
}

}  // namespace

std::string open_question(const Sweep& sweep, const Verdict& verdict, const Finding& finding) {
  if (finding.blame == Blame::kDevice) return "";  // its hosts are fine
  for (const Question& question : verdict.questions) {
    const auto names = [&](std::int32_t host) {
      return std::find(finding.hosts.begin(), finding.hosts.end(), host) != finding.hosts.end();
    };
    if (!names(question.host) || (question.other >= 0 && !names(question.other))) continue;
    const std::string partner = question.other < 0 ? "others that are fine" : host_of(sweep, question.other);
    return fmt::format("{} of {} with {} ({})", counted(question.readings, "more reading"),
                       host_of(sweep, question.host), partner, question.why);
  }
  if (finding.blame != Blame::kUndecided) return "";
  return finding.hosts.size() == 1 ? "readings of it with hosts that are fine"
                                   : "readings of each of them with hosts that are fine, and with each other again";
}

std::vector<NextCommand> next_commands(const Sweep& sweep, const Finding& finding, std::span<const std::string> fine) {
  std::vector<NextCommand> commands;
  switch (finding.blame) {
    case Blame::kHost:
    case Blame::kNic:
    case Blame::kTransient:
      commands.push_back(sweep_again(sweep, finding, fine));
      add_host_checks(commands, sweep, host_of(sweep, finding.hosts.at(0)), device_of(sweep, finding));
      break;
    case Blame::kUndecided: commands.push_back(sweep_again(sweep, finding, fine)); break;
    case Blame::kPair:
      commands.push_back(pair_again(sweep, finding));
      add_switch_checks(commands, sweep);
      break;
    case Blame::kLeaf:
    case Blame::kLeafPair:
    case Blame::kRail:
    case Blame::kAll: add_switch_checks(commands, sweep); break;
    case Blame::kDevice: add_device_checks(commands, sweep, finding); break;
    case Blame::kDead:
      commands.push_back(
          {fmt::format("ssh {} uptime", host_of(sweep, finding.hosts.at(0))), "whether it answers at all"});
      if (!fine.empty()) {
        commands.push_back({fmt::format("scripts/check_node_pair.sh {} {}{}", host_of(sweep, finding.hosts.at(0)),
                                        fine.front(), test_option(sweep)),
                            "again, with a host that is fine"});
      }
      break;
    case Blame::kDeadPair:
      commands.push_back(pair_again(sweep, finding));
      commands.push_back(
          {fmt::format("ssh {} ping -c 3 {}", host_of(sweep, finding.hosts.at(0)), host_of(sweep, finding.hosts.at(1))),
           "whether one reaches the other at all"});
      break;
  }
  return commands;
}

}  // namespace fabricbench::cluster
