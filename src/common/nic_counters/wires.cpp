#include "common/nic_counters/wires.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "common/nic_counters/names.h"

namespace fabricbench {
namespace {

using host::WireKind;

/// Both ways.
template <typename Counts>
Bytes bytes_of(const Counts& counts) {
  return counts.tx_bytes + counts.rx_bytes;
}

/// Whether the bytes of such a wire left the host, and are counted nowhere else.
bool counts(WireKind kind) { return kind == WireKind::kInterface || kind == WireKind::kRdma; }

double ratio(Bytes part, Bytes whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// The wires of `wires` that `wanted` holds for, or all where it holds for none.
template <typename Predicate>
std::vector<WireShare> preferring(const std::vector<WireShare>& wires, const Predicate& wanted) {
  std::vector<WireShare> found;
  std::copy_if(wires.begin(), wires.end(), std::back_inserter(found), wanted);
  return found.empty() ? wires : found;
}

/// Fills in the rails of shares that are sorted.
void find_rails(const HostWires& host, HostShares& shares) {
  std::set<std::string> asked;
  for (const AskedWires& request : host.asked) asked.insert(request.names.begin(), request.names.end());
  std::vector<WireShare> rails = shares.wires;
  std::erase_if(rails, [](const WireShare& wire) { return wire.share < kLeastWireShare; });
  rails = preferring(rails, [](const WireShare& wire) { return wire.kind == WireKind::kRdma; });
  rails = preferring(rails, [&](const WireShare& wire) { return asked.count(wire.name) == 1; });
  if (rails.size() < 2) return;
  Bytes sum = 0;
  for (const WireShare& rail : rails) {
    shares.rails.push_back(rail.name);
    sum += bytes_of(rail);
  }
  const double mean = static_cast<double>(sum) / static_cast<double>(rails.size());
  shares.imbalance = static_cast<double>(bytes_of(rails.front()) - bytes_of(rails.back())) / mean;
}

enum class Verdict { kNotJudged, kCarried, kUnknown, kElsewhere };

struct Judgement {
  Verdict verdict = Verdict::kNotJudged;
  Bytes judged_bytes = 0;  ///< what the variable could have decided about
  double share = 0;        ///< of those, what the wires asked for carried
  std::string other;       ///< the wire that carried most of the rest
  double other_share = 0;
};

/// wire_warnings() says what is judged and what is not.
Judgement judge(const HostWires& host, const AskedWires& asked, Bytes least_bytes) {
  Judgement judgement;
  Bytes all = 0;
  Bytes carried = 0;
  Bytes most = 0;
  for (const host::WireCounter& wire : host.wires) {
    if (!counts(wire.kind)) continue;
    const bool wanted = contains(asked.names, wire.name);
    all += bytes_of(wire);
    if (wanted) carried += bytes_of(wire);
    if (!wanted && asked.scope == AskedScope::kSockets && wire.kind == WireKind::kRdma) continue;
    judgement.judged_bytes += bytes_of(wire);
    if (!wanted && bytes_of(wire) > most) {
      most = bytes_of(wire);
      judgement.other = wire.name;
    }
  }
  const Bytes judged = judgement.judged_bytes;
  judgement.share = ratio(carried, judged);
  judgement.other_share = ratio(most, judged);
  if (judged == 0 || judged < least_bytes || judged < all - judged) return judgement;
  const bool all_known = std::all_of(asked.names.begin(), asked.names.end(), [&](const std::string& name) {
    return std::any_of(host.wires.begin(), host.wires.end(), [&](const auto& wire) { return wire.name == name; });
  });
  judgement.verdict = judgement.share >= kLeastCarriedShare ? Verdict::kCarried
                      : all_known                           ? Verdict::kElsewhere
                                                            : Verdict::kUnknown;
  return judgement;
}

// ---- What is said about it ----

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

/// Hosts whose bytes went by the same wires.
using Group = std::vector<const HostShares*>;

/// The least and the most of something over a group.
template <typename Text, typename Value>
std::string span_over(const Group& group, const Text& text, const Value& value) {
  const auto [least, most] = std::minmax_element(
      group.begin(), group.end(), [&](const HostShares* a, const HostShares* b) { return value(*a) < value(*b); });
  const std::string low = text(value(**least));
  const std::string high = text(value(**most));
  return low == high ? low : low + " to " + high;
}

double share_of(const HostShares& shares, const std::string& name) {
  const auto wire =
      std::find_if(shares.wires.begin(), shares.wires.end(), [&](const auto& w) { return w.name == name; });
  return wire == shares.wires.end() ? 0 : wire->share;
}

/// The wires worth a word, by name.
Names printed_wires(const HostShares& shares) {
  Names names;
  for (const WireShare& wire : shares.wires) {
    if (wire.share >= kLeastWireShare) names.push_back(wire.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string line_of(const Group& group) {
  const HostShares& first = *group.front();
  const std::string who = group.size() == 1 ? first.host : first.host + " and " + more_hosts(group.size() - 1);
  if (first.wires.empty()) return fmt::format("Wires: {}: no counter can be read", who);
  if (bytes_of(first) == 0) return fmt::format("Wires: {}: nothing was carried", who);
  Names parts;
  for (const std::string& name : printed_wires(first)) {
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

/// In the order of the first host of each, and on many hosts the largest group first.
std::vector<Group> grouped(const std::vector<HostShares>& hosts) {
  const bool apart = hosts.size() <= kMostHostsApart;
  std::map<std::string, std::size_t> places;
  std::vector<Group> groups;
  for (const HostShares& host : hosts) {
    const bool moved = bytes_of(host) > 0;
    const std::string picture =
        fmt::format("{} {} {} {} {}", fmt::join(printed_wires(host), " "), host.rails.size(),
                    host.imbalance > kMostRailImbalance, moved || host.wires.empty(), apart ? groups.size() : 0);
    const auto [place, is_new] = places.emplace(picture, groups.size());
    if (is_new) groups.emplace_back();
    groups[place->second].push_back(&host);
  }
  if (!apart) {
    std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) { return a.size() > b.size(); });
  }
  return groups;
}

/// The hosts that one variable's verdict is the same for, the worst first.
struct Finding {
  const HostWires* host = nullptr;
  const AskedWires* asked = nullptr;
  Judgement judgement;
  std::size_t hosts = 0;
};

/// One finding for each variable, of the host where the wires asked for carried least.
std::map<std::string, Finding> find_verdict(const std::vector<HostWires>& hosts, Verdict verdict, Bytes least_bytes) {
  std::map<std::string, Finding> findings;
  if (hosts.size() < 2) return findings;
  for (const HostWires& host : hosts) {
    for (const AskedWires& asked : host.asked) {
      Judgement judgement = judge(host, asked, least_bytes);
      if (judgement.verdict != verdict) continue;
      Finding& finding = findings[asked.variable];
      const std::size_t count = finding.hosts + 1;
      if (count == 1 || judgement.share < finding.judgement.share) finding = {&host, &asked, std::move(judgement), 0};
      finding.hosts = count;
    }
  }
  return findings;
}

std::string advice(std::string_view variable) {
  if (variable.starts_with("NCCL_")) return "NCCL_DEBUG=INFO shows what NCCL chose";
  if (variable.starts_with("UCX_")) return "ucx_info -d lists devices; Open MPI reads it only where pml ucx is in use";
  if (variable.starts_with("--")) return "ip route get ADDRESS shows by which interface the kernel sends to a host";
  return "Open MPI reads it for that transport alone, and not where pml ucx is in use, which takes UCX_NET_DEVICES";
}

std::string asked_warning(const Finding& finding) {
  const auto& [host, asked, judgement, hosts] = finding;
  const std::string bytes = readable_bytes(judgement.judged_bytes) + " sent and received";
  const std::string value = asked->value.substr(0, kMostValueLength);
  std::string text = fmt::format("{}={}{} ", asked->variable, value, value == asked->value ? "" : "...");
  text += asked->names.empty() ? fmt::format("allows no device of {}", host->host)
                               : fmt::format("asks for {}, which carried {} % of the {} by {}", joined(asked->names),
                                             percent(judgement.share), bytes, host->host);
  text += fmt::format(", where {} carried {} %", judgement.other, percent(judgement.other_share));
  text += asked->names.empty() ? " of the " + bytes : "";
  text += hosts > 1 ? "; it is alike for " + more_hosts(hosts - 1) : "";
  return fmt::format("{}. Check the name and that its link is up; {}", text, advice(asked->variable));
}

std::string rails_warning(const HostShares& host, std::size_t hosts) {
  std::vector<const WireShare*> rails;
  for (const WireShare& wire : host.wires) {
    if (contains(host.rails, wire.name)) rails.push_back(&wire);
  }
  const WireShare& most = *rails.front();  // the largest share comes first
  const WireShare& least = *rails.back();
  std::string text = fmt::format(
      "the {} rails of {} carried unequal loads: {} {} and {} {}, {} % of their mean apart where {:.0f} % is allowed",
      rails.size(), host.host, most.name, readable_bytes(bytes_of(most)), least.name, readable_bytes(bytes_of(least)),
      percent(host.imbalance), kMostRailImbalance * 100);
  if (hosts > 1) text += fmt::format("; it is alike for {}", more_hosts(hosts - 1));
  return text +
         ". Compare link speed, error counters and the ranks near each; if they are no rails of one job, "
         "name those that are, in NCCL_IB_HCA, UCX_NET_DEVICES or OMPI_MCA_btl_tcp_if_include";
}

}  // namespace

HostShares wire_shares(const HostWires& host) {
  HostShares shares;
  shares.host = host.host;
  for (const host::WireCounter& wire : host.wires) {
    if (!counts(wire.kind)) continue;
    shares.wires.push_back({wire.name, wire.kind, wire.tx_bytes, wire.rx_bytes, 0});
    shares.tx_bytes += wire.tx_bytes;
    shares.rx_bytes += wire.rx_bytes;
  }
  for (WireShare& wire : shares.wires) {
    wire.share = ratio(bytes_of(wire), bytes_of(shares));
  }
  std::stable_sort(shares.wires.begin(), shares.wires.end(),
                   [](const WireShare& a, const WireShare& b) { return a.share > b.share; });
  find_rails(host, shares);
  return shares;
}

std::vector<std::string> wire_lines(const std::vector<HostWires>& hosts) {
  std::vector<HostShares> shares;
  shares.reserve(hosts.size());
  for (const HostWires& host : hosts) shares.push_back(wire_shares(host));
  std::vector<std::string> lines;
  std::size_t told = 0;
  for (const Group& group : grouped(shares)) {
    if (lines.size() == kMostWarnings) break;
    lines.push_back(line_of(group));
    told += group.size();
  }
  if (told < hosts.size()) lines.push_back(fmt::format("Wires: and {}", more_hosts(hosts.size() - told)));
  for (const auto& [variable, finding] : find_verdict(hosts, Verdict::kUnknown, kLeastHostBytes)) {
    const std::string others = finding.hosts > 1 ? " and " + more_hosts(finding.hosts - 1) : "";
    lines.push_back(fmt::format("Wires: {} asks for {}, not all of whose counters are known for {}{}", variable,
                                joined(finding.asked->names), finding.host->host, others));
  }
  return lines;
}

std::vector<std::string> wire_warnings(const std::vector<HostWires>& hosts, Bytes least_bytes) {
  std::vector<std::string> warnings;
  if (hosts.size() < 2) return warnings;
  std::size_t unequal = 0;
  HostShares worst;
  for (const HostWires& host : hosts) {
    HostShares shares = wire_shares(host);
    if (shares.imbalance <= kMostRailImbalance || bytes_of(shares) < least_bytes) continue;
    ++unequal;
    if (shares.imbalance > worst.imbalance) worst = std::move(shares);
  }
  if (unequal > 0) warnings.push_back(rails_warning(worst, unequal));
  for (const auto& [variable, finding] : find_verdict(hosts, Verdict::kElsewhere, least_bytes)) {
    warnings.push_back(asked_warning(finding));
  }
  return warnings;
}

}  // namespace fabricbench
