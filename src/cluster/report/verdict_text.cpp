#include "cluster/report/verdict_text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/report/finding_words.h"
#include "cluster/report/map_layout.h"
#include "cluster/report/verdict_lists.h"
#include "cluster/robust.h"
#include "cluster/sorted_unique.h"
#include "common/core/plain_text.h"
#include "common/core/wording.h"

namespace fabricbench::cluster {
namespace {

/// Maximum number of lines, of a report on at most one fault and of any; VerdictStyle::all has no limit.
constexpr std::size_t kMostLinesOfOne = 25;
constexpr std::size_t kMostLines = 60;
constexpr std::size_t kMostSuspectPaths = 50;
/// If the rate between leaves is below this share of the rate within, the report has a line on it.
constexpr double kWorthSaying = 0.95;

constexpr std::string_view kBad = "\x1b[1;31m";
constexpr std::string_view kDoubtful = "\x1b[1;33m";
constexpr std::string_view kGood = "\x1b[1;32m";
constexpr std::string_view kPlain = "\x1b[0m";

/// A part of the report. If the report is too long, it ends after its first lines, mostly `least` or more.
struct Part {
  std::string text;
  std::size_t least = 0;

  [[nodiscard]] std::size_t lines() const {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }
  [[nodiscard]] std::size_t spare(std::size_t divisor) const {
    return lines() - std::min(lines(), (least + divisor - 1) / divisor);
  }
};

std::size_t lines_of(const std::vector<Part>& parts) {
  return std::accumulate(parts.begin(), parts.end(), std::size_t{0},
                         [](std::size_t sum, const Part& part) { return sum + part.lines(); });
}

/// Leaves lines out until at most so many are left: of the part with most to spare, then the parts from `last` back to
/// `first`, then more of all.
std::string fitted(std::vector<Part> parts, std::size_t most, std::size_t first, std::size_t last) {
  const std::size_t all = lines_of(parts);
  const auto shorten = [&](std::size_t divisor) {
    while (lines_of(parts) >= most) {
      const auto longest = std::max_element(parts.begin(), parts.end(), [&](const Part& a, const Part& b) {
        return a.spare(divisor) < b.spare(divisor);
      });
      if (longest->spare(divisor) == 0) return;
      longest->text.erase(longest->text.rfind('\n', longest->text.size() - 2) + 1);
    }
  };
  if (all > most) {
    shorten(1);
    for (; lines_of(parts) >= most && last > first; --last) parts[last].text.clear();
    shorten(2);
    shorten(all);
  }
  const std::size_t shown = lines_of(parts);
  std::string text;
  for (const Part& part : parts) text += part.text;
  return shown == all ? text : text + fmt::format("{} more: --long\n", counted(all - shown, "line"));
}

std::string painted(const std::string& text, std::string_view colour, const VerdictStyle& style) {
  return style.colour ? fmt::format("{}{}{}", colour, text, kPlain) : text;
}

std::string_view colour_of(const Verdict& verdict) {
  if (verdict.judged == Judged::kClean) return kGood;
  return verdict.judged == Judged::kSlow ? kBad : kDoubtful;
}

std::string line(std::string_view label, std::string_view text) { return fmt::format("    {:<10}  {}\n", label, text); }

/// What a slow leaf explains besides: findings on its hosts and paths.
std::string within_text(const Sweep& sweep, const Verdict& verdict, const Item& item) {
  Verdict inner;
  for (const Finding* finding : item.within) inner.findings.push_back(*finding);
  inner.groupings = verdict.groupings;
  std::string text;
  for (const Item& each : items_of(sweep, inner, true)) {
    text += line(text.empty() ? "with it" : "",
                 fmt::format("{}; {}", sentence(sweep, verdict, each.alike), extent(sweep, each.alike)));
  }
  if (item.suspects == 0) return text;
  return text + line(text.empty() ? "with it" : "", counted(item.suspects, "suspect path") + " to other hosts");
}

Part item_part(const Sweep& sweep, const Verdict& verdict, const Item& item, const HostLists& lists,
               const VerdictStyle& style, bool is_first) {
  const Finding& worst = *item.alike.front();
  const std::string_view colour = worst.blame == Blame::kUndecided ? kDoubtful : kBad;
  const std::string_view tag = kind_of(sweep, verdict, worst).tag;
  std::string text = fmt::format("\n{}  {}\n", painted(fmt::format("{:<11}", tag), colour, style),
                                 sentence(sweep, verdict, item.alike));
  text += line("how bad", extent(sweep, item.alike));
  if (!worst.reason.empty()) text += line("reason", printable(worst.reason));
  text += within_text(sweep, verdict, item);
  text += line("rests on", item.alike.size() == 1 ? evidence(worst) : "of the worst: " + evidence(worst));
  text += line("how sure", certainty(worst));
  if (const std::string open = open_follow_up(sweep, verdict, worst); !open.empty()) text += line("to settle", open);
  std::string_view label = "next";
  for (const NextCommand& each : next_commands(sweep, verdict, worst, lists.fine)) {
    text += line(std::exchange(label, ""), fmt::format("{}  # {}", each.command, each.purpose));
  }
  return {text, is_first ? 6U : 3U};
}

/// By host and host, the median share of the usual rate in the slower direction; where links are shared, of a pair
/// alone.
std::map<std::pair<std::int32_t, std::int32_t>, double> path_shares(const Sweep& sweep, const Verdict& verdict) {
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<double>> shares;
  for (std::size_t place = 0; place < std::min(sweep.readings.size(), verdict.usual.size()); ++place) {
    const Reading& reading = sweep.readings[place];
    const bool is_shared = verdict.links.are_shared && reading.concurrent != 1;
    if (is_shared || !has_rate(reading) || verdict.usual[place] <= 0) continue;
    shares[{reading.from, reading.to}].push_back(static_cast<double>(reading.rate / verdict.usual[place]));
  }
  std::map<std::pair<std::int32_t, std::int32_t>, double> lowest;
  for (auto& [path, all] : shares) {
    const double share = median_of(all);
    const auto [known, is_new] = lowest.try_emplace(std::minmax(path.first, path.second), share);
    known->second = std::min(known->second, share);
  }
  return lowest;
}

/// The share of the usual rate that findings explain of a path: 0 if they are on it, or on more than its hosts; the
/// lowest that they say of its hosts; 1 if there are none.
double explained_share(const Verdict& verdict, std::int32_t host, std::int32_t other) {
  double share = is_of_slow_leaf(verdict, host, other) ? 0 : 1;
  for (const Finding& finding : verdict.findings) {
    const auto has = [&](std::int32_t each) {
      return std::find(finding.hosts.begin(), finding.hosts.end(), each) != finding.hosts.end();
    };
    const bool of_more = finding.hosts.empty() && finding.blame != Blame::kLeaf;
    const bool of_path = finding.hosts.size() > 1 && finding.blame != Blame::kDevice;
    if (of_more || (of_path && has(host) && has(other))) return 0;
    if (!of_path && (has(host) || has(other))) share = std::min(share, finding.ratio);
  }
  return share;
}

/// Paths at less than half of the usual rate, and of what findings on their hosts explain.
std::string unexplained_text(const Sweep& sweep, const Verdict& verdict) {
  constexpr double kHalf = 0.5;
  if (verdict.judged == Judged::kClean) return "";
  std::vector<std::array<std::int32_t, 2>> paths;
  double least = 1;
  for (const auto& [path, share] : path_shares(sweep, verdict)) {
    if (share >= kHalf || share >= kHalf * explained_share(verdict, path.first, path.second)) continue;
    paths.push_back({path.first, path.second});
    least = std::min(least, share);
  }
  if (paths.empty()) return "";
  const std::string number = counted(paths.size(), "path");
  return fmt::format("\nBelow half of the usual bandwidth, and in no finding: {}, the worst at {:.0f} %: {}\n", number,
                     100 * least, paths_text(sweep, std::move(paths), false));
}

std::string pair_line(const Sweep& sweep, std::int32_t host, std::int32_t other, std::string_view title) {
  return fmt::format("{}: {} {}\n", title, listed_name(sweep.hosts[static_cast<std::size_t>(host)]),
                     listed_name(sweep.hosts[static_cast<std::size_t>(other)]));
}

/// A group for scripts: its name from a locality, or else its hosts.
std::string group_for(const Sweep& sweep, const Verdict& verdict, std::int32_t group) {
  const Group& named = verdict.groupings.at(0).groups.at(static_cast<std::size_t>(group));
  return verdict.groupings[0].is_given ? listed_name(named.name) : hosts_text(sweep, named.hosts);
}

/// The line for scripts on a finding that is no host; empty: its hosts have a list.
std::string path_line(const Sweep& sweep, const Verdict& verdict, const Finding& finding) {
  const std::string_view title = kind_of(sweep, verdict, finding).title;
  if (title.empty()) return "";
  std::vector<std::string> names;
  for (const std::int32_t leaf : {finding.leaf, finding.other_leaf}) {
    if (leaf >= 0) names.push_back(group_for(sweep, verdict, leaf));
  }
  if (finding.blame == Blame::kRail)
    names.push_back(listed_name(sweep.rails.at(static_cast<std::size_t>(finding.rail))));
  if (finding.blame == Blame::kDevice) {
    for (const std::int32_t place : finding.devices)
      names.push_back(listed_name(sweep.devices.at(static_cast<std::size_t>(place)).id));
  }
  return names.empty() ? pair_line(sweep, finding.hosts.at(0), finding.hosts.at(1), title)
                       : fmt::format("{}: {}\n", title, fmt::join(names, " "));
}

/// The subject of a finding for scripts; hosts are folded.
std::string blamed_lines(const Sweep& sweep, const Verdict& verdict) {
  std::string text;
  const HostLists lists = host_lists(sweep, verdict);
  for (const auto& [title, hosts] : titled(lists)) text += fmt::format("{}: {}\n", title, listed_names(*hosts));
  std::set<std::string> said;  // a path may be slow on several rails
  for (const Finding& finding : verdict.findings) {
    const std::string path = path_line(sweep, verdict, finding);
    if (said.insert(path).second) text += path;
  }
  return text;
}

/// What of a stratum differs between strata: rails, distance, kind of hosts, directions.
std::string stratum_text(const Sweep& sweep, const Verdict& verdict, const Stratum& stratum) {
  std::vector<std::string> parts{printable(sweep.kinds[static_cast<std::size_t>(stratum.kind)])};
  if (sweep.rails.size() > 1)
    parts.push_back(fmt::format("rail {} to {}", printable(sweep.rails[static_cast<std::size_t>(stratum.from_rail)]),
                                printable(sweep.rails[static_cast<std::size_t>(stratum.to_rail)])));
  if (!verdict.groupings.empty()) {
    const bool given = verdict.groupings.front().is_given;
    parts.emplace_back(stratum.distance == 0 ? (given ? "within a leaf" : "within a group")
                                             : (given ? "between leaves" : "between groups"));
    if (stratum.distance > 0 && verdict.groupings.size() > 1)
      parts.push_back(counted(stratum.distance, "level") + " apart");
  }
  if (verdict.kinds) parts.emplace_back(stratum.slow_kind ? "with a slower host" : "of faster hosts");
  if (std::any_of(verdict.strata.begin(), verdict.strata.end(), [](const Stratum& each) { return each.both_ways; }))
    parts.emplace_back(stratum.both_ways ? "both directions together" : "one direction");
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string strata_text(const Sweep& sweep, const Verdict& verdict) {
  if (verdict.strata.empty()) return "";
  std::vector<std::string> names;
  std::size_t width = 0;
  for (const Stratum& stratum : verdict.strata) {
    names.push_back(stratum_text(sweep, verdict, stratum));
    width = std::max(width, names.back().size());
  }
  std::string text = fmt::format("    {:<{}}  {:>9}  {:>10}  {:>7}\n", "", width, "readings", "usual GB/s", "spread");
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Stratum& stratum = verdict.strata[i];
    text += fmt::format("    {:<{}}  {:>9}  {:>10}  {:>5.1f} %\n", names[i], width, stratum.readings,
                        gb_per_s(stratum.centre), 100 * stratum.scale);
  }
  return text;
}

Part groups_part(const Sweep& sweep, const Grouping& grouping, std::string_view title) {
  std::string text = fmt::format("\n{}: {}, and between them {:.0f} % of the bandwidth within; {}\n", title,
                                 counted(grouping.groups.size(), "group"), 100 * grouping.across,
                                 chance_in_words(grouping.false_alarm));
  for (const Group& group : grouping.groups)
    text += fmt::format("    {}: {}\n", printable(group.name), hosts_text(sweep, group.hosts));
  return {text, 4};
}

std::string kinds_text(const Sweep& sweep, const Kinds& kinds) {
  const char* way = kinds.direction == Direction::kSends      ? " when they send"
                    : kinds.direction == Direction::kReceives ? " when they receive"
                                                              : "";
  const std::string text = fmt::format("\nTwo kinds of hosts{}: {} ({}) at {} GB/s, {} ({}) at {} GB/s. ", way,
                                       hosts_text(sweep, kinds.fast), kinds.fast.size(), gb_per_s(kinds.fast_rate),
                                       hosts_text(sweep, kinds.slow), kinds.slow.size(), gb_per_s(kinds.slow_rate));
  return text + (kinds.both_suffice
                     ? "Both reach the expected bandwidth.\n"
                     : "The readings cannot show which kind is healthy: decide yourself, or give --expect RATE.\n");
}

void add_structure(const Sweep& sweep, const Verdict& verdict, std::vector<Part>& parts) {
  const bool is_given = !sweep.leaf_of.empty();
  for (const Grouping& grouping : verdict.groupings) {
    if (!grouping.is_given) {
      parts.push_back(groups_part(sweep, grouping, "Groups of hosts in the readings"));
    } else if (grouping.across <= kWorthSaying) {
      parts.push_back({fmt::format("\nBetween leaves, a pair reaches {:.0f} % of the bandwidth within a leaf.\n",
                                   100 * grouping.across),
                       2});
    }
  }
  if (verdict.contradiction) {
    parts.push_back(
        groups_part(sweep, *verdict.contradiction, "The readings contradict --locality; they show other groups"));
  }
  std::string text;
  if (verdict.near_pairs) {
    const NearPairs& near = *verdict.near_pairs;
    text = fmt::format(
        "\nThere are small groups of near hosts: {} of {} are faster than the others, by {:.0f} %, and in other pairs "
        "their hosts are as fast as all others. To find out which hosts share a group, measure more pairs "
        "(--all-pairs){}.\n",
        near.pairs, counted(near.of, "pair"), 100 * near.faster_by,
        is_given ? "" : ", or give the leaf or rack of each host (--locality)");
  } else if (verdict.groups_are_open && verdict.judged == Judged::kClean) {
    text = fmt::format("\nToo little was measured to find all groups of near hosts; measure more rounds{}.\n",
                       is_given ? "" : ", or give the leaf or rack of each host (--locality)");
  }
  if (verdict.kinds) text += kinds_text(sweep, *verdict.kinds);
  if (!text.empty()) parts.push_back({text, 4});
}

std::string shared_links_text(const Verdict& verdict) {
  constexpr double kHardlyLess = 0.95;
  const SharedLinks& links = verdict.links;
  if (links.readings == 0) return "";
  const double share = links.beside / links.alone;
  const std::string text = fmt::format("    {}, slow among others, {} {} GB/s alone and {} GB/s among all others",
                                       counted(links.pairs, "pair"), links.pairs == 1 ? "reaches" : "reach",
                                       gb_per_s(links.alone), gb_per_s(links.beside));
  if (!links.are_shared) return text + (links.slowed == 0 ? ": other pairs are not the cause.\n" : ".\n");
  const std::string judged = "Hosts are\n    judged by readings with near hosts, or alone.\n";
  if (share >= kHardlyLess) return text + ",\n    but less at times: links are shared. " + judged;
  return text + fmt::format(
                    ": links are\n    shared. Where all hosts send at once, as in training, these get {:.0f} % of "
                    "their bandwidth. {}",
                    100 * share, judged);
}

std::int64_t rounds_of(const Sweep& sweep) {
  std::vector<std::int32_t> rounds;
  for (const Reading& reading : sweep.readings) {
    if (rounds.empty() || rounds.back() != reading.round) rounds.push_back(reading.round);
  }
  return static_cast<std::int64_t>(sorted_unique(std::move(rounds)).size());
}

std::string measured_text(const Sweep& sweep, const Verdict& verdict, const VerdictSettings& settings) {
  std::string text =
      fmt::format("\nMeasured: {} in {}", counted(verdict.readings, "reading"), counted(rounds_of(sweep), "round"));
  if (verdict.failed > 0) text += fmt::format(", {} of them without a figure", verdict.failed);
  if (verdict.wrong > 0) text += fmt::format(", {} with wrong data", verdict.wrong);
  text += fmt::format("; slow means more than {:g} % below the expected bandwidth\n", 100 * settings.tolerance);
  return text;
}

/// Follow-ups on the same hosts are one, with their rails.
std::string follow_ups_text(const Sweep& sweep, const Verdict& verdict, const VerdictStyle& style) {
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<const FollowUp*>> alike;
  std::vector<std::vector<const FollowUp*>> questions;
  for (const FollowUp& each : verdict.follow_ups) {
    if (style.all) questions.push_back({&each});
    if (style.all || (each.other >= 0 && is_of_slow_leaf(verdict, each.host, each.other))) continue;
    if (alike[{each.host, each.other}].empty()) questions.push_back({&each});
    alike[{each.host, each.other}].push_back(&each);
  }
  std::stable_partition(questions.begin(), questions.end(), [](const std::vector<const FollowUp*>& question) {
    return question.front()->other >= 0 && !question.front()->of_suspects;
  });
  std::string text = questions.empty() ? "" : "\nOpen questions, which more readings would decide:\n";
  for (auto& question : questions) {
    const FollowUp& first = *question.front();
    if (!style.all) question = alike.at({first.host, first.other});
    std::set<std::string> rails;
    for (const FollowUp* each : question) rails.insert(sweep.rails.at(static_cast<std::size_t>(each->rail)));
    const std::vector<std::string> names(rails.begin(), rails.end());
    text += fmt::format("    {} with {}{}: {}; {}{}\n", host_name(sweep, first.host),
                        first.other < 0 ? "any healthy host" : host_name(sweep, first.other),
                        sweep.rails.size() > 1 ? " over " + listed_names(names) : "",
                        counted(first.readings, "more reading"), printable(first.why),
                        question.size() > 1 ? fmt::format(", and {} more like it", question.size() - 1) : "");
  }
  return text;
}

/// The share of slow readings that nothing explains.
std::string shares_text(const Verdict& verdict) {
  if (verdict.outliers <= 0) return "";
  return fmt::format("    Of the readings outside all findings, {:.2g} % are slow.\n", 100 * verdict.outliers);
}

/// The notes of the verdict.
std::string notes_text(const Verdict& verdict) {
  std::string text;
  for (const std::string& note : verdict.notes) text += fmt::format("    Note: {}\n", printable(note));
  return text;
}

}  // namespace

std::string verdict_text(const Sweep& sweep, const Verdict& verdict, const VerdictSettings& settings,
                         const VerdictStyle& style) {
  const HostLists lists = host_lists(sweep, verdict);
  const std::vector<Item> items = items_of(sweep, verdict, !style.all);
  std::vector<Part> parts{{painted(headline(sweep, verdict) + ".", colour_of(verdict), style) + "\n", 1}};
  for (const Item& item : items)
    parts.push_back(item_part(sweep, verdict, item, lists, style, &item == &items.front()));
  parts.push_back({unexplained_text(sweep, verdict), 2});
  add_structure(sweep, verdict, parts);
  parts.push_back({"\n" + blamed_lines(sweep, verdict), 9});
  parts.push_back({measured_text(sweep, verdict, settings), 2});
  parts.push_back({strata_text(sweep, verdict), 3});
  parts.push_back({shares_text(verdict) + shared_links_text(verdict), 3});
  parts.push_back({notes_text(verdict), 1});
  parts.push_back({follow_ups_text(sweep, verdict, style), 3});
  const auto faults = std::count_if(items.begin(), items.end(),
                                    [](const Item& item) { return item.alike.front()->blame != Blame::kUndecided; });
  const std::size_t most = style.all ? lines_of(parts) : faults < 2 ? kMostLinesOfOne : kMostLines;
  std::string text = fitted(std::move(parts), most, 1, items.size());
  if (style.map) text += "\n" + sweep_map(sweep, verdict, style.colour);
  return text;
}

std::string verdict_lines(const Sweep& sweep, const Verdict& verdict) {
  std::string text = blamed_lines(sweep, verdict);
  const std::vector<std::pair<std::int32_t, std::int32_t>> paths = suspect_paths(verdict);
  const std::size_t shown = std::min(paths.size(), kMostSuspectPaths);
  for (std::size_t i = 0; i < shown; ++i) text += pair_line(sweep, paths[i].first, paths[i].second, "Suspect path");
  if (paths.size() > shown)
    text += fmt::format("More suspect paths: {}, all of them by --json\n", paths.size() - shown);
  return text;
}

}  // namespace fabricbench::cluster
