#include "common/nic_counters/nic_shares.h"

#include <fnmatch.h>
#include <strings.h>

#include <cctype>
#include <functional>
#include <iterator>
#include <map>
#include <set>

#include <fmt/format.h>

namespace fabricbench {
namespace {

using host::NicKind;
using Environment = std::vector<std::pair<std::string, std::string>>;

Names split(std::string_view list) {
  Names entries;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (comma > 0) entries.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return entries;
}

std::string find_variable(const Environment& environment, std::string_view name) {
  for (const auto& [key, value] : environment) {
    if (key == name) return value;
  }
  return {};
}

/// Removes the sign from the beginning of a list. Returns whether it was there.
bool take_off(char sign, std::string_view& list) {
  const bool found = list.starts_with(sign);
  if (found) list.remove_prefix(1);
  return found;
}

/// Whether an MCA list such as `ob1`, `self,tcp` or `^ucx` selects a component. An unset list selects all.
bool selects(std::string_view list, std::string_view component) {
  if (list.empty()) return true;
  const bool exclude = take_off('^', list);
  return exclude != contains(split(list), component);
}

/// A list, and the meaning of its entries for one NIC.
struct Filter {
  Names entries;
  bool exclude = false;
  std::function<bool(const host::Nic&, const std::string& entry)> matches;

