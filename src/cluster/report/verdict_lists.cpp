#include "cluster/report/verdict_lists.h"

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

#include "cluster/hosts/host_folding.h"
#include "cluster/report/finding_words.h"
#include "common/core/plain_text.h"
#include "common/core/wording.h"

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

bool has_blame(const Verdict& verdict, Blame blame) {
  return std::any_of(verdict.findings.begin(), verdict.findings.end(),
                     [&](const Finding& finding) { return finding.blame == blame; });
}

/// Adds the phrase on a kind of findings: `2 paths are slow`. Several findings on one thing count once, and so does a
/// host in `said`, which findings of other kinds named.
void add_phrase(const Sweep& sweep, const Verdict& verdict, const FindingKind& kind, std::set<std::int32_t>& said,
                std::vector<std::string>& parts) {
  const bool of_hosts = kind.hosts != &HostLists::fine;
  const std::size_t before = said.size();
  std::set<std::tuple<std::vector<std::int32_t>, std::int32_t, std::int32_t, std::int32_t>> things;
  for (const Finding& finding : verdict.findings) {
    if (&kind_of(sweep, verdict, finding) != &kind) continue;
    if (of_hosts) said.insert(finding.hosts.begin(), finding.hosts.end());
    std::vector<std::int32_t> which = finding.blame == Blame::kDevice ? finding.devices : finding.hosts;
    std::sort(which.begin(), which.end());
    things.emplace(std::move(which), finding.leaf, finding.other_leaf,
                   finding.blame == Blame::kRail ? finding.rail : -1);
  }
  const std::size_t number = of_hosts ? said.size() - before : things.size();
  const std::size_t form = number == 1 ? 0 : 1;
  if (number > 0) parts.push_back(fmt::format("{} {} {}", number, kind.nouns[form], kind.predicates[form]));
}

void add(std::vector<std::string>& parts, std::size_t number, std::string_view thing, std::string_view is) {
  if (number > 0) parts.push_back(fmt::format("{} {} {}", counted(number, thing), number == 1 ? "is" : "are", is));
}

bool is_undecided_pair(const Finding& finding) {
  return finding.blame == Blame::kUndecided && finding.hosts.size() == 2;
}

/// Whether only the path between two hosts may be to blame.
bool is_suspect_path(const Finding& finding) {
  return is_undecided_pair(finding) && finding.fine_hosts[0] && finding.fine_hosts[1];
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
  if (verdict.many_slow_pairs || verdict.outliers > most_unexplained(verdict)) {
    return fmt::format("{:.2g} % of the readings are slow, and no host stands out", 100 * verdict.outliers);
  }
  if (verdict.failing > kMostFailing) return "Many readings failed, and nothing explains them";
  if (sweep.not_understood > 0)
    return counted(sweep.not_understood, "file") + (sweep.not_understood == 1 ? " was" : " were") + " not understood";
  if (verdict.below_asked > kMostBelowAsked) return "Many readings are below the --min-bandwidth of their runs";
  if (verdict.lasting_change > kMostLastingChange)
    return "The usual bandwidth changed too much during the sweep to tell which level is healthy";
  if (verdict.some_are_faster) return "Some pairs are much faster than others, and the readings do not tell why";
  if (verdict.groups_are_open && !verdict.near_pairs) return "It is open which hosts are near each other";
  const std::size_t missing = verdict.not_judged.size();
  const bool scatters = missing > 0 && std::any_of(verdict.strata.begin(), verdict.strata.end(),
                                                   [](const Stratum& each) { return each.scale > kMuchNoise; });
  if (scatters) return "Readings scatter too much to judge";
  if (missing == 0 || 2 * missing > sweep.hosts.size()) return "Too little was measured to judge";
  return fmt::format("Too little was measured of {}", counted(missing, "host"));
}

/// `; 63 of 64 hosts are fine`. Nothing of the kind if the verdict is unknown for reasons that no host has.
std::string of_fine_hosts(const Sweep& sweep, const Verdict& verdict, const HostLists& lists) {
  const std::size_t hosts = sweep.hosts.size();
  if (lists.fine.size() == hosts && verdict.judged == Judged::kUnknown) return "";
  if (lists.fine.size() == hosts) return fmt::format("; all {} are fine", counted(hosts, "host"));
  return fmt::format("; {} of {} {} fine", lists.fine.size(), counted(hosts, "host"),
                     lists.fine.size() == 1 ? "is" : "are");
}

