#include "cluster/report/finding_words.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>

#include "cluster/hosts/host_fold.h"
#include "cluster/report/verdict_lists.h"
#include "common/core/units.h"

namespace fabricbench::cluster {
namespace {

const std::string& host_of(const Sweep& sweep, const Finding& finding, std::size_t which) {
  return sweep.hosts[static_cast<std::size_t>(finding.hosts.at(which))];
}

std::string leaf_name(const Sweep& sweep, std::int32_t leaf) {
  return leaf < 0 ? "?" : sweep.leaves[static_cast<std::size_t>(leaf)];
}

std::string rail_name(const Sweep& sweep, std::int32_t rail) {
  const std::string name = rail < 0 ? "" : sweep.rails[static_cast<std::size_t>(rail)];
  return name.empty() ? "its only rail" : fmt::format("rail {}", name);
}

/// ` over rail 2`, where a pair's finding is of one of several.
std::string over_rail(const Sweep& sweep, const Finding& finding) {
  return finding.rail < 0 ? "" : fmt::format(" over {}", rail_name(sweep, finding.rail));
}

std::string folded(const Sweep& sweep, std::span<const std::int32_t> hosts) {
  std::vector<std::string> names;
  for (const std::int32_t host : hosts) names.push_back(sweep.hosts[static_cast<std::size_t>(host)]);
  return fold_hosts(names);
}

std::vector<std::int32_t> hosts_of_leaf(const Sweep& sweep, std::int32_t leaf) {
  std::vector<std::int32_t> hosts;
  for (std::size_t host = 0; host < sweep.leaf_of.size(); ++host) {
    if (sweep.leaf_of[host] == leaf) hosts.push_back(static_cast<std::int32_t>(host));
  }
  return hosts;
}

std::string of_host(const std::string& host, Direction direction) {
  switch (direction) {
    case Direction::kSends: return fmt::format("{} sends slowly to everybody, and receives as fast as others", host);
    case Direction::kReceives:
      return fmt::format("{} receives slowly from everybody, and sends as fast as others", host);
    case Direction::kBoth: break;
  }
  return fmt::format("{} is slow with everybody, sending and receiving", host);
}

std::string of_nic(const Sweep& sweep, const Finding& finding) {
  const std::string which = fmt::format("{} of {}", rail_name(sweep, finding.rail), host_of(sweep, finding, 0));
  switch (finding.direction) {
    case Direction::kSends: return fmt::format("{} sends slowly to everybody, and receives well", which);
    case Direction::kReceives: return fmt::format("{} receives slowly from everybody, and sends well", which);
    case Direction::kBoth: break;
  }
  return fmt::format("{} is slow with everybody, sending and receiving; other rails of the host are fine", which);
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

std::string of_leaf(const Sweep& sweep, const Finding& finding) {
  const std::string leaf = leaf_name(sweep, finding.leaf);
  const std::string hosts = folded(sweep, hosts_of_leaf(sweep, finding.leaf));
  const char* way = finding.direction == Direction::kSends      ? "out of"
                    : finding.direction == Direction::kReceives ? "into"
                                                                : "out of and into";
  return fmt::format(
      "the uplinks of leaf {} are slow, {} it: its hosts ({}) are slow with those of other leaves, and fine "
      "with each other",
      leaf, way, hosts);
}

std::string of_leaf_pair(const Sweep& sweep, const Finding& finding) {
  const std::string leaf = leaf_name(sweep, finding.leaf);
  const std::string other = leaf_name(sweep, finding.other_leaf);
  const std::string what = finding.direction == Direction::kSends ? fmt::format("from leaf {} to leaf {}", leaf, other)
                           : finding.direction == Direction::kReceives
                               ? fmt::format("from leaf {} to leaf {}", other, leaf)
                               : fmt::format("between leaves {} and {}", leaf, other);
  return fmt::format("the path {} is slow; both are fine with other leaves", what);
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

std::string gb_per_s(double rate) {
  constexpr int kAnyWidth = 16;
  return readable(rate / 1e9, kAnyWidth);
}

std::string sentence(const Sweep& sweep, const Finding& finding) {
  switch (finding.blame) {
    case Blame::kHost: return of_host(host_of(sweep, finding, 0), finding.direction);
    case Blame::kNic: return of_nic(sweep, finding);
    case Blame::kPair: return of_pair(sweep, finding);
    case Blame::kLeaf: return of_leaf(sweep, finding);
    case Blame::kLeafPair: return of_leaf_pair(sweep, finding);
    case Blame::kRail: return fmt::format("{} is slow on most hosts", rail_name(sweep, finding.rail));
    case Blame::kTransient:
      return fmt::format("{} is slow now and then, whoever its partner is", host_of(sweep, finding, 0));
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
  std::string text = counted(finding.readings, "reading");
  if (finding.partners > 0) text += fmt::format(" with {}", counted(finding.partners, "partner"));
  if (finding.failed == finding.readings && finding.failed > 0) return text + ", none of them with a figure";
  if (finding.failed > 0) text += fmt::format(", {} of them without a figure", finding.failed);
  return text;
}

std::string certainty(const Finding& finding) {
  constexpr double kSmallest = 1e-9;  // whoever reads it trusts the readings no further
  const double chance = std::max(finding.false_alarm, kSmallest);
  std::string text;
  if (chance > 0.5) {
    text = "not at all: sweeps of healthy hosts look like this as well";
  } else if (chance > 0.01) {
    text = fmt::format("{:.0f} of 100 sweeps of healthy hosts look like this", std::ceil(100 * chance));
  } else {
    const double sweeps = std::pow(10, std::floor(-std::log10(chance) + 1e-9));
    text = fmt::format("fewer than 1 of {} sweeps of healthy hosts look like this", with_commas(sweeps));
  }
  return finding.confirmed ? text + "; seen again when measured alone" : text;
}

}  // namespace fabricbench::cluster
