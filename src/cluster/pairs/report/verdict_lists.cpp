// The verdict as lists of hosts and paths, in one sentence, and as lines for scripts.

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/hosts/host_list.h"
#include "cluster/pairs/report/verdict_text.h"
#include "cluster/pairs/sets.h"
#include "common/core/heat_map.h"
#include "common/core/plain_text.h"
#include "common/core/wording.h"

namespace fabricbench::cluster {
namespace {

using List = std::vector<std::string> HostLists::*;
struct TitledList {
  std::string_view title;
  List list;
  char mark;  // of its hosts on a map
};
/// The lists of hosts, the worst first: a host is in the first one that applies.
constexpr auto kLists = std::to_array<TitledList>({{"Dead", &HostLists::dead, kDeadMark},
                                                   {"Cut off", &HostLists::cut_off, kDeadMark},
                                                   {"Wrong data", &HostLists::wrong_data, kSlowMark},
                                                   {"Slow", &HostLists::slow, kSlowMark},
                                                   {"Unsteady", &HostLists::unsteady, kUnsteadyMark},
                                                   {"Suspect", &HostLists::suspect, kSuspectMark},
                                                   {"Not judged", &HostLists::not_judged, kNoMark},
                                                   {"Fine", &HostLists::fine, kNoMark}});

std::size_t place_of(List list) {
  const auto found = std::ranges::find_if(kLists, [&](const auto& each) { return each.list == list; });
  return at(found - kLists.begin());
}

bool has_blame(const Verdict& verdict, Blame blame) {
  return std::ranges::any_of(verdict.findings, [&](const Finding& finding) { return finding.blame == blame; });
}

/// Whether only the path between two hosts may be to blame.
bool is_suspect_path(const Finding& finding) {
  return finding.blame == Blame::kUndecided && is_path(finding) && finding.fine_hosts[0] && finding.fine_hosts[1];
}

/// What findings of a kind are on, as far as `said` hosts are not the whole of it: hosts, paths, NICs and so on.
std::size_t number_of(const Sweep& sweep, const Verdict& verdict, const FindingKind& kind,
                      std::set<std::int32_t>& said) {
  const bool of_hosts = kind.hosts != &HostLists::fine;
  const std::set<std::int32_t> before = said;
  std::set<std::tuple<std::vector<std::int32_t>, std::int32_t, std::int32_t, std::int32_t>> things;
  for (const Finding& finding : verdict.findings) {
    if (&kind_of(sweep, verdict, finding) != &kind) continue;
    const std::int32_t rail = kind.blame == Blame::kRail || kind.blame == Blame::kNic ? finding.rail : -1;
    const std::vector<std::int32_t>& which = kind.blame == Blame::kDevice ? finding.devices : finding.hosts;
    if (!of_hosts) things.emplace(sorted_unique(which), finding.leaf, finding.other_leaf, rail);
    for (const std::int32_t host : finding.hosts) {
      if (!of_hosts || before.contains(host)) continue;
      things.emplace(std::vector{host}, -1, -1, rail);
      said.insert(host);
    }
  }
  return things.size();
}

/// Why the verdict is unknown, if there is no finding.
std::string why_unknown(const Sweep& sweep, const Verdict& verdict) {
  if (verdict.many_slow_pairs || verdict.outliers > kMostUnexplained)
    return fmt::format("{:.2g} % of the readings are slow, and no host stands out", 100 * verdict.outliers);
  if (verdict.failing > kMostFailing) return "Many readings failed, and nothing explains them";
  if (sweep.not_understood > 0)
    return fmt::format("{} {} not understood", counted(sweep.not_understood, "file"),
                       sweep.not_understood == 1 ? "was" : "were");
  if (verdict.below_asked > kMostBelowAsked) return "Many readings are below the --min-bandwidth of their runs";
  if (verdict.lasting_change > kMostLastingChange)
    return "The usual bandwidth changed too much during the sweep to tell which level is healthy";
  if (verdict.some_are_faster) return "Some pairs are much faster than others, and the readings do not tell why";
  if (verdict.groups_are_open && !verdict.near_pairs) return "It is open which hosts are near each other";
  const std::size_t missing = verdict.not_judged.size();
  const bool scatters =
      std::ranges::any_of(verdict.strata, [](const Stratum& each) { return each.scale > kMuchNoise; });
  if (missing > 0 && scatters) return "Readings scatter too much to judge";
  if (missing == 0 || 2 * missing > sweep.hosts.size()) return "Too little was measured to judge";
  return fmt::format("Too little was measured of {}", counted(missing, "host"));
}

/// `; 63 of 64 hosts are fine`. Nothing of the kind if the verdict is unknown for reasons that no host has.
std::string of_fine_hosts(const Sweep& sweep, const Verdict& verdict, const HostLists& lists) {
  const std::size_t fine = lists.fine.size();
  const std::string all = counted(sweep.hosts.size(), "host");
  if (fine < sweep.hosts.size()) return fmt::format("; {} of {} {} fine", fine, all, fine == 1 ? "is" : "are");
  return verdict.judged == Judged::kUnknown ? "" : fmt::format("; all {} are fine", all);
}

std::string pair_line(const Sweep& sweep, std::int32_t host, std::int32_t other, std::string_view title) {
  return fmt::format("{}: {} {}\n", title, listed_name(sweep.hosts[at(host)]), listed_name(sweep.hosts[at(other)]));
}

/// The line for scripts on a finding that is no host; empty: its hosts have a list. Found groups have no names.
std::string path_line(const Sweep& sweep, const Verdict& verdict, const Finding& finding) {
  const std::string_view title = kind_of(sweep, verdict, finding).title;
  if (title.empty()) return "";
  if (is_path(finding)) return pair_line(sweep, finding.hosts[0], finding.hosts[1], title);
  std::vector<std::string> names;
  for (const std::int32_t leaf : {finding.leaf, finding.other_leaf}) {
    if (leaf < 0) continue;
    const Group& group = leaf_at(verdict, leaf);
    names.push_back(verdict.groupings[0].is_given ? listed_name(group.name) : hosts_text(sweep, group.hosts));
  }
  if (finding.blame == Blame::kRail) names.push_back(listed_name(sweep.rails.at(at(finding.rail))));
  for (const std::int32_t place : finding.devices) names.push_back(listed_name(sweep.devices.at(at(place)).id));
  return fmt::format("{}: {}\n", title, fmt::join(names, " "));
}

}  // namespace

HostLists host_lists(const Sweep& sweep, const Verdict& verdict) {
  const std::size_t ordinary = place_of(has_blame(verdict, Blame::kAll) ? &HostLists::slow : &HostLists::fine);
  std::vector<std::size_t> places(sweep.hosts.size(), ordinary);
  const auto put = [&](std::int32_t host, List list) {
    std::size_t& place = places[at(host)];
    place = std::min(place, place_of(list));
  };
  for (const std::int32_t host : verdict.not_judged) put(host, &HostLists::not_judged);
  for (const Finding& finding : verdict.findings) {
    for (std::size_t i = 0; i < finding.hosts.size(); ++i) {
      const bool is_cleared = finding.blame == Blame::kUndecided && is_path(finding) && finding.fine_hosts.at(i);
      put(finding.hosts[i], is_cleared ? &HostLists::fine : kind_of(sweep, verdict, finding).hosts);
    }
  }
  if (verdict.kinds && !verdict.kinds->both_suffice) {
    for (const std::int32_t host : verdict.kinds->slow) put(host, &HostLists::suspect);
  }
  for (const std::int32_t host : verdict.may_stand_apart) put(host, &HostLists::suspect);
  for (const FollowUp& each : verdict.follow_ups) {
    const bool is_judged = places[at(each.host)] != place_of(&HostLists::not_judged);
    if (each.other < 0 && (is_judged || each.with_all)) put(each.host, &HostLists::suspect);
  }
  HostLists lists;
  for (std::size_t host = 0; host < places.size(); ++host) {
    (lists.*kLists.at(places[host]).list).push_back(sweep.hosts[host]);
    lists.marks.push_back(kLists.at(places[host]).mark);
  }
  for (const auto& [title, list, mark] : kLists) std::sort((lists.*list).begin(), (lists.*list).end(), comes_before);
  return lists;
}

bool has_host(const Group& group, std::int32_t host) {
  return std::ranges::find(group.hosts, host) != group.hosts.end();
}

bool is_of_slow_leaf(const Verdict& verdict, std::int32_t host, std::int32_t other) {
  return std::ranges::any_of(verdict.findings, [&](const Finding& finding) {
    return finding.blame == Blame::kLeaf && crosses(leaf_at(verdict, finding.leaf), host, other);
  });
}

std::vector<std::pair<std::int32_t, std::int32_t>> suspect_paths(const Verdict& verdict) {
  std::set<std::pair<std::int32_t, std::int32_t>> named;
  std::vector<std::pair<std::int32_t, std::int32_t>> paths;
  for (const Finding& finding : verdict.findings) {
    if (!is_path(finding)) continue;
    const bool is_new = named.insert(std::minmax(finding.hosts[0], finding.hosts[1])).second;
    if (is_new && is_suspect_path(finding)) paths.emplace_back(finding.hosts[0], finding.hosts[1]);
  }
  for (const FollowUp& each : verdict.follow_ups) {
    if (each.other < 0 || each.of_suspects || is_of_slow_leaf(verdict, each.host, each.other)) continue;
    if (named.insert(std::minmax(each.host, each.other)).second) paths.emplace_back(each.host, each.other);
  }
  return paths;
}

std::string headline(const Sweep& sweep, const Verdict& verdict) {
  const HostLists lists = host_lists(sweep, verdict);
  std::vector<std::string> parts;
  const auto add = [&](std::size_t number, std::string_view noun, std::string_view adjective) {
    if (number > 0) parts.push_back(counted_being(number, noun, adjective));
  };
  if (verdict.kinds && !verdict.kinds->both_suffice) parts.emplace_back("there are two kinds of hosts");
  if (has_blame(verdict, Blame::kAll)) parts.emplace_back("everything is slower than expected");
  std::set<std::int32_t> said;
  for (const FindingKind& kind : finding_kinds()) {
    if (!kind.noun.empty()) add(number_of(sweep, verdict, kind, said), kind.noun, kind.adjective);
  }
  add(verdict.open_leaves.size(), "leaf", "suspect");
  add(lists.suspect.size(), "host", "suspect");
  add(suspect_paths(verdict).size(), "path", "suspect");
  const auto is_suspect = [&](std::int32_t host) { return lists.marks[at(host)] == kSuspectMark; };
  const auto more = std::ranges::count_if(verdict.findings, [&](const Finding& finding) {
    return finding.blame == Blame::kUndecided && !is_suspect_path(finding) &&
           std::ranges::none_of(finding.hosts, is_suspect);
  });
  add(at(more), "more finding", "undecided");
  if (parts.empty())
    parts.push_back(verdict.judged == Judged::kUnknown ? why_unknown(sweep, verdict) : "nothing is slow");
  parts.front().front() = static_cast<char>(std::toupper(static_cast<unsigned char>(parts.front().front())));
  return fmt::format("{}{}{}", fmt::join(parts, ", "), of_fine_hosts(sweep, verdict, lists),
                     lists.not_judged.empty() ? "" : fmt::format(", {} not judged", lists.not_judged.size()));
}

std::string blamed_lines(const Sweep& sweep, const Verdict& verdict) {
  const HostLists lists = host_lists(sweep, verdict);
  std::string text;
  for (const auto& [title, list, mark] : kLists) {
    if (!(lists.*list).empty()) text += fmt::format("{}: {}\n", title, listed_names(lists.*list));
  }
  std::set<std::string> said;
  for (const Finding& finding : verdict.findings) {
    const std::string path = path_line(sweep, verdict, finding);
    if (said.insert(path).second) text += path;
  }
  return text;
}

std::string verdict_lines(const Sweep& sweep, const Verdict& verdict) {
  constexpr std::size_t kMostPaths = 50;
  std::string text = blamed_lines(sweep, verdict);
  const std::vector<std::pair<std::int32_t, std::int32_t>> paths = suspect_paths(verdict);
  const std::size_t shown = std::min(paths.size(), kMostPaths);
  for (std::size_t i = 0; i < shown; ++i) text += pair_line(sweep, paths[i].first, paths[i].second, "Suspect path");
  if (paths.size() > shown)
    text += fmt::format("More suspect paths: {}, all of them by --json\n", paths.size() - shown);
  return text;
}

std::string host_name(const Sweep& sweep, std::int32_t host) { return printable(sweep.hosts[at(host)]); }

std::string listed_name(std::string_view name) {
  constexpr std::string_view kSeparators = " ,[]";
  std::string marked(name);
  std::replace_if(
      marked.begin(), marked.end(),
      [&](char character) { return kSeparators.find(character) != std::string_view::npos; }, '\n');
  return printable(marked);
}

std::string listed_names(std::span<const std::string> names) {
  std::vector<std::string> listed;
  std::transform(names.begin(), names.end(), std::back_inserter(listed), listed_name);
  return fold_hosts(listed);
}

std::string hosts_text(const Sweep& sweep, std::span<const std::int32_t> hosts) {
  return listed_names(sweep.names_of(hosts));
}

std::string rails_text(const Sweep& sweep, std::vector<std::int32_t> rails) {
  std::erase(rails, -1);
  std::vector<std::string> names;
  for (const std::int32_t rail : sorted_unique(std::move(rails))) names.push_back(sweep.rails.at(at(rail)));
  if (names.size() == 1) return names[0].empty() ? "a rail without a name" : "rail " + printable(names[0]);
  return names.empty() ? "" : "rails " + listed_names(names);
}

std::string paths_text(const Sweep& sweep, std::vector<std::array<std::int32_t, 2>> paths, bool to) {
  std::vector<std::string> texts;
  while (!paths.empty()) {
    std::map<std::pair<std::size_t, std::int32_t>, std::int64_t> paths_of;  // by place in the pair, and host
    for (const auto& path : paths) {
      for (std::size_t side = 0; side < 2; ++side) ++paths_of[{to ? side : 0, path[side]}];
    }
    const auto hub = std::ranges::max_element(paths_of, {}, [](const auto& each) { return each.second; });
    const auto [side, host] = hub->first;
    std::vector<std::int32_t> others;
    std::erase_if(paths, [&, side = side, host = host](const auto& path) {
      const std::size_t own = to || path[0] == host ? side : 1;
      if (path[own] == host) others.push_back(path[1 - own]);
      return path[own] == host;
    });
    const std::string all = hosts_text(sweep, others);
    const std::string one = host_name(sweep, host);
    texts.push_back(fmt::format("{} {} {}", side == 0 ? one : all, to ? "to" : "-", side == 0 ? all : one));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

bool differ_in_hosts(const Alike& alike) {
  return std::ranges::any_of(alike, [&](const Finding* finding) { return finding->hosts != alike.front()->hosts; });
}

std::string subject_of(const Sweep& sweep, const Alike& alike) {
  std::vector<std::array<std::int32_t, 2>> paths;
  std::vector<std::int32_t> hosts;
  for (const Finding* finding : alike) {
    hosts.insert(hosts.end(), finding->hosts.begin(), finding->hosts.end());
    const std::size_t first = finding->direction == Direction::kReceives ? 1 : 0;
    if (is_path(*finding)) paths.push_back({finding->hosts[first], finding->hosts[1 - first]});
  }
  if (paths.size() < alike.size()) return hosts_text(sweep, sorted_unique(std::move(hosts)));
  return paths_text(sweep, sorted_unique(std::move(paths)), alike.front()->direction != Direction::kBoth);
}

std::string counted_being(std::size_t number, std::string_view noun, std::string_view adjective) {
  const std::string things = noun == "leaf" && number != 1 ? fmt::format("{} leaves", number) : counted(number, noun);
  return fmt::format("{} {} {}", things, number == 1 ? "is" : "are", adjective);
}

}  // namespace fabricbench::cluster
