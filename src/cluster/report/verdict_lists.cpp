#include "cluster/report/verdict_lists.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/hosts/host_folding.h"
#include "cluster/report/device_words.h"
#include "cluster/report/finding_words.h"

namespace fabricbench::cluster {
namespace {

using List = std::vector<std::string> HostLists::*;

/// The lists of hosts, the worst first: a host is in the first one that applies.
constexpr std::array<List, 8> kLists = {&HostLists::dead,       &HostLists::cut_off,  &HostLists::wrong_data,
                                        &HostLists::slow,       &HostLists::unsteady, &HostLists::suspect,
                                        &HostLists::not_judged, &HostLists::fine};

std::size_t place_of(List list) {
  return static_cast<std::size_t>(std::find(kLists.begin(), kLists.end(), list) - kLists.begin());
}

/// The list of the hosts that a finding names. If a path or a switch is slow, its hosts are fine.
List list_for(const Finding& finding) {
  switch (finding.blame) {
    case Blame::kHost:
    case Blame::kNic: return &HostLists::slow;
    case Blame::kTransient: return finding.hosts.size() == 1 ? &HostLists::unsteady : &HostLists::fine;
    case Blame::kDead: return &HostLists::dead;
    case Blame::kWrongData: return finding.hosts.size() == 1 ? &HostLists::wrong_data : &HostLists::fine;
    case Blame::kCutOff: return &HostLists::cut_off;
    case Blame::kUndecided: return &HostLists::suspect;
    case Blame::kPair:
    case Blame::kLeaf:
    case Blame::kLeafPair:
    case Blame::kRail:
    case Blame::kDevice:
    case Blame::kAll:
    case Blame::kDeadPair: break;
  }
  return &HostLists::fine;
}

bool is_undecided_pair(const Finding& finding) {
  return finding.blame == Blame::kUndecided && finding.hosts.size() == 2;
}

/// Whether only the path between two hosts may be to blame.
bool is_suspect_path(const Finding& finding) {
  return is_undecided_pair(finding) && finding.fine_hosts[0] && finding.fine_hosts[1];
}

/// The phrase of the headline on findings of a kind: `2 paths are slow`.
struct Phrase {
  Blame blame;
  std::string_view thing;
  std::string_view one;
  std::string_view several;
  bool without_figure = false;  ///< of rails: those over which nothing can be measured, and no others
};

// The order is that of the headline, behind hosts.
constexpr std::array<Phrase, 9> kPhrases = {
    {{Blame::kLeaf, "leaf", "is slow towards the others", "are slow towards the others"},
     {Blame::kLeafPair, "path between leaves", "is slow", "are slow"},
     {Blame::kRail, "rail", "is slow everywhere", "are slow everywhere"},
     {Blame::kRail, "rail", "carries nothing", "carry nothing", true},
     {Blame::kDevice, "device", "is slow", "are slow"},
     {Blame::kPair, "path", "is slow", "are slow"},
     {Blame::kTransient, "path", "is unsteady", "are unsteady"},
     {Blame::kDeadPair, "path", "carries nothing", "carry nothing"},
     {Blame::kWrongData, "path", "delivers wrong data", "deliver wrong data"}}};

/// The noun of a phrase; leaves that were found in the readings are groups.
std::string_view thing_of(const Sweep& sweep, const Verdict& verdict, const Phrase& phrase) {
  if (phrase.blame == Blame::kDevice) return devices_word(sweep, verdict.findings);
  const bool found = !verdict.groupings.empty() && !verdict.groupings.front().is_given;
  if (found && phrase.blame == Blame::kLeaf) return "group of hosts";
  if (found && phrase.blame == Blame::kLeafPair) return "path between groups";
  return phrase.thing;
}

std::string plural_of(std::string_view thing) {
  if (thing == "group of hosts") return "groups of hosts";
  if (thing == "path between groups") return "paths between groups";
  if (thing == "leaf") return "leaves";
  if (thing == "path between leaves") return "paths between leaves";
  return fmt::format("{}s", thing);
}

void add(std::vector<std::string>& parts, std::size_t number, std::string_view thing, std::string_view one,
         std::string_view several) {
  if (number == 0) return;
  parts.push_back(fmt::format("{} {}", counted(static_cast<std::int64_t>(number), thing), number == 1 ? one : several));
}

/// The number of different paths, leaves, rails or devices. Several findings on one of them count once.
std::size_t things_blamed(const Verdict& verdict, Blame blame, bool without_figure = false) {
  std::set<std::tuple<std::vector<std::int32_t>, std::int32_t, std::int32_t, std::int32_t>> things;
  for (const Finding& finding : verdict.findings) {
    const bool of_host = finding.hosts.size() == 1 && blame != Blame::kDevice;
    if (finding.blame != blame || of_host) continue;
    if (blame == Blame::kRail && has_no_figure(finding) != without_figure) continue;
    std::vector<std::int32_t> which = blame == Blame::kDevice ? finding.devices : finding.hosts;
    std::sort(which.begin(), which.end());
    const std::int32_t rail = blame == Blame::kRail ? finding.rail : -1;
    things.emplace(std::move(which), finding.leaf, finding.other_leaf, rail);
  }
  return things.size();
}

/// Adds the phrases on hosts and NICs. A host with several findings counts once, by the worst.
void add_hosts(const Verdict& verdict, const HostLists& lists, std::vector<std::string>& parts) {
  std::set<std::int32_t> counted_hosts;
  for (const Finding& finding : verdict.findings) {  // who is cut off is counted as that, whatever else it is
    if (finding.blame == Blame::kCutOff) counted_hosts.insert(finding.hosts.begin(), finding.hosts.end());
  }
  const auto with = [&](Blame blame, bool without_figure = false) {
    const std::size_t before = counted_hosts.size();
    for (const Finding& finding : verdict.findings) {
      const bool is_such = finding.blame == blame && (blame != Blame::kNic || has_no_figure(finding) == without_figure);
      if (is_such && finding.hosts.size() == 1) counted_hosts.insert(finding.hosts.front());
    }
    return counted_hosts.size() - before;
  };
  add(parts, with(Blame::kDead), "host", "is dead", "are dead");
  add(parts, lists.cut_off.size(), "host", "is cut off", "are cut off");
  add(parts, with(Blame::kWrongData), "host", "has wrong data", "have wrong data");
  add(parts, with(Blame::kHost), "host", "is slow", "are slow");
  add(parts, with(Blame::kNic, true), "host", "has a dead NIC", "have dead NICs");
  add(parts, with(Blame::kNic), "host", "has a slow NIC", "have slow NICs");
  add(parts, with(Blame::kTransient), "host", "is unsteady", "are unsteady");
}

/// The number of undecided findings without a suspect host or path: all of their hosts have findings of their own.
std::size_t undecided_besides(const Sweep& sweep, const Verdict& verdict, const HostLists& lists) {
  const std::set<std::string> suspects(lists.suspect.begin(), lists.suspect.end());
  return static_cast<std::size_t>(
      std::count_if(verdict.findings.begin(), verdict.findings.end(), [&](const Finding& finding) {
        return finding.blame == Blame::kUndecided && !is_suspect_path(finding) &&
               std::none_of(finding.hosts.begin(), finding.hosts.end(), [&](std::int32_t host) {
                 return suspects.contains(sweep.hosts[static_cast<std::size_t>(host)]);
               });
      }));
}

/// Why the verdict is unknown, if there is no finding.
std::string why_unknown(const Sweep& sweep, const Verdict& verdict) {
  if (verdict.many_slow_pairs || verdict.outliers > kMostUnexplained) {
    return "Many readings are slow, and nothing explains them";
  }
  if (verdict.failing > kMostFailing) return "Many readings failed, and nothing explains them";
  if (sweep.not_understood > 0)
    return counted(sweep.not_understood, "file") + (sweep.not_understood == 1 ? " was" : " were") + " not understood";
  if (verdict.below_asked > kMostBelowAsked) return "Many readings are below the --min-bandwidth of their runs";
  if (verdict.lasting_change > kMostLastingChange)
    return "The usual bandwidth changed too much during the sweep to tell which level is healthy";
  if ((verdict.groups_are_open && !verdict.near_pairs) || verdict.some_are_faster)
    return "Some pairs are much faster than others, and the readings do not tell why";
  const std::size_t missing = verdict.not_judged.size();
  const bool scatters = missing > 0 && std::any_of(verdict.strata.begin(), verdict.strata.end(),
                                                   [](const Stratum& each) { return each.scale > kMuchNoise; });
  if (scatters) return "Readings scatter too much to judge";
  if (missing == 0 || 2 * missing > sweep.hosts.size()) return "Too little was measured to judge";
  return fmt::format("Too little was measured of {}", counted(static_cast<std::int64_t>(missing), "host"));
}

std::string of_fine_hosts(const Sweep& sweep, const HostLists& lists) {
  const std::size_t hosts = sweep.hosts.size();
  if (lists.fine.size() == hosts)
    return fmt::format("all {} are fine", counted(static_cast<std::int64_t>(hosts), "host"));
  return fmt::format("{} of {} {} fine", lists.fine.size(), counted(static_cast<std::int64_t>(hosts), "host"),
                     lists.fine.size() == 1 ? "is" : "are");
}

}  // namespace

HostLists host_lists(const Sweep& sweep, const Verdict& verdict) {
  const bool all_are_slow = things_blamed(verdict, Blame::kAll) > 0;
  const std::size_t ordinary = place_of(all_are_slow ? &HostLists::slow : &HostLists::fine);
  std::vector<std::size_t> places(sweep.hosts.size(), ordinary);
  const auto put = [&](std::int32_t host, List list) {
    std::size_t& place = places[static_cast<std::size_t>(host)];
    place = std::min(place, place_of(list));
  };
  for (const std::int32_t host : verdict.not_judged) put(host, &HostLists::not_judged);
  for (const Finding& finding : verdict.findings) {
    for (std::size_t i = 0; i < finding.hosts.size(); ++i) {
      const bool cleared = is_undecided_pair(finding) && finding.fine_hosts.at(i);
      put(finding.hosts[i], cleared ? &HostLists::fine : list_for(finding));
    }
  }
  if (verdict.kinds && !verdict.kinds->both_suffice) {
    for (const std::int32_t host : verdict.kinds->slow) put(host, &HostLists::suspect);
  }
  for (const std::int32_t host : verdict.may_stand_apart) put(host, &HostLists::suspect);
  std::set<std::int32_t> on_suspect_path;
  for (const auto& [host, other] : suspect_paths(verdict)) on_suspect_path.insert({host, other});
  for (const FollowUp& follow_up : verdict.follow_ups) {
    const std::size_t place = places[static_cast<std::size_t>(follow_up.host)];
    const bool is_path = follow_up.slow_with == SlowWith::kOne && on_suspect_path.contains(follow_up.host);
    const bool may_be = place == place_of(&HostLists::fine) && !is_path;
    if (follow_up.other < 0 && (may_be || follow_up.slow_with == SlowWith::kAll))
      put(follow_up.host, &HostLists::suspect);
  }
  HostLists lists;
  for (std::size_t host = 0; host < places.size(); ++host) (lists.*kLists[places[host]]).push_back(sweep.hosts[host]);
  for (const List list : kLists) std::sort((lists.*list).begin(), (lists.*list).end(), comes_before);
  return lists;
}

std::vector<std::pair<std::string_view, const std::vector<std::string>*>> titled(const HostLists& lists) {
  std::vector<std::pair<std::string_view, const std::vector<std::string>*>> all = {{"Slow", &lists.slow},
                                                                                   {"Dead", &lists.dead},
                                                                                   {"Cut off", &lists.cut_off},
                                                                                   {"Wrong data", &lists.wrong_data},
                                                                                   {"Unsteady", &lists.unsteady},
                                                                                   {"Suspect", &lists.suspect},
                                                                                   {"Not judged", &lists.not_judged},
                                                                                   {"Fine", &lists.fine}};
  std::erase_if(all, [](const auto& list) { return list.second->empty(); });
  return all;
}

std::vector<std::pair<std::int32_t, std::int32_t>> suspect_paths(const Verdict& verdict) {
  std::set<std::pair<std::int32_t, std::int32_t>> named;
  std::vector<std::pair<std::int32_t, std::int32_t>> paths;
  for (const Finding& finding : verdict.findings) {
    if (finding.hosts.size() != 2 || finding.blame == Blame::kDevice) continue;
    const bool is_new = named.insert(std::minmax(finding.hosts[0], finding.hosts[1])).second;
    if (is_new && is_suspect_path(finding)) paths.emplace_back(finding.hosts[0], finding.hosts[1]);
  }
  for (const FollowUp& follow_up : verdict.follow_ups) {
    if (follow_up.other < 0 || follow_up.of_suspects) continue;
    if (!named.insert(std::minmax(follow_up.host, follow_up.other)).second) continue;
    paths.emplace_back(follow_up.host, follow_up.other);
  }
  return paths;
}

std::string headline(const Sweep& sweep, const Verdict& verdict) {
  const HostLists lists = host_lists(sweep, verdict);
  std::vector<std::string> parts;
  if (verdict.kinds && !verdict.kinds->both_suffice) parts.emplace_back("There are two kinds of hosts");
  if (things_blamed(verdict, Blame::kAll) > 0) parts.emplace_back("everything is slower than expected");
  add_hosts(verdict, lists, parts);
  for (const Phrase& phrase : kPhrases) {
    add(parts, things_blamed(verdict, phrase.blame, phrase.without_figure), thing_of(sweep, verdict, phrase),
        phrase.one, phrase.several);
  }
  add(parts, lists.suspect.size(), "host", "is suspect", "are suspect");
  add(parts, suspect_paths(verdict).size(), "path", "is suspect", "are suspect");
  add(parts, undecided_besides(sweep, verdict, lists), "more finding", "is undecided", "are undecided");
  if (parts.empty() && verdict.judged == Judged::kUnknown) parts.push_back(why_unknown(sweep, verdict));
  if (parts.empty()) parts.emplace_back("Nothing is slow");
  parts.front().front() = static_cast<char>(std::toupper(static_cast<unsigned char>(parts.front().front())));
  std::string text = fmt::format("{}; {}", fmt::join(parts, ", "), of_fine_hosts(sweep, lists));
  if (!lists.not_judged.empty()) text += fmt::format(", {} not judged", lists.not_judged.size());
  return text;
}

std::string counted(std::int64_t number, std::string_view thing) {
  return number == 1 ? fmt::format("1 {}", thing) : fmt::format("{} {}", number, plural_of(thing));
}

}  // namespace fabricbench::cluster