bool has_leaf(const Verdict& verdict, const Finding& leaf, std::int32_t host) {
  const auto& hosts = verdict.groupings.at(0).groups.at(static_cast<std::size_t>(leaf.leaf)).hosts;
  return std::find(hosts.begin(), hosts.end(), host) != hosts.end();
}

/// Whether a path takes the uplinks of a leaf.
bool crosses(const Verdict& verdict, const Finding& leaf, std::int32_t host, std::int32_t other) {
  return has_leaf(verdict, leaf, host) != has_leaf(verdict, leaf, other);
}

/// The leaf with a finding of its own that another finding is on: a host of it or one of its paths is slow or unsteady.
const Finding* slow_leaf_of(const Sweep& sweep, const Verdict& verdict, const Finding& finding) {
  const FindingKind& kind = kind_of(sweep, verdict, finding);
  const bool of_host = kind.hosts == &HostLists::slow || kind.hosts == &HostLists::unsteady;
  const bool of_path = is_path(finding) && finding.blame != Blame::kWrongData;
  if ((!of_host && !of_path) || has_no_figure(finding)) return nullptr;
  const auto found = std::find_if(verdict.findings.begin(), verdict.findings.end(), [&](const Finding& leaf) {
    return leaf.blame == Blame::kLeaf && std::any_of(finding.hosts.begin(), finding.hosts.end(),
                                                     [&](std::int32_t host) { return has_leaf(verdict, leaf, host); });
  });
  return found == verdict.findings.end() ? nullptr : &*found;
}

/// Whether a finding is reported together with a worse one.
bool is_alike(const Sweep& sweep, const Verdict& verdict, const Finding& worst, const Finding& finding) {
  const FindingKind& kind = kind_of(sweep, verdict, worst);
  const bool folds = kind.hosts != &HostLists::fine || finding.hosts.size() == 2;
  if (!folds || &kind != &kind_of(sweep, verdict, finding) || finding.blame == Blame::kDevice) return false;
  if (finding.blame == Blame::kUndecided) return has_no_figure(worst) == has_no_figure(finding);
  return worst.direction == finding.direction && worst.rail == finding.rail && worst.reason == finding.reason &&
         2 * (1 - finding.ratio) >= 1 - worst.ratio;
}

double weight_of(const Item& item) {
  double weight = 0;
  for (const Finding* finding : item.alike) weight += finding->weight;
  return weight;
}

}  // namespace

std::string host_name(const Sweep& sweep, std::int32_t host) {
  return printable(sweep.hosts[static_cast<std::size_t>(host)]);
}

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
  listed.reserve(names.size());
  std::transform(names.begin(), names.end(), std::back_inserter(listed), listed_name);
  return fold_hosts(listed);
}

std::string hosts_text(const Sweep& sweep, std::span<const std::int32_t> hosts) {
  std::vector<std::string> names;
  for (const std::int32_t host : hosts) names.push_back(sweep.hosts[static_cast<std::size_t>(host)]);
  return listed_names(names);
}

