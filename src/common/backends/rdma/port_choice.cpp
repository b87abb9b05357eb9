#include "common/backends/rdma/port_choice.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/core/error.h"
#include "common/core/wording.h"

namespace fabricbench {
namespace {

/// Such as `host b` and `hosts a, b`; at most a line.
std::string hosts_text(std::vector<std::string> hosts) {
  constexpr std::size_t kMost = 8;
  if (hosts.size() == 1) return "host " + hosts.front();
  const std::size_t all = hosts.size();
  hosts.resize(std::min(all, kMost));
  return fmt::format("hosts {}{}", fmt::join(hosts, ", "), all > kMost ? fmt::format(" and {} more", all - kMost) : "");
}

constexpr std::string_view kAll = "all";
constexpr std::string_view kRail = "rail";
constexpr std::string_view kAuto = "auto";

/// The ranks of a host that share one device.
using Participant = std::vector<int>;

/// A host with its participants in the order of their first ranks.
struct SeatedHost {
  const RankPorts* facts = nullptr;  // the host as its first rank sees it
  std::vector<Participant> participants;
  std::size_t ranks = 0;
};

const RankPorts& facts_of(const std::vector<RankPorts>& ranks, int rank) {
  return ranks[static_cast<std::size_t>(rank)];
}

/// The rank on the same host that shares a device with `rank`: its only partner, if that one has no other partner; else
/// `rank` itself.
int companion(const std::vector<RankPorts>& ranks, const std::map<int, std::set<int>>& partners, int rank) {
  const std::set<int>& own = partners.at(rank);
  const int other = *own.begin();
  const bool alone = own.size() == 1 && partners.at(other).size() == 1;
  return alone && facts_of(ranks, other).host_id == facts_of(ranks, rank).host_id ? other : rank;
}

/// The hosts in the order of their first ranks; ranks outside all pairs are left out.
std::vector<SeatedHost> self(const std::vector<RankPorts>& ranks, const std::vector<Pair>& pairs) {
  std::map<int, std::set<int>> partners;
  for (const auto& [first, second] : pairs) {
    partners[first].insert(second);
    partners[second].insert(first);
  }
  std::vector<SeatedHost> hosts;
  for (const auto& [rank, others] : partners) {
    const RankPorts& facts = facts_of(ranks, rank);
    auto host = std::find_if(hosts.begin(), hosts.end(),
                             [&](const SeatedHost& known) { return known.facts->host_id == facts.host_id; });
    if (host == hosts.end()) host = hosts.insert(host, {&facts, {}, 0});
    ++host->ranks;
    const int other = companion(ranks, partners, rank);
    if (other < rank) continue;  // `other` has already added both
    host->participants.push_back(other == rank ? Participant{rank} : Participant{rank, other});
  }
  return hosts;
}

std::string listed(const std::vector<std::string>& names) {
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

/// The number of ranks that a host needs for this many participants, each with as many ranks as its first one.
std::size_t ranks_for(const SeatedHost& host, std::size_t participants) {
  return host.participants.front().size() * participants;
}

[[noreturn]] void refuse_count(std::string_view rule, const SeatedHost& host, const std::vector<std::string>& devices) {
  const std::size_t needed = ranks_for(host, devices.size());
  const bool in_pairs = host.participants.front().size() > 1;
  const bool all = rule == kAll || rule == kRail;
  throw UsageError(fmt::format(
      "--devices {}: {} rank{} of host {} {} in pairs, and {} device{} ({}) need {}{}{}; start that many on each host, "
      "such as with mpirun --map-by ppr:{}:node{}",
      rule, host.ranks, host.ranks == 1 ? "" : "s", host.facts->host, host.ranks == 1 ? "is" : "are", devices.size(),
      devices.size() == 1 ? "" : "s", listed(devices), needed, in_pairs ? ", two for each" : "",
      all ? "" : " or a multiple of it", needed, all ? ", or name the devices to take" : ""));
}

class Choice {
 public:
  Choice(std::string_view rule, const std::vector<RankPorts>& ranks, const std::vector<Pair>& pairs)
      : rule_(rule), ranks_(ranks), pairs_(pairs), hosts_(self(ranks, pairs)) {
    choice_.ports.resize(ranks.size());
  }

  PortChoice take() {
    if (rule_ == kAll || rule_ == kRail) {
      take_all();
    } else if (rule_ == kAuto) {
      take_nearest();
    } else {
      take_listed();
    }
    if (rule_ == kRail) check_rails();
    return std::move(choice_);
  }

 private:
  void give(const Participant& self, const ChosenPort& port) {
    for (const int rank : self) choice_.ports[static_cast<std::size_t>(rank)] = port;
  }

  /// Whichever device a rank of this host opens, it learns why there is none.
  [[nodiscard]] static PortSeen any_device(const RankPorts& facts) {
    return {facts.devices.empty() ? std::string() : facts.devices.front(), 0};
  }

  void leave_out_unusable(const RankPorts& facts) {
    choice_.left_out.insert(choice_.left_out.end(), facts.unusable.begin(), facts.unusable.end());
  }

  [[nodiscard]] static std::vector<PortSeen> sorted(std::vector<PortSeen> ports) {
    std::sort(ports.begin(), ports.end(),
              [](const PortSeen& a, const PortSeen& b) { return naturally_before(a.device, b.device); });
    return ports;
  }

  /// Whether a port is like most active ones of the job, so that it is hardly a storage NIC.
  [[nodiscard]] bool is_usual(const PortSeen& port) {
    if (commonest_kind_.empty()) commonest_kind_ = commonest_kind();
    return !port.virtual_function && port.kind == commonest_kind_;
  }

  /// The ports without virtual functions, and, if these are still more than `wanted`, without unusual ones. Empty if
  /// that does not leave `wanted`.
  [[nodiscard]] std::vector<PortSeen> usual_ports(std::vector<PortSeen> ports, std::size_t wanted) {
    std::erase_if(ports, [](const PortSeen& port) { return port.virtual_function; });
    if (ports.size() > wanted) std::erase_if(ports, [&](const PortSeen& port) { return !is_usual(port); });
    return ports.size() == wanted ? ports : std::vector<PortSeen>();
  }

  /// The kind of most active ports of the job.
  [[nodiscard]] std::string commonest_kind() const {
    std::map<std::string, std::size_t> counts;
    for (const SeatedHost& host : hosts_) {
      for (const PortSeen& port : host.facts->active) counts[port.kind] += port.virtual_function ? 0 : 1;
    }
    return std::max_element(counts.begin(), counts.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
  }

  void leave_out_unusual(const RankPorts& facts, const std::vector<PortSeen>& kept) {
    for (const PortSeen& port : sorted(facts.active)) {
      if (std::any_of(kept.begin(), kept.end(), [&](const auto& each) { return each.device == port.device; })) continue;
      choice_.left_out.push_back({facts.host, port.device,
                                  port.virtual_function
                                      ? "it is a virtual function, and there are more devices than ranks"
                                      : fmt::format("it is {}, unlike most devices ({}), and there are more devices "
                                                    "than ranks",
                                                    port.kind, commonest_kind_)});
    }
  }

  /// Gives the participants of a host these devices, one each, and leaves out its other active ones.
  void give_all(const SeatedHost& host, const std::vector<PortSeen>& ports) {
    leave_out_unusual(*host.facts, ports);
    for (std::size_t k = 0; k < ports.size(); ++k) give(host.participants[k], {ports[k].device, ports[k].port});
  }

  /// Whether the host has an active device for each participant, perhaps after leaving out unusual ones; gives them.
  /// Not where an unusual one may stand in for one that is not active.
  [[nodiscard]] bool take_active(const SeatedHost& host) {
    const std::size_t wanted = host.participants.size();
    std::vector<PortSeen> ports = sorted(host.facts->active);
    if (ports.size() > wanted) ports = usual_ports(std::move(ports), wanted);
    if (ports.size() != wanted) return false;
    const bool all_usual = std::all_of(ports.begin(), ports.end(), [&](const auto& port) { return is_usual(port); });
    if (!all_usual && !host.facts->unusable.empty()) return false;
    give_all(host, ports);
    return true;
  }

  /// Gives the participants of another host the devices that other hosts use (`wanted`), active or not: a rail that is
  /// down, or slow, stays a rail. If these do not come out, its usual and inactive ones, or all that are active.
  void take_like_others(const SeatedHost& host, const std::set<std::string>& wanted) {
    const std::size_t participants = host.participants.size();
    const std::vector<PortSeen>& active = host.facts->active;
    if (active.empty()) {
      give_all(host, std::vector<PortSeen>(participants, any_device(*host.facts)));
      return;
    }
    std::vector<PortSeen> usual;
    for (const PortSeen& port : active) {
      if (is_usual(port) || wanted.count(port.device) > 0) usual.push_back(port);
    }
    std::vector<PortSeen> like_others = usual;
    for (const LeftOutDevice& unusable : host.facts->unusable) {
      usual.push_back({unusable.device, 0});
      if (wanted.count(unusable.device) > 0) like_others.push_back(usual.back());
    }
    for (const std::vector<PortSeen>* ports : {&std::as_const(like_others), &std::as_const(usual), &active}) {
      if (ports->size() == participants) return give_all(host, sorted(*ports));
    }
    std::vector<std::string> names;
    for (const PortSeen& port : sorted(active)) names.push_back(port.device);
    refuse_count(rule_, host, names);
  }

  void take_all() {
    std::set<std::string> taken;
    std::vector<const SeatedHost*> rest;
    for (const SeatedHost& host : hosts_) {
      leave_out_unusable(*host.facts);
      if (!take_active(host)) {
        rest.push_back(&host);
        continue;
      }
      for (const Participant& self : host.participants) {
        taken.insert(choice_.ports[static_cast<std::size_t>(self.front())].device);
      }
    }
    for (const SeatedHost* host : rest) take_like_others(*host, taken);
  }

  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (std::size_t begin = 0; begin <= rule_.size();) {
      const std::size_t end = std::min(rule_.find(',', begin), rule_.size());
      names.emplace_back(rule_.substr(begin, end - begin));
      if (names.back().empty()) {
        throw UsageError(fmt::format(
            "--devices '{}' has an empty name; write auto, all, rail, or names such as mlx5_0,mlx5_1", rule_));
      }
      begin = end + 1;
    }
    return names;
  }

  /// A name that no host has is a mistake; one that a host lacks is this host's trouble.
  void check_listed(const std::vector<std::string>& listed_names) const {
    for (const std::string& name : listed_names) {
      const bool known = std::any_of(hosts_.begin(), hosts_.end(), [&](const SeatedHost& host) {
        const std::vector<std::string>& devices = host.facts->devices;
        return std::find(devices.begin(), devices.end(), name) != devices.end();
      });
      if (known) continue;
      const RankPorts& first = *hosts_.front().facts;
      throw Error(ExitStatus::kMissing, fmt::format("--devices {}: no host has an RDMA device '{}'; those of {}: {}",
                                                    rule_, name, first.host, listed(first.devices)));
    }
  }

  void take_listed() {
    const std::vector<std::string> listed_names = names();
    check_listed(listed_names);
    for (const SeatedHost& host : hosts_) {
      if (host.participants.size() % listed_names.size() != 0) refuse_count(rule_, host, listed_names);
      for (std::size_t k = 0; k < host.participants.size(); ++k) {
        give(host.participants[k], {listed_names[k % listed_names.size()], 0});
      }
    }
  }

  void take_nearest() {
    std::vector<int> far;
    bool known = false;
    for (const SeatedHost& host : hosts_) {
      leave_out_unusable(*host.facts);
      std::map<std::string, int> users;
      for (const Participant& self : host.participants) {
        const std::vector<PortSeen> ports = sorted(facts_of(ranks_, self.front()).active);
        if (ports.empty()) {
          give(self, {any_device(facts_of(ranks_, self.front())).device, 0});
          continue;
        }
        const PortSeen& nearest = *std::min_element(ports.begin(), ports.end(), [&](const auto& a, const auto& b) {
          return a.distance != b.distance ? a.distance < b.distance : users[a.device] < users[b.device];
        });
        ++users[nearest.device];
        known = known || nearest.distance == PortDistance::kNear;
        if (nearest.distance != PortDistance::kNear) far.insert(far.end(), self.begin(), self.end());
        give(self, {nearest.device, nearest.port});
      }
    }
    if (!known) {
      choice_.notice =
          "Devices: no rank is bound to the NUMA node of a device, so the ranks of each host use the devices in turn";
    } else if (far.empty()) {
      choice_.notice = "Devices: each rank uses a device of its own NUMA node";
    } else {
      std::sort(far.begin(), far.end());
      choice_.notice = fmt::format("Devices: each rank uses a device of its own NUMA node; for rank{} {} none is known",
                                   far.size() == 1 ? "" : "s", fmt::join(far, ", "));
    }
  }

  /// Pairs with an inactive device cannot be measured anyway.
  void check_rails() const {
    for (std::size_t number = 0; number < pairs_.size(); ++number) {
      const auto [first, second] = pairs_[number];
      const auto& [one, port] = choice_.ports[static_cast<std::size_t>(first)];
      const auto& [other, other_port] = choice_.ports[static_cast<std::size_t>(second)];
      if (one == other || port == 0 || other_port == 0) continue;
      throw UsageError(
          fmt::format("--devices rail: pair {} would be between {} of rank {}, host {}, and {} of rank {}, host {}; "
                      "pair the k-th ranks of hosts whose devices have the same names, such as with --pairs hosts, or "
                      "write --devices all or a list",
                      number, one, first, facts_of(ranks_, first).host, other, second, facts_of(ranks_, second).host));
    }
  }

  std::string_view rule_;
  const std::vector<RankPorts>& ranks_;
  const std::vector<Pair>& pairs_;
  std::vector<SeatedHost> hosts_;
  std::string commonest_kind_;  // empty: not looked for yet
  PortChoice choice_;
};

/// Virtual functions are unusual beside active ports of adapters. Where they are all that is active, as in a container
/// that sees its host's adapters and cannot open them, they are what it has.
void take_functions_for_adapters(RankPorts& ports) {
  const auto is_function = [](const PortSeen& port) { return port.virtual_function; };
  if (!std::all_of(ports.active.begin(), ports.active.end(), is_function)) return;
  for (PortSeen& port : ports.active) port.virtual_function = false;
}

bool is_digit(char character) { return std::isdigit(static_cast<unsigned char>(character)) != 0; }

/// Removes the leading digits from `text`, and returns them without leading zeros.
std::string_view take_number(std::string_view& text) {
  std::size_t end = 0;
  while (end < text.size() && is_digit(text[end])) ++end;
  std::string_view digits = text.substr(0, end);
  text.remove_prefix(end);
  while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
  return digits;
}

}  // namespace

std::vector<std::string> left_out_notices(const std::vector<LeftOutDevice>& devices) {
  constexpr std::size_t kMostLines = 16;  // in the banner
  using Kind = std::pair<std::string, std::string>;
  std::vector<std::pair<Kind, std::vector<std::string>>> kinds;  // with the hosts of each
  for (const LeftOutDevice& each : devices) {
    const Kind kind(each.device, each.reason);
    auto found = std::find_if(kinds.begin(), kinds.end(), [&](const auto& known) { return known.first == kind; });
    if (found == kinds.end()) found = kinds.insert(found, {kind, {}});
    std::vector<std::string>& hosts = found->second;
    if (std::find(hosts.begin(), hosts.end(), each.host) == hosts.end()) hosts.push_back(each.host);
  }
  std::vector<std::string> lines;
  lines.reserve(kinds.size());
  for (auto& [kind, hosts] : kinds) {
    lines.push_back(
        fmt::format("Left out: {} of {}, because {}", kind.first, hosts_text(std::move(hosts)), kind.second));
  }
  return shortened(std::move(lines), kMostLines, "more devices that were left out");
}

PortChoice choose_ports(std::string_view rule, const std::vector<RankPorts>& ranks, const std::vector<Pair>& pairs) {
  std::vector<RankPorts> seen = ranks;
  for (RankPorts& rank : seen) take_functions_for_adapters(rank);
  return Choice(rule, seen, pairs).take();
}

bool naturally_before(std::string_view first, std::string_view second) {
  while (!first.empty() && !second.empty()) {
    if (is_digit(first.front()) && is_digit(second.front())) {
      const std::string_view one = take_number(first);
      const std::string_view other = take_number(second);
      if (one != other) return one.size() != other.size() ? one.size() < other.size() : one < other;
      continue;
    }
    if (first.front() != second.front()) return first.front() < second.front();
    first.remove_prefix(1);
    second.remove_prefix(1);
  }
  return first.size() < second.size();
}

}  // namespace fabricbench
