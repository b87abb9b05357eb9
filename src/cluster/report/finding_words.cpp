#include "cluster/report/finding_words.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/hosts/host_fold.h"
#include "cluster/report/verdict_lists.h"
#include "common/core/units.h"

namespace fabricbench::cluster {
namespace {

const std::string& host_of(const Sweep& sweep, const Finding& finding, std::size_t which) {
  return sweep.hosts[static_cast<std::size_t>(finding.hosts.at(which))];
}

/// `leaf rack7`, or `group 2` where it was found.
std::string group_name(const Verdict& verdict, std::int32_t group) {
  const Grouping& finest = verdict.groupings.at(0);
  const std::string& name = finest.groups.at(static_cast<std::size_t>(group)).name;
  return finest.is_given ? fmt::format("leaf {}", name) : name;
}

/// What groups are called: `leaves`.
std::string_view groups_word(const Verdict& verdict) { return verdict.groupings.at(0).is_given ? "leaves" : "groups"; }

std::string rail_name(const Sweep& sweep, std::int32_t rail) {
  const std::string name = rail < 0 ? "" : sweep.rails[static_cast<std::size_t>(rail)];
  return name.empty() ? "its only rail" : fmt::format("rail {}", name);
}

/// ` over rail 2`, where a pair's finding is of one of several.
std::string over_rail(const Sweep& sweep, const Finding& finding) {
  return finding.rail < 0 ? "" : fmt::format(" over {}", rail_name(sweep, finding.rail));
}

/// Whom something is slow with: `everybody`, `11 of 15 partners`, or `all 7 partners that are near enough to show it`.
std::string whom(const Finding& finding) {
  if (finding.slow_partners < finding.partners) {
    return fmt::format("{} of {}", finding.slow_partners, counted(finding.partners, "partner"));
  }
  if (finding.partners >= finding.partners_met) return "everybody";
  return fmt::format("all {} with which it would show, of {}", counted(finding.partners, "partner"),
                     finding.partners_met);
}

std::string of_host(const std::string& host, const Finding& finding) {
  const bool known = finding.other_way_measured;
  switch (finding.direction) {
    case Direction::kSends:
      return fmt::format("{} sends slowly to {}{}", host, whom(finding),
                         known ? ", and receives as fast as others" : "");
    case Direction::kReceives:
      return fmt::format("{} receives slowly from {}{}", host, whom(finding),
                         known ? ", and sends as fast as others" : "");
    case Direction::kBoth: break;
  }
  return fmt::format("{} is slow with {}, sending and receiving", host, whom(finding));
}

std::string of_nic(const Sweep& sweep, const Finding& finding) {
  const std::string which = fmt::format("{} of {}", rail_name(sweep, finding.rail), host_of(sweep, finding, 0));
  if (finding.readings > 0 && finding.failed == finding.readings) {
    return fmt::format("nothing can be measured over {}, though other rails of the host work", which);
  }
  const bool both = finding.direction == Direction::kBoth;
  return fmt::format("{}{}", of_host(which, finding), both ? "; other rails of the host are fine" : "");
}

std::string of_pair(const Sweep& sweep, const Finding& finding) {
  const bool backwards = finding.direction == Direction::kReceives;
  const std::string& from = host_of(sweep, finding, backwards ? 1 : 0);
  const std::string& to = host_of(sweep, finding, backwards ? 0 : 1);
  const std::string rail = over_rail(sweep, finding);
  if (finding.direction == Direction::kBoth) {
    return fmt::format("the path between {} and {}{} is slow, both ways; both hosts are fine with others", from, to,
                       rail);
  }
  return fmt::format("the path from {} to {}{} is slow; the way back is fine, and so are both hosts with others", from,
                     to, rail);
}

std::string of_leaf(const Sweep& sweep, const Verdict& verdict, const Finding& finding) {
  const Grouping& finest = verdict.groupings.at(0);
  const std::string hosts = hosts_text(sweep, finest.groups.at(static_cast<std::size_t>(finding.leaf)).hosts);
  const char* way = finding.direction == Direction::kSends      ? "out of"
                    : finding.direction == Direction::kReceives ? "into"
                                                                : "out of and into";
  return fmt::format(
      "the uplinks of {} are slow, {} it: its hosts ({}) are slow with those of other {}, and fine with each other",
      group_name(verdict, finding.leaf), way, hosts, groups_word(verdict));
}

std::string of_leaf_pair(const Verdict& verdict, const Finding& finding) {
  const std::string leaf = group_name(verdict, finding.leaf);
  const std::string other = group_name(verdict, finding.other_leaf);
  const std::string what = finding.direction == Direction::kSends      ? fmt::format("from {} to {}", leaf, other)
                           : finding.direction == Direction::kReceives ? fmt::format("from {} to {}", other, leaf)
                                                                       : fmt::format("between {} and {}", leaf, other);
  return fmt::format("the path {} is slow; both are fine with other {}", what, groups_word(verdict));
}

/// `2, 5-7 and 11`; of many, the first few.
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
    return fmt::format("the path between {} and {}{} is slow now and then; both hosts are fine with others",
                       host_of(sweep, finding, 0), host_of(sweep, finding, 1), over_rail(sweep, finding));
  }
  return fmt::format(
      "{} is slow now and then, whoever its partner is: in {} of {} meetings ({:.0f} %), in {} {}",
      host_of(sweep, finding, 0), finding.slow, finding.readings,
      100.0 * static_cast<double>(finding.slow) / static_cast<double>(std::max<std::int64_t>(finding.readings, 1)),
      finding.slow_rounds.size() == 1 ? "round" : "rounds", rounds_text(finding.slow_rounds));
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
  const bool all_failed = finding.readings > 0 && finding.failed == finding.readings;
  const char* what = all_failed ? "nothing could be measured" : "it is slow";
  if (finding.hosts.size() == 1) {
    return fmt::format("{} with {}, and the readings cannot tell whether it or those that it met are to blame", what,
                       host_of(sweep, finding, 0));
  }
  return fmt::format("{} between {}{}, and the readings cannot tell which of {} or the path is to blame", what,
                     all_hosts(sweep, finding), over_rail(sweep, finding),
                     finding.hosts.size() == 2 ? "the two" : "them");
}