std::string paths_text(const Sweep& sweep, std::vector<std::array<std::int32_t, 2>> paths, bool to) {
  std::vector<std::string> texts;
  while (!paths.empty()) {
    std::map<std::pair<std::size_t, std::int32_t>, std::int64_t> paths_of;  // by place in the pair, and host
    for (const auto& path : paths) {
      for (std::size_t side = 0; side < 2; ++side) ++paths_of[{to ? side : 0, path[side]}];
    }
    const auto hub = std::max_element(paths_of.begin(), paths_of.end(),
                                      [](const auto& a, const auto& b) { return a.second < b.second; });
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

HostLists host_lists(const Sweep& sweep, const Verdict& verdict) {
  const bool all_are_slow = has_blame(verdict, Blame::kAll);
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
      put(finding.hosts[i], cleared ? &HostLists::fine : kind_of(sweep, verdict, finding).hosts);
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
  constexpr std::array<std::string_view, 8> kTitles = {"Dead",     "Cut off", "Wrong data", "Slow",
                                                       "Unsteady", "Suspect", "Not judged", "Fine"};
  std::vector<std::pair<std::string_view, const std::vector<std::string>*>> all;
  for (const std::size_t place : {3U, 0U, 1U, 2U, 4U, 5U, 6U, 7U}) {
    if (!(lists.*kLists[place]).empty()) all.emplace_back(kTitles[place], &(lists.*kLists[place]));
  }
  return all;
}

std::vector<Item> items_of(const Sweep& sweep, const Verdict& verdict, bool fold) {
  std::vector<Item> items;
  std::map<const Finding*, std::vector<const Finding*>> of_leaves;
  for (const Finding& finding : verdict.findings) {
    if (const Finding* leaf = fold ? slow_leaf_of(sweep, verdict, finding) : nullptr) {
      of_leaves[leaf].push_back(&finding);
      continue;
    }
    const auto known = std::find_if(items.begin(), items.end(), [&](const Item& item) {
      return fold && is_alike(sweep, verdict, *item.alike.front(), finding);
    });
    (known != items.end() ? *known : items.emplace_back()).alike.push_back(&finding);
  }
  if (!fold) return items;
  for (Item& item : items) {
    const Finding& worst = *item.alike.front();
    item.within = of_leaves[&worst];
    for (const FollowUp& each : verdict.follow_ups) {
      const bool is_path = worst.blame == Blame::kLeaf && each.other >= 0;
      item.suspects += is_path && crosses(verdict, worst, each.host, each.other) ? 1 : 0;
    }
    std::stable_sort(item.alike.begin(), item.alike.end(),
                     [](const Finding* a, const Finding* b) { return a->ratio < b->ratio; });
  }
  std::stable_sort(items.begin(), items.end(),
                   [](const Item& a, const Item& b) { return weight_of(a) > weight_of(b); });
  return items;
}

bool is_of_slow_leaf(const Verdict& verdict, std::int32_t host, std::int32_t other) {
  return std::any_of(verdict.findings.begin(), verdict.findings.end(), [&](const Finding& finding) {
    return finding.blame == Blame::kLeaf && crosses(verdict, finding, host, other);
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
  for (const FollowUp& follow_up : verdict.follow_ups) {
    if (follow_up.other < 0 || follow_up.of_suspects || is_of_slow_leaf(verdict, follow_up.host, follow_up.other))
      continue;
    if (!named.insert(std::minmax(follow_up.host, follow_up.other)).second) continue;
    paths.emplace_back(follow_up.host, follow_up.other);
  }
  return paths;
}

std::string headline(const Sweep& sweep, const Verdict& verdict) {
  const HostLists lists = host_lists(sweep, verdict);
  std::vector<std::string> parts;
  if (verdict.kinds && !verdict.kinds->both_suffice) parts.emplace_back("there are two kinds of hosts");
  if (has_blame(verdict, Blame::kAll)) parts.emplace_back("everything is slower than expected");
  std::set<std::int32_t> said;
  for (const FindingKind& kind : finding_kinds()) {
    if (!kind.nouns[0].empty()) add_phrase(sweep, verdict, kind, said, parts);
  }
  add(parts, lists.suspect.size(), "host", "suspect");
  add(parts, suspect_paths(verdict).size(), "path", "suspect");
  add(parts, undecided_besides(sweep, verdict, lists), "more finding", "undecided");
  if (parts.empty() && verdict.judged == Judged::kUnknown) parts.push_back(why_unknown(sweep, verdict));
  if (parts.empty()) parts.emplace_back("nothing is slow");
  parts.front().front() = static_cast<char>(std::toupper(static_cast<unsigned char>(parts.front().front())));
  std::string text = fmt::format("{}{}", fmt::join(parts, ", "), of_fine_hosts(sweep, verdict, lists));
  if (!lists.not_judged.empty()) text += fmt::format(", {} not judged", lists.not_judged.size());
  return text;
}

}  // namespace fabricbench::cluster
