#include "cluster/preflight/reachability.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "cluster/hosts/host_list.h"
#include "common/core/wording.h"

namespace fabricbench::cluster {
namespace {

using host::CheckFinding;
using host::CheckLevel;

constexpr std::string_view kName = "reachability";
constexpr const char* kHangs = "MPI and NCCL hang where ranks of these hosts connect";

struct EndText {
  const char* what;  ///< `cannot be reached: ...`
  const char* next;
};

EndText text_of(ProbeEnd end) {
  switch (end) {
    case ProbeEnd::kRefused:
      return {"connections to it are refused", "nft list ruleset, and whether another host has its address"};
    case ProbeEnd::kNoRoute: return {"there is no way to it", "ip route get ADDRESS, and ip addr on both hosts"};
    case ProbeEnd::kOnlySmall:
      return {"one byte comes through, and messages of 64 KiB do not",
              "ping -M do -s 8972 ADDRESS: a switch or host on the way has a smaller MTU"};
    case ProbeEnd::kBroken: return {"connections to it break", "nft list ruleset; ip -s link for errors"};
    case ProbeEnd::kNoAnswer:
    case ProbeEnd::kAnswered:
    case ProbeEnd::kNotTried: break;
  }
  return {"there is no answer from it", "nft list ruleset on both hosts: MPI and NCCL take random ports"};
}

std::string folded_names(const std::vector<std::string>& names, const std::set<int>& hosts) {
  std::vector<std::string> chosen;
  chosen.reserve(hosts.size());
  for (const int number : hosts) chosen.push_back(names[static_cast<std::size_t>(number)]);
  return fold_hosts(chosen);
}

PreflightFinding make_finding(const std::vector<std::string>& names, const std::set<int>& hosts, CheckFinding what) {
  return {std::string(kName), folded_names(names, hosts), static_cast<std::int64_t>(hosts.size()), std::move(what)};
}

/// The probes over one interface that ended alike.
class Kind {
 public:
  explicit Kind(std::string interface, ProbeEnd end) : interface_(std::move(interface)), end_(end) {}
  void add(int from, int to) { pairs_.emplace(from, to); }

  /// Takes out what one host explains, the worst first, and names the rest as pairs. `least`: probes that failed of a
  /// host, from which on it is the host that is to blame.
  void judge(const std::vector<std::string>& names, std::size_t least, std::vector<PreflightFinding>& found) {
    std::set<int> unreachable;
    std::set<int> mute;
    while (true) {
      std::map<int, std::size_t> into;
      std::map<int, std::size_t> out_of;
      for (const auto& [from, to] : pairs_) {
        ++into[to];
        ++out_of[from];
      }
      const auto fewer = [](const auto& a, const auto& b) { return a.second < b.second; };
      const auto worst_in = std::max_element(into.begin(), into.end(), fewer);
      const auto worst_out = std::max_element(out_of.begin(), out_of.end(), fewer);
      if (worst_in == into.end() || std::max(worst_in->second, worst_out->second) < least) break;
      const bool is_in = worst_in->second >= worst_out->second;
      const int host = is_in ? worst_in->first : worst_out->first;
      (is_in ? unreachable : mute).insert(host);
      std::erase_if(pairs_, [&](const auto& pair) {
        return (is_in ? pair.second : pair.first) == host || (is_lost() && (is_in ? pair.first : pair.second) == host);
      });
    }
    const EndText text = text_of(end_);
    const auto tell = [&](const std::set<int>& hosts, const std::string& measured) {
      if (hosts.empty()) return;
      found.push_back(make_finding(names, hosts,
                                   {.level = CheckLevel::kFailure,
                                    .device = interface_,
                                    .measured = measured,
                                    .expected = "answers to and from every host",
                                    .consequence = kHangs,
                                    .next = text.next}));
    };
    tell(unreachable, fmt::format("most hosts cannot reach it: {}", text.what));
    tell(mute, fmt::format("it cannot reach most hosts: {}", text.what));
    std::map<int, std::set<int>> rest;
    for (const auto& [from, to] : pairs_) rest[to].insert(from);
    for (const auto& [to, from] : rest) {
      tell({to}, fmt::format("{} cannot reach it: {}", folded_names(names, from), text.what));
    }
  }

