#include "cluster/report/finding_words.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/report/device_words.h"
#include "cluster/report/names.h"
#include "cluster/report/verdict_lists.h"
#include "common/core/plain_text.h"
#include "common/core/units.h"
#include "common/core/wording.h"

namespace fabricbench::cluster {
namespace {

std::string host_of(const Sweep& sweep, const Finding& finding, std::size_t which) {
  return host_name(sweep, finding.hosts.at(which));
}

/// `leaf rack7`; groups that were found are `group 2`.
std::string group_name(const Verdict& verdict, std::int32_t group) {
  const Grouping& finest = verdict.groupings.at(0);
  const std::string name = printable(finest.groups.at(static_cast<std::size_t>(group)).name);
  return finest.is_given ? fmt::format("leaf {}", name) : name;
}

/// The word for groups: `leaves`.
std::string_view groups_word(const Verdict& verdict) { return verdict.groupings.at(0).is_given ? "leaves" : "groups"; }

/// The rails of a pair, if there are several: ` over rail 2`, or ` over rail 1 of a and rail 2 of b`.
std::string over_rail(const Sweep& sweep, const Finding& finding) {
  if (finding.rail < 0) return "";
  if (finding.other_rail < 0) return fmt::format(" over {}", rail_name(sweep, finding.rail));
  return fmt::format(" over {} of {} and {} of {}", rail_name(sweep, finding.rail), host_of(sweep, finding, 0),
                     rail_name(sweep, finding.other_rail), host_of(sweep, finding, 1));
}

/// The kinds of readings in which a finding shows, if not in all: `, in rdma_write_bw 1 MiB`.
std::string in_kinds(const Sweep& sweep, const Finding& finding) {
  std::vector<std::string> names;
  for (const std::int16_t kind : finding.kinds) names.push_back(test_name(sweep, kind));
  return names.empty() ? "" : fmt::format(", in {}", fmt::join(names, " and "));
}

/// The partners with which a host is slow: `all partners`, `11 of 15 partners`, or `all 7 partners that would show the
/// fault, of 15`.
std::string whom(const PartnerCount& partners) {
  if (partners.slow < partners.shown) {
    return fmt::format("{} of {}", partners.slow, counted(partners.shown, "partner"));
  }
  if (partners.shown >= partners.met) return "all partners";
  const std::string all = partners.shown == 1 ? "the 1 partner" : fmt::format("all {} partners", partners.shown);
  return fmt::format("{} that would show the fault, of {}", all, partners.met);
}

/// The predicate of a slow host or rail, by direction.
std::string of_unit(const Sweep& sweep, const std::string& unit, const Finding& finding) {
  const std::string kinds = in_kinds(sweep, finding);
  if (finding.both_ways) {
    return fmt::format("{} is slow with {}, both directions taken together{}", unit, whom(finding.sends), kinds);
  }
  switch (finding.direction) {
    case Direction::kSends:
      return fmt::format("{} sends slowly to {}{}{}", unit, whom(finding.sends), kinds,
                         finding.other_way_fine ? ", and receives as fast as others" : "");
    case Direction::kReceives:
      return fmt::format("{} receives slowly from {}{}{}", unit, whom(finding.receives), kinds,
                         finding.other_way_fine ? ", and sends as fast as others" : "");
    case Direction::kBoth: break;
  }
  if (finding.sends == finding.receives && finding.sends.slow == finding.sends.shown) {
    return fmt::format("{} is slow with {}, sending and receiving{}", unit, whom(finding.sends), kinds);
  }
  return fmt::format("{} sends slowly to {}, and receives slowly from {}{}", unit, whom(finding.sends),
                     whom(finding.receives), kinds);
}

/// `; other rails of the host are fine`, or `; 1 of 3 other rails of the host is fine`; empty: none is.
std::string other_rails(const Finding& finding, std::string_view are, std::string_view is) {
  if (finding.fine_rails == 0) return "";
  if (finding.fine_rails == finding.other_rails) return fmt::format("other rails of the host {}", are);
  return fmt::format("{} of {} other rails of the host {}", finding.fine_rails, finding.other_rails,
                     finding.fine_rails == 1 ? is : are);
}

/// `nothing can be measured with ...`: `with` a host, `over` a rail, or `when` it sends or receives.
std::string nothing_of(const Finding& finding, std::string_view with, const std::string& unit) {
  switch (finding.direction) {
    case Direction::kSends: return fmt::format("nothing can be measured when {} sends", unit);
    case Direction::kReceives: return fmt::format("nothing can be measured when {} receives", unit);
    case Direction::kBoth: break;
  }
  return fmt::format("nothing can be measured {} {}{}", with, unit, finding.has_worked ? " any more" : "");
}

std::string of_nic(const Sweep& sweep, const Finding& finding) {
  const std::string which = fmt::format("{} of {}{}", rail_name(sweep, finding.rail), host_of(sweep, finding, 0),
                                        devices_beside(sweep, finding));
  if (has_no_figure(finding)) {
    const std::string others = other_rails(finding, "work", "works");
    return fmt::format("{}{}", nothing_of(finding, "over", which), others.empty() ? "" : ", though " + others);
  }
  const std::string others = other_rails(finding, "are fine", "is fine");
  return fmt::format("{}{}", of_unit(sweep, which, finding), others.empty() ? "" : "; " + others);
}

/// `; both hosts are fine with others`, or which one is; empty: neither is.
std::string fine_hosts(const Sweep& sweep, const Finding& finding) {
  const auto [first, second] = finding.fine_hosts;
  if (first && second) return "; both hosts are fine with others";
  if (!first && !second) return "";
  return fmt::format("; {} is fine with others", host_of(sweep, finding, first ? 0 : 1));
}

/// `between a and b over rail 1, both ways`, or `from a to b`.
std::string way_of(const Sweep& sweep, const Finding& finding) {
  const bool backwards = finding.direction == Direction::kReceives;
  const std::string from = host_of(sweep, finding, backwards ? 1 : 0);
  const std::string to = host_of(sweep, finding, backwards ? 0 : 1);
  return fmt::format("{} {} {} {}{}", finding.direction == Direction::kBoth ? "between" : "from", from,
                     finding.direction == Direction::kBoth ? "and" : "to", to, over_rail(sweep, finding));
}

std::string of_pair(const Sweep& sweep, const Finding& finding) {
  std::string text = fmt::format("the path {} is slow", way_of(sweep, finding));
  if (finding.direction == Direction::kBoth) {
    text += finding.both_ways ? ", both directions taken together" : ", both ways";
  }
  text += in_kinds(sweep, finding);
  if (finding.direction != Direction::kBoth && finding.other_way_fine) text += "; the way back is fine";
  return text + fine_hosts(sweep, finding);
}

/// `its hosts (node[01-08])`, or `at least 7 of its 8 hosts (node[01-08])`.
std::string slow_hosts_of_leaf(const Sweep& sweep, const Verdict& verdict, const Finding& finding) {
  const std::vector<std::int32_t>& hosts =
      verdict.groupings.at(0).groups.at(static_cast<std::size_t>(finding.leaf)).hosts;
  std::int64_t slow = static_cast<std::int64_t>(hosts.size());
  if (finding.direction != Direction::kReceives) slow = std::min(slow, finding.sends.slow);
  if (finding.direction != Direction::kSends) slow = std::min(slow, finding.receives.slow);
  const std::string names = hosts_text(sweep, hosts);
  if (static_cast<std::size_t>(slow) == hosts.size()) return fmt::format("its hosts ({})", names);
  return fmt::format("at least {} of its {} hosts ({})", slow, hosts.size(), names);
}

std::string of_leaf(const Sweep& sweep, const Verdict& verdict, const Finding& finding) {
  const char* way = finding.direction == Direction::kSends      ? "outbound"
                    : finding.direction == Direction::kReceives ? "inbound"
                                                                : "in both directions";
  return fmt::format("the uplinks of {} are slow, {}: {} are slow with hosts of other {}{}",
                     group_name(verdict, finding.leaf), way, slow_hosts_of_leaf(sweep, verdict, finding),
                     groups_word(verdict), finding.fine_elsewhere ? ", and fine with each other" : "");
}

std::string of_leaf_pair(const Verdict& verdict, const Finding& finding) {
  const std::string leaf = group_name(verdict, finding.leaf);
  const std::string other = group_name(verdict, finding.other_leaf);
  const std::string what = finding.direction == Direction::kSends      ? fmt::format("from {} to {}", leaf, other)
                           : finding.direction == Direction::kReceives ? fmt::format("from {} to {}", other, leaf)
                                                                       : fmt::format("between {} and {}", leaf, other);
  return fmt::format("the path {} is slow{}", what,
                     finding.fine_elsewhere ? fmt::format("; both are fine with other {}", groups_word(verdict)) : "");
}

std::string of_rail(const Sweep& sweep, const Finding& finding) {
  const std::string rail = rail_name(sweep, finding.rail);
  if (has_no_figure(finding)) {
    return fmt::format("nothing can be measured over {}{}, though {} of {} work over other rails", rail,
                       finding.has_worked ? " any more" : "", finding.working_partners,
                       counted(finding.partners, "host"));
  }
  return fmt::format("{} is slower than other rails on {} of {}", rail, finding.sends.slow,
                     counted(finding.sends.shown, "host"));
}

/// `2, 5-7 and 11`; only the first few of many.
std::string rounds_text(const std::vector<std::int32_t>& rounds) {
  constexpr std::size_t kMostSpans = 8;
  std::vector<std::string> spans;
  for (std::size_t i = 0; i < rounds.size();) {
    std::size_t end = i;
    while (end + 1 < rounds.size() && rounds[end + 1] == rounds[end] + 1) ++end;
    spans.push_back(end == i ? fmt::format("{}", rounds[i]) : fmt::format("{}-{}", rounds[i], rounds[end]));
    i = end + 1;
  }
  const std::size_t more = spans.size() - std::min(spans.size(), kMostSpans);
  spans.resize(spans.size() - more);
  return fmt::format("{}{}", fmt::join(spans, ", "), more > 0 ? " and later" : "");
}

std::string of_transient(const Sweep& sweep, const Finding& finding) {
  if (finding.hosts.size() > 1) {
    return fmt::format("the path {} {} now and then, in {} of {} readings{}{}", way_of(sweep, finding),
                       has_no_figure(finding) ? "fails" : "is slow", finding.slow, finding.readings,
                       in_kinds(sweep, finding), fine_hosts(sweep, finding));
  }
  const char* what = has_no_figure(finding) ? "fails" : "is slow";
  const std::string_view when = "now and then, with any partner";
  const bool always = finding.slow == finding.readings;
  return fmt::format(
      "{} {}: in {} of {} meetings ({:.0f} %), in {} {}", host_of(sweep, finding, 0),
      always ? "is slow or fails again and again" : fmt::format("{} {}", what, when), finding.slow, finding.readings,
      100.0 * static_cast<double>(finding.slow) / static_cast<double>(std::max<std::int64_t>(finding.readings, 1)),
      finding.slow_rounds.size() == 1 ? "round" : "rounds", rounds_text(finding.slow_rounds));
}

std::string of_dead(const Sweep& sweep, const Finding& finding) {
  const std::string partners =
      finding.working_partners == finding.partners
          ? "its partners work"
          : fmt::format("{} of its {} {}", finding.working_partners, counted(finding.partners, "partner"),
                        finding.working_partners == 1 ? "works" : "work");
  return fmt::format("{}, though {} with others{}", nothing_of(finding, "with", host_of(sweep, finding, 0)), partners,
                     finding.direction != Direction::kBoth ? ", and the other direction works" : "");
}

std::string of_dead_pair(const Sweep& sweep, const Finding& finding) {
  return fmt::format("nothing can be measured {}, though {}both work with others", way_of(sweep, finding),
                     finding.direction != Direction::kBoth && finding.other_way_fine ? "the way back works, and " : "");
}

std::string of_wrong_data(const Sweep& sweep, const Finding& finding) {
  if (finding.hosts.size() == 2) return fmt::format("data arrive wrong {}", way_of(sweep, finding));
  return fmt::format("data arrive wrong with {}, from or to {} of its {}", host_of(sweep, finding, 0),
                     finding.slow_partners, counted(finding.partners, "partner"));
}

std::string of_cut_off(const Sweep& sweep, const Finding& finding) {
  return fmt::format("{} work with each other, and nothing can be measured between them and the others",
                     hosts_text(sweep, finding.hosts));
}

/// `a and b`, `a, b and c`.
std::string all_hosts(const Sweep& sweep, const Finding& finding) {
  std::string text;
  for (std::size_t i = 0; i < finding.hosts.size(); ++i) {
    if (i > 0) text += i + 1 < finding.hosts.size() ? ", " : " and ";
    text += host_of(sweep, finding, i);
  }
  return text;
}

std::string of_undecided(const Sweep& sweep, const Finding& finding) {
  if (finding.small_pass) {
    return fmt::format("small messages pass {}, and large ones do not: MTU on the path?", way_text(sweep, finding));
  }
  const char* what = has_no_figure(finding) ? "nothing could be measured" : "bandwidth is low";
  if (finding.hosts.size() == 1) {
    return fmt::format("{} with {}{}{}, and the readings cannot tell whether the host or its partners are to blame",
                       what, host_of(sweep, finding, 0),
                       has_no_figure(finding) && finding.has_worked ? " any more" : "", over_rail(sweep, finding));
  }
  if (finding.hosts.size() == 2) {
    const auto [first, second] = finding.fine_hosts;
    const std::string suspects = first && second ? "the path or chance"
                                 : first         ? host_of(sweep, finding, 1) + " or the path"
                                 : second        ? host_of(sweep, finding, 0) + " or the path"
                                                 : "one of the hosts or the path";
    return fmt::format("{} {}{}, and the readings cannot tell whether {} is to blame", what, way_of(sweep, finding),
                       in_kinds(sweep, finding), suspects);
  }
  return fmt::format("{} between {}{}, and the readings cannot tell whether one of the hosts or a path is to blame",
                     what, all_hosts(sweep, finding), over_rail(sweep, finding));
}

}  // namespace

std::string hosts_text(const Sweep& sweep, std::span<const std::int32_t> hosts) {
  std::vector<std::string> names;
  for (const std::int32_t host : hosts) names.push_back(sweep.hosts[static_cast<std::size_t>(host)]);
  return listed_names(names);
}

bool has_no_figure(const Finding& finding) { return finding.failed > 0 && finding.rate <= 0; }

std::string way_text(const Sweep& sweep, const Finding& finding) {
  if (finding.hosts.size() == 2) return way_of(sweep, finding) + in_kinds(sweep, finding);
  return (finding.hosts.size() == 1 ? "with " : "between ") + all_hosts(sweep, finding) + over_rail(sweep, finding);
}

std::string gb_per_s(double rate) {
  constexpr int kAnyWidth = 16;
  return readable(rate / 1e9, kAnyWidth);
}

std::string sentence(const Sweep& sweep, const Verdict& verdict, const Finding& finding) {
  switch (finding.blame) {
    case Blame::kHost: return of_unit(sweep, host_of(sweep, finding, 0) + devices_beside(sweep, finding), finding);
    case Blame::kNic: return of_nic(sweep, finding);
    case Blame::kPair: return of_pair(sweep, finding);
    case Blame::kLeaf: return of_leaf(sweep, verdict, finding);
    case Blame::kLeafPair: return of_leaf_pair(verdict, finding);
    case Blame::kRail: return of_rail(sweep, finding);
    case Blame::kDevice: return of_devices(sweep, finding);
    case Blame::kAll: return "the usual bandwidth is below the expected one (--expect), even where pairs are fastest";
    case Blame::kTransient: return of_transient(sweep, finding);
    case Blame::kDead: return of_dead(sweep, finding);
    case Blame::kDeadPair: return of_dead_pair(sweep, finding);
    case Blame::kWrongData: return of_wrong_data(sweep, finding);
    case Blame::kCutOff: return of_cut_off(sweep, finding);
    case Blame::kUndecided: break;
  }
  return of_undecided(sweep, finding);
}

std::string extent(const Finding& finding) {
  if (finding.blame == Blame::kWrongData) {
    return fmt::format("{} of {} with wrong data", finding.slow, counted(finding.readings, "reading"));
  }
  if (has_no_figure(finding)) {
    return finding.blame == Blame::kTransient ? "no figure in these meetings" : "no figure at all";
  }
  const std::string text = fmt::format("{} GB/s where {} are expected: {:.0f} % of it", gb_per_s(finding.rate),
                                       gb_per_s(finding.expected), 100 * finding.ratio);
  constexpr double kAlike = 0.05;
  const auto [sends, receives] = finding.shares;
  if (finding.direction != Direction::kBoth || finding.both_ways || std::abs(sends - receives) < kAlike) return text;
  const bool sends_worse = sends < receives;
  return fmt::format("{} when it {}, {:.0f} % when it {}", text, sends_worse ? "sends" : "receives",
                     100 * std::max(sends, receives), sends_worse ? "receives" : "sends");
}

std::string evidence(const Finding& finding) {
  if (finding.blame == Blame::kTransient && finding.hosts.size() == 1) {
    std::string text = fmt::format("{}, slow ones with {}", counted(finding.readings, "meeting"),
                                   counted(finding.partners, "partner"));
    return finding.failed > 0 ? fmt::format("{}; {} without a figure", text, counted(finding.failed, "reading")) : text;
  }
  std::string text = counted(finding.readings, "reading");
  if (finding.hosts.empty() && finding.partners > 0) text += fmt::format(" of {}", counted(finding.partners, "host"));
  const bool of_device = finding.blame == Blame::kDevice;
  if (finding.hosts.size() == 1 || of_device) text += fmt::format(" with {}", counted(finding.partners, "partner"));
  if (has_no_figure(finding) && finding.failed == finding.readings) return text + ", none of them with a figure";
  if (finding.failed > 0) text += fmt::format(", {} of them without a figure", finding.failed);
  const bool is_path = finding.hosts.size() == 2 && !of_device;
  const bool of_data = finding.blame == Blame::kWrongData;
  if (!is_path || of_data || has_no_figure(finding) || finding.slow == 0) return text;
  return text + (finding.slow == finding.readings ? ", slow" : fmt::format(", {} of them slow", finding.slow));
}

std::string chance_in_words(double chance) {
  constexpr double kSmallest = 1e-9;  // whoever reads it trusts the readings no further
  chance = std::max(chance, kSmallest);
  if (chance > 0.5) return "not at all: sweeps of healthy hosts look like this as well";
  if (chance > 0.01)
    return fmt::format("{:.0f} of 100 sweeps of healthy hosts look like this", std::ceil(100 * chance));
  const double sweeps = std::pow(10, std::floor(-std::log10(chance) + 1e-9));
  return fmt::format("fewer than 1 of {} sweeps of healthy hosts look like this",
                     with_commas(static_cast<std::uint64_t>(std::llround(sweeps))));
}

std::string certainty(const Finding& finding) {
  if (finding.blame == Blame::kAll) return "it is compared with --expect, so no probability applies";
  if (finding.blame == Blame::kWrongData) return "data were compared, so no probability applies";
  const std::string text = chance_in_words(finding.false_alarm);
  return finding.confirmed ? text + "; seen again when measured alone" : text;
}

}  // namespace fabricbench::cluster