  [[nodiscard]] bool allows(const host::Nic& nic) const {
    return exclude !=
           std::any_of(entries.begin(), entries.end(), [&](const auto& entry) { return matches(nic, entry); });
  }
};

/// The device and the port of `mlx5_0:1`; an interface or a bare device has an empty port.
std::pair<std::string_view, std::string_view> split_port(std::string_view name) {
  const std::size_t colon = std::min(name.find(':'), name.size());
  return {name.substr(0, colon), name.substr(std::min(colon + 1, name.size()))};
}

/// Prefixes, or whole names after `=`; after `^`, all NICs but these. Each sign stands once, before the whole list.
Filter nccl_filter(std::string_view value) {
  const bool exclude = take_off('^', value);
  const bool whole = take_off('=', value);
  Filter filter{split(value), exclude, {}};
  filter.matches = [whole](const host::Nic& nic, const std::string& entry) {
    const auto [device, port] = split_port(nic.name);
    const auto [wanted, wanted_port] = split_port(entry);
    const bool named = whole ? device == wanted : device.starts_with(wanted);
    return !wanted.empty() && named && (wanted_port.empty() || port.empty() || port == wanted_port);
  };
  return filter;
}

/// Names with wildcards; after `^`, all NICs but these. A device of UCX has its port in its name.
Filter ucx_filter(std::string_view value) {
  const bool exclude = take_off('^', value);
  Filter filter{split(value), exclude, {}};
  filter.matches = [](const host::Nic& nic, const std::string& entry) {
    return entry == "all" || fnmatch(entry.c_str(), nic.name.c_str(), 0) == 0;
  };
  return filter;
}

/// Whole names of interfaces, and networks. As in Open MPI, an entry that does not begin with a letter is a network.
Filter tcp_filter(std::string_view value, bool exclude, const std::vector<host::InterfaceAddress>& addresses) {
  Filter filter{split(value), exclude, {}};
  filter.matches = [&addresses](const host::Nic& nic, const std::string& entry) {
    if (std::isalpha(static_cast<unsigned char>(entry.front())) != 0) return nic.name == entry;
    return contains(host::interfaces_in(entry, addresses), nic.name);
  };
  return filter;
}

/// A host, and the requests that have been found for it so far.
struct Asking {
  const Environment& environment;
  const std::vector<host::Nic>& nics;
  std::vector<RequestedNics> asked;
};

void ask(Asking& asking, const std::string& variable, RequestScope scope,
         const std::function<Filter(std::string_view)>& read) {
  const std::string value = find_variable(asking.environment, variable);
  if (value.empty()) return;
  const Filter filter = read(value);
  std::set<std::string> found;
  bool any = false;
  for (const host::Nic& nic : asking.nics) {
    const bool port = nic.kind == NicKind::kRdma;
    if ((scope == RequestScope::kSockets && port) || (scope == RequestScope::kRdma && !port)) continue;
    if (!filter.allows(nic)) continue;
    any = true;
    for (const std::string& name : host::bottom_nics(nic.name, asking.nics)) found.insert(name);
  }
  if (any && found.empty()) return;  // the loopback only
  asking.asked.push_back({variable, value, scope, {found.begin(), found.end()}});
}

void ask_nccl(Asking& asking) {
  const std::string net = find_variable(asking.environment, "NCCL_NET");
  const std::string disabled = find_variable(asking.environment, "NCCL_IB_DISABLE");
  const bool rdma = disabled.empty() || disabled == "0";
  if (rdma && (net.empty() || strcasecmp(net.c_str(), "IB") == 0)) {
    ask(asking, "NCCL_IB_HCA", RequestScope::kRdma, nccl_filter);
  }
  if (net.empty() || strcasecmp(net.c_str(), "Socket") == 0) {
    ask(asking, "NCCL_SOCKET_IFNAME", RequestScope::kSockets, nccl_filter);
  }
}

void ask_mpi(Asking& asking, const std::vector<host::InterfaceAddress>& addresses) {
  const std::string pml = find_variable(asking.environment, "OMPI_MCA_pml");
  const std::string btl = find_variable(asking.environment, "OMPI_MCA_btl");
  if (selects(pml, "ucx")) ask(asking, "UCX_NET_DEVICES", RequestScope::kAny, ucx_filter);
  if (!selects(pml, "ob1")) return;  // no other pml uses btls
  if (selects(btl, "openib")) {
    ask(asking, "OMPI_MCA_btl_openib_if_include", RequestScope::kRdma,
        [](std::string_view value) { return nccl_filter("=" + std::string(value)); });
  }
  if (!selects(btl, "tcp")) return;
  ask(asking, "OMPI_MCA_btl_tcp_if_include", RequestScope::kSockets,
      [&](std::string_view value) { return tcp_filter(value, false, addresses); });
  ask(asking, "OMPI_MCA_btl_tcp_if_exclude", RequestScope::kSockets,
      [&](std::string_view value) { return tcp_filter(value, true, addresses); });
}

using host::NicKind;

/// Sent and received bytes together.
template <typename Counts>
Bytes bytes_of(const Counts& counts) {
  return counts.tx_bytes + counts.rx_bytes;
}

/// Whether bytes of such a NIC have left the host and are not counted by another NIC too.
bool counts(NicKind kind) { return kind == NicKind::kInterface || kind == NicKind::kRdma; }

double ratio(Bytes part, Bytes whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// The NICs for which `wanted` holds, or all of them if it holds for none.
template <typename Predicate>
std::vector<NicShare> preferring(const std::vector<NicShare>& nics, const Predicate& wanted) {
  std::vector<NicShare> found;
  std::copy_if(nics.begin(), nics.end(), std::back_inserter(found), wanted);
  return found.empty() ? nics : found;
}

/// Fills in the rails of shares that are already sorted.
void find_rails(const HostNics& host, HostShares& shares) {
  std::set<std::string> asked;
  for (const RequestedNics& request : host.asked) asked.insert(request.names.begin(), request.names.end());
  std::vector<NicShare> rails = shares.nics;
  std::erase_if(rails, [](const NicShare& nic) { return nic.share < kLeastNicShare; });
  rails = preferring(rails, [](const NicShare& nic) { return nic.kind == NicKind::kRdma; });
  rails = preferring(rails, [&](const NicShare& nic) { return asked.count(nic.name) == 1; });
  if (rails.size() < 2) return;
  Bytes sum = 0;
  for (const NicShare& rail : rails) {
    shares.rails.push_back(rail.name);
    sum += bytes_of(rail);
  }
  const double mean = static_cast<double>(sum) / static_cast<double>(rails.size());
  shares.imbalance = static_cast<double>(bytes_of(rails.front()) - bytes_of(rails.back())) / mean;
}

enum class Outcome { kNotJudged, kCarried, kUnknown, kElsewhere };

struct Judgement {
  Outcome outcome = Outcome::kNotJudged;
  Bytes judged_bytes = 0;  ///< the bytes over which the variable has control
  double share = 0;        ///< the requested NICs' share of these
  std::string other;       ///< the NIC with the most of the other bytes
  double other_share = 0;
};

/// The comment on nic_warnings() has the rules.
Judgement judge(const HostNics& host, const RequestedNics& asked, Bytes least_bytes) {
  Judgement judgement;
  Bytes all = 0;
  Bytes carried = 0;
  Bytes most = 0;
  for (const host::NicCounter& nic : host.nics) {
    if (!counts(nic.kind)) continue;
    const bool wanted = contains(asked.names, nic.name);
    all += bytes_of(nic);
    if (wanted) carried += bytes_of(nic);
    if (!wanted && asked.scope == RequestScope::kSockets && nic.kind == NicKind::kRdma) continue;
    judgement.judged_bytes += bytes_of(nic);
    if (!wanted && bytes_of(nic) > most) {
      most = bytes_of(nic);
      judgement.other = nic.name;
    }
  }
  const Bytes judged = judgement.judged_bytes;
  judgement.share = ratio(carried, judged);
  judgement.other_share = ratio(most, judged);
  if (judged == 0 || judged < least_bytes || judged < all - judged) return judgement;
  const bool all_known = std::all_of(asked.names.begin(), asked.names.end(), [&](const std::string& name) {
    return std::any_of(host.nics.begin(), host.nics.end(), [&](const auto& nic) { return nic.name == name; });
  });
  judgement.outcome = judgement.share >= kLeastCarriedShare ? Outcome::kCarried
                      : all_known                           ? Outcome::kElsewhere
                                                            : Outcome::kUnknown;
  return judgement;
}

// ---- Messages ----

constexpr std::size_t kMostWarnings = 12;
constexpr std::size_t kMostHostsApart = 8;
constexpr std::size_t kMostNames = 16;
constexpr std::size_t kMostValueLength = 100;

std::string joined(const Names& parts) {
  const std::size_t shown = std::min(parts.size(), kMostNames);
  std::string text =
      fmt::format("{}", fmt::join(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  return parts.size() == shown ? text : fmt::format("{} and {} more", text, parts.size() - shown);
}

std::string more_hosts(std::size_t count) { return fmt::format("{} more host{}", count, count == 1 ? "" : "s"); }

std::string percent(double share) { return fmt::format("{:.1f}", share * 100); }

/// Hosts that used the same NICs.
using Group = std::vector<const HostShares*>;

/// The range of a figure over a group.
template <typename Text, typename Value>
std::string span_over(const Group& group, const Text& text, const Value& value) {
  const auto [least, most] = std::minmax_element(
      group.begin(), group.end(), [&](const HostShares* a, const HostShares* b) { return value(*a) < value(*b); });
  const std::string low = text(value(**least));
  const std::string high = text(value(**most));
  return low == high ? low : low + " to " + high;
}

double share_of(const HostShares& shares, const std::string& name) {
  const auto nic = std::find_if(shares.nics.begin(), shares.nics.end(), [&](const auto& w) { return w.name == name; });
  return nic == shares.nics.end() ? 0 : nic->share;
}

/// The names of the NICs to print.
Names printed_nics(const HostShares& shares) {
  Names names;
  for (const NicShare& nic : shares.nics) {
    if (nic.share >= kLeastNicShare) names.push_back(nic.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string line_of(const Group& group) {
  const HostShares& first = *group.front();
  const std::string who = group.size() == 1 ? first.host : first.host + " and " + more_hosts(group.size() - 1);
  if (first.nics.empty()) return fmt::format("Wires: {}: no counter can be read", who);
  if (bytes_of(first) == 0) return fmt::format("Wires: {}: nothing was carried", who);
  Names parts;
  for (const std::string& name : printed_nics(first)) {
    const auto share = [&](const HostShares& shares) { return share_of(shares, name); };
    parts.push_back(fmt::format("{} {} %", name, span_over(group, percent, share)));
  }
  std::string line = fmt::format("Wires: {}: {} of {} sent, {} received", who, joined(parts),
                                 span_over(group, readable_bytes, [](const HostShares& s) { return s.tx_bytes; }),
                                 span_over(group, readable_bytes, [](const HostShares& s) { return s.rx_bytes; }));
  if (first.rails.empty()) return line;
  return fmt::format("{}; {} rails, {} % apart", line, first.rails.size(),
                     span_over(group, percent, [](const HostShares& s) { return s.imbalance; }));
}

/// Groups in the order of their first hosts; of many hosts, the largest groups first.
std::vector<Group> grouped(const std::vector<HostShares>& hosts) {
  const bool apart = hosts.size() <= kMostHostsApart;
  std::map<std::string, std::size_t> places;
  std::vector<Group> groups;
  for (const HostShares& host : hosts) {
    const bool moved = bytes_of(host) > 0;
    const std::string picture =
        fmt::format("{} {} {} {} {}", fmt::join(printed_nics(host), " "), host.rails.size(),
                    host.imbalance > kMostRailImbalance, moved || host.nics.empty(), apart ? groups.size() : 0);
    const auto [place, is_new] = places.emplace(picture, groups.size());
    if (is_new) groups.emplace_back();
    groups[place->second].push_back(&host);
  }
  if (!apart) {
    std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) { return a.size() > b.size(); });
  }
  return groups;
}

/// The hosts with the same outcome on one variable, the worst first.
struct Deviation {
  const HostNics* host = nullptr;
  const RequestedNics* asked = nullptr;
  Judgement judgement;
  std::size_t hosts = 0;
};

/// One deviation per variable, about the host where the requested NICs carried the smallest share.
std::map<std::string, Deviation> find_deviations(const std::vector<HostNics>& hosts, Outcome outcome,
                                                 Bytes least_bytes) {
  std::map<std::string, Deviation> deviations;
  if (hosts.size() < 2) return deviations;
  for (const HostNics& host : hosts) {
    for (const RequestedNics& asked : host.asked) {
      Judgement judgement = judge(host, asked, least_bytes);
      if (judgement.outcome != outcome) continue;
      Deviation& deviation = deviations[asked.variable];
      const std::size_t count = deviation.hosts + 1;
      if (count == 1 || judgement.share < deviation.judgement.share)
        deviation = {&host, &asked, std::move(judgement), 0};
      deviation.hosts = count;
    }
  }
  return deviations;
}

std::string advice(std::string_view variable) {
  if (variable.starts_with("NCCL_")) return "NCCL_DEBUG=INFO shows what NCCL chose";
  if (variable.starts_with("UCX_")) return "ucx_info -d lists devices; Open MPI reads it only with pml ucx";
  if (variable.starts_with("--")) return "ip route get ADDRESS shows by which interface the kernel sends to a host";
  return "Open MPI reads it for that transport only; with pml ucx, set UCX_NET_DEVICES instead";
}

std::string asked_warning(const Deviation& deviation) {
  const auto& [host, asked, judgement, hosts] = deviation;
  const std::string bytes = readable_bytes(judgement.judged_bytes) + " sent and received";
  const std::string value = asked->value.substr(0, kMostValueLength);
  std::string text = fmt::format("{}={}{} ", asked->variable, value, value == asked->value ? "" : "...");
  text += asked->names.empty() ? fmt::format("allows no device of {}", host->host)
                               : fmt::format("asks for {}, which carried {} % of the {} by {}", joined(asked->names),
                                             percent(judgement.share), bytes, host->host);
  text += fmt::format(", where {} carried {} %", judgement.other, percent(judgement.other_share));
  text += asked->names.empty() ? " of the " + bytes : "";
  text += hosts > 1 ? "; the same holds for " + more_hosts(hosts - 1) : "";
  return fmt::format("{}. Check the name and that its link is up; {}", text, advice(asked->variable));
}

std::string rails_warning(const HostShares& host, std::size_t hosts) {
  std::vector<const NicShare*> rails;
  for (const NicShare& nic : host.nics) {
    if (contains(host.rails, nic.name)) rails.push_back(&nic);
  }
  const NicShare& most = *rails.front();  // the largest share comes first
  const NicShare& least = *rails.back();
  std::string text = fmt::format(
      "the {} rails of {} carried unequal loads: {} {} and {} {}, {} % of their mean apart; {:.0f} % is allowed",
      rails.size(), host.host, most.name, readable_bytes(bytes_of(most)), least.name, readable_bytes(bytes_of(least)),
      percent(host.imbalance), kMostRailImbalance * 100);
  if (hosts > 1) text += fmt::format("; the same holds for {}", more_hosts(hosts - 1));
  return text +
         ". Compare link speed, error counters and the ranks near each; if not all of them serve this job, name those "
         "that do in NCCL_IB_HCA, UCX_NET_DEVICES or OMPI_MCA_btl_tcp_if_include";
}

}  // namespace

std::vector<RequestedNics> requested_nics(std::string_view backend, const Environment& environment,
                                          const std::vector<host::Nic>& nics,
                                          const std::vector<host::InterfaceAddress>& addresses) {
  Asking asking{environment, nics, {}};
  if (backend == "nccl") ask_nccl(asking);
  if (backend == "mpi") ask_mpi(asking, addresses);
  return asking.asked;
}

std::vector<RequestedNics> requested_interface(const std::string& value, const std::string& name,
                                               const std::vector<host::Nic>& nics) {
  const std::string option = "--interface";
  const Environment given = {{option, value}};
  Asking asking{given, nics, {}};
  ask(asking, option, RequestScope::kSockets, [&](std::string_view) {
    return Filter{{name}, false, [](const host::Nic& nic, const std::string& entry) { return nic.name == entry; }};
  });
  return asking.asked;
}

HostShares nic_shares(const HostNics& host) {
  HostShares shares;
  shares.host = host.host;
  for (const host::NicCounter& nic : host.nics) {
    if (!counts(nic.kind)) continue;
    shares.nics.push_back({nic.name, nic.kind, nic.tx_bytes, nic.rx_bytes, 0});
    shares.tx_bytes += nic.tx_bytes;
    shares.rx_bytes += nic.rx_bytes;
  }
  for (NicShare& nic : shares.nics) {
    nic.share = ratio(bytes_of(nic), bytes_of(shares));
  }
  std::stable_sort(shares.nics.begin(), shares.nics.end(),
                   [](const NicShare& a, const NicShare& b) { return a.share > b.share; });
  find_rails(host, shares);
  return shares;
}

std::vector<std::string> nic_lines(const std::vector<HostNics>& hosts) {
  std::vector<HostShares> shares;
  shares.reserve(hosts.size());
  for (const HostNics& host : hosts) shares.push_back(nic_shares(host));
  std::vector<std::string> lines;
  std::size_t told = 0;
  for (const Group& group : grouped(shares)) {
    if (lines.size() == kMostWarnings) break;
    lines.push_back(line_of(group));
    told += group.size();
  }
  if (told < hosts.size()) lines.push_back(fmt::format("Wires: and {}", more_hosts(hosts.size() - told)));
  for (const auto& [variable, deviation] : find_deviations(hosts, Outcome::kUnknown, kLeastHostBytes)) {
    const std::string others = deviation.hosts > 1 ? " and " + more_hosts(deviation.hosts - 1) : "";
    lines.push_back(fmt::format("Wires: {} asks for {}; some of these counters are unknown for {}{}", variable,
                                joined(deviation.asked->names), deviation.host->host, others));
  }
  return lines;
}

std::vector<std::string> nic_warnings(const std::vector<HostNics>& hosts, Bytes least_bytes) {
  std::vector<std::string> warnings;
  if (hosts.size() < 2) return warnings;
  std::size_t unequal = 0;
  HostShares worst;
  for (const HostNics& host : hosts) {
    HostShares shares = nic_shares(host);
    if (shares.imbalance <= kMostRailImbalance || bytes_of(shares) < least_bytes) continue;
    ++unequal;
    if (shares.imbalance > worst.imbalance) worst = std::move(shares);
  }
  if (unequal > 0) warnings.push_back(rails_warning(worst, unequal));
  for (const auto& [variable, deviation] : find_deviations(hosts, Outcome::kElsewhere, least_bytes)) {
    warnings.push_back(asked_warning(deviation));
  }
  return warnings;
}

}  // namespace fabricbench