 private:
  /// Whether it may as well be the answer that got lost: then a host that is to blame is so in both directions.
  [[nodiscard]] bool is_lost() const { return end_ != ProbeEnd::kRefused && end_ != ProbeEnd::kNoRoute; }

  std::string interface_;
  ProbeEnd end_;
  std::set<std::pair<int, int>> pairs_;  // from, to
};

void find_duplicates(const std::vector<std::string>& names, const std::vector<std::vector<HostAddress>>& addresses,
                     std::vector<PreflightFinding>& found) {
  std::map<std::string, std::pair<std::set<int>, std::string>> owners;
  for (std::size_t host = 0; host < addresses.size(); ++host) {
    for (const HostAddress& each : addresses[host]) {
      auto& [hosts, interface] = owners[sockets::to_text(each.at.address)];
      hosts.insert(static_cast<int>(host));
      interface = each.interface;
    }
  }
  for (const auto& [address, owner] : owners) {
    if (owner.first.size() < 2) continue;
    found.push_back(make_finding(names, owner.first,
                                 {.level = CheckLevel::kFailure,
                                  .device = owner.second,
                                  .measured = fmt::format("{} hosts have the address {}", owner.first.size(), address),
                                  .expected = "an address of its own for each host",
                                  .consequence = "ranks connect to the wrong host, or to themselves, and hang",
                                  .next = "leave the interface out by NCCL_SOCKET_IFNAME and btl_tcp_if_exclude, or "
                                          "give it another address"}));
  }
}

/// Hosts without an address on an interface on which most others have one: it is down, or was never configured.
void find_missing(const std::vector<std::string>& names, const std::vector<std::vector<HostAddress>>& addresses,
                  std::vector<PreflightFinding>& found) {
  std::map<std::string, std::set<int>> owners;
  for (std::size_t host = 0; host < addresses.size(); ++host) {
    for (const HostAddress& each : addresses[host]) owners[each.interface].insert(static_cast<int>(host));
  }
  for (const auto& [interface, hosts] : owners) {
    if (hosts.size() == names.size() || 2 * hosts.size() <= names.size()) continue;
    std::set<int> without;
    for (int host = 0; host < static_cast<int>(names.size()); ++host) {
      if (hosts.count(host) == 0) without.insert(host);
    }
    found.push_back(make_finding(names, without,
                                 {.level = CheckLevel::kFailure,
                                  .device = interface,
                                  .measured = "it is not up with an address",
                                  .expected = fmt::format("as on {}", counted(hosts.size(), "host")),
                                  .expected_by = "the majority of hosts",
                                  .consequence = kHangs,
                                  .next = fmt::format("ip addr show {}; NCCL_SOCKET_IFNAME and btl_tcp_if_include "
                                                      "can leave it out",
                                                      interface)}));
  }
}

}  // namespace

std::vector<PreflightFinding> judge_reachability(const std::vector<std::string>& names,
                                                 const std::vector<std::vector<HostAddress>>& addresses,
                                                 const std::vector<Unreached>& unreached) {
  std::vector<PreflightFinding> found;
  find_duplicates(names, addresses, found);
  find_missing(names, addresses, found);
  std::map<std::pair<std::string, ProbeEnd>, Kind> kinds;
  for (const Unreached& each : unreached) {
    if (each.end == ProbeEnd::kNotTried) continue;
    kinds.try_emplace({each.interface, each.end}, each.interface, each.end).first->second.add(each.from, each.to);
  }
  // Of three hosts, a host that two do not reach; of two, nobody can tell.
  const std::size_t least = std::max<std::size_t>(2, names.size() / 2);
  for (auto& [key, kind] : kinds) kind.judge(names, least, found);
  return found;
}

std::vector<PreflightUnseen> untried_probes(const std::vector<std::string>& names,
                                            const std::vector<Unreached>& unreached) {
  std::set<int> hosts;
  for (const Unreached& each : unreached) {
    if (each.end == ProbeEnd::kNotTried) hosts.insert(each.from);
  }
  if (hosts.empty()) return {};
  return {{std::string(kName),
           folded_names(names, hosts),
           static_cast<std::int64_t>(hosts.size()),
           true,
           1,
           {"", "many probes were not answered, and no time was left for the others"}}};
}

}  // namespace fabricbench::cluster