/// `1,000,000`.
std::string with_commas(double number) {
  std::string text = fmt::format("{:.0f}", number);
  for (std::size_t digits = 3; digits < text.size(); digits += 4) text.insert(text.size() - digits, ",");
  return text;
}

}  // namespace

std::string_view name(Blame blame) {
  switch (blame) {
    case Blame::kHost: return "host";
    case Blame::kNic: return "nic";
    case Blame::kPair: return "pair";
    case Blame::kLeaf: return "leaf";
    case Blame::kLeafPair: return "leaf_pair";
    case Blame::kRail: return "rail";
    case Blame::kAll: return "all";
    case Blame::kTransient: return "transient";
    case Blame::kDead: return "dead";
    case Blame::kDeadPair: return "dead_pair";
    case Blame::kUndecided: break;
  }
  return "undecided";
}

std::string_view name(Direction direction) {
  switch (direction) {
    case Direction::kSends: return "sends";
    case Direction::kReceives: return "receives";
    case Direction::kBoth: break;
  }
  return "both";
}

std::string_view name(Judged judged) {
  switch (judged) {
    case Judged::kClean: return "clean";
    case Judged::kSlow: return "slow";
    case Judged::kUnknown: break;
  }
  return "unknown";
}

std::string hosts_text(const Sweep& sweep, std::span<const std::int32_t> hosts) {
  std::vector<std::string> names;
  for (const std::int32_t host : hosts) names.push_back(sweep.hosts[static_cast<std::size_t>(host)]);
  return fold_hosts(names);
}

std::string gb_per_s(double rate) {
  constexpr int kAnyWidth = 16;
  return readable(rate / 1e9, kAnyWidth);
}

std::string sentence(const Sweep& sweep, const Verdict& verdict, const Finding& finding) {
  switch (finding.blame) {
    case Blame::kHost: return of_host(host_of(sweep, finding, 0), finding);
    case Blame::kNic: return of_nic(sweep, finding);
    case Blame::kPair: return of_pair(sweep, finding);
    case Blame::kLeaf: return of_leaf(sweep, verdict, finding);
    case Blame::kLeafPair: return of_leaf_pair(verdict, finding);
    case Blame::kRail: return fmt::format("{} is slow on most hosts", rail_name(sweep, finding.rail));
    case Blame::kAll: return "no pair of hosts reaches what was expected (--expect), however near they are";
    case Blame::kTransient: return of_transient(sweep, finding);
    case Blame::kDead:
      return fmt::format("nothing can be measured with {}, though its partners work with others",
                         host_of(sweep, finding, 0));
    case Blame::kDeadPair:
      return fmt::format("nothing can be measured between {} and {}{}, though both work with others",
                         host_of(sweep, finding, 0), host_of(sweep, finding, 1), over_rail(sweep, finding));
    case Blame::kUndecided: break;
  }
  return of_undecided(sweep, finding);
}

std::string extent(const Finding& finding) {
  if (finding.readings > 0 && finding.failed == finding.readings) return "no figure at all";
  return fmt::format("{} GB/s where {} are expected: {:.0f} % of it", gb_per_s(finding.rate),
                     gb_per_s(finding.expected), 100 * finding.ratio);
}

std::string evidence(const Finding& finding) {
  if (finding.blame == Blame::kTransient && finding.hosts.size() == 1) {
    std::string text = fmt::format("{}, slow ones with {}", counted(finding.readings, "meeting"),
                                   counted(finding.partners, "partner"));
    return finding.failed > 0 ? fmt::format("{}; {} without a figure", text, counted(finding.failed, "reading")) : text;
  }
  std::string text = counted(finding.readings, "reading");
  if (finding.partners > 0) text += fmt::format(" with {}", counted(finding.partners, "partner"));
  if (finding.failed == finding.readings && finding.failed > 0) return text + ", none of them with a figure";
  if (finding.failed > 0) text += fmt::format(", {} of them without a figure", finding.failed);
  return text;
}

std::string chance_in_words(double chance) {
  constexpr double kSmallest = 1e-9;  // whoever reads it trusts the readings no further
  chance = std::max(chance, kSmallest);
  if (chance > 0.5) return "not at all: sweeps of healthy hosts look like this as well";
  if (chance > 0.01)
    return fmt::format("{:.0f} of 100 sweeps of healthy hosts look like this", std::ceil(100 * chance));
  const double sweeps = std::pow(10, std::floor(-std::log10(chance) + 1e-9));
  return fmt::format("fewer than 1 of {} sweeps of healthy hosts look like this", with_commas(sweeps));
}

std::string certainty(const Finding& finding) {
  const std::string text = chance_in_words(finding.false_alarm);
  return finding.confirmed ? text + "; seen again when measured alone" : text;
}

}  // namespace fabricbench::cluster
