#include "cluster/report/verdict_text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cluster/report/device_words.h"
#include "cluster/report/finding_words.h"
#include "cluster/report/map_layout.h"
#include "cluster/report/names.h"
#include "cluster/report/verdict_lists.h"
#include "cluster/sorted_unique.h"
#include "common/core/plain_text.h"
#include "common/core/script_command.h"

namespace fabricbench::cluster {
namespace {

// Maximum number of findings in the report; --json has all.
constexpr std::size_t kMostFindings = 20;
constexpr std::size_t kMostFollowUps = 8;
constexpr std::size_t kMostStrata = 24;
constexpr std::size_t kMostSuspectPaths = 50;
constexpr std::size_t kMostAlike = 5;  // of undecided findings of one cause, besides the worst
/// If the rate between leaves is below this share of the rate within, the report has a line on it.
constexpr double kWorthSaying = 0.95;
/// A pair alone below this share of its rate among others is slow for another reason.
constexpr std::string_view kLabelFormat = "    {:<10}  {}\n";

constexpr std::string_view kBad = "\x1b[1;31m";
constexpr std::string_view kDoubtful = "\x1b[1;33m";
constexpr std::string_view kGood = "\x1b[1;32m";
constexpr std::string_view kPlain = "\x1b[0m";

std::string painted(const std::string& text, std::string_view colour, const VerdictStyle& style) {
  return style.colour ? fmt::format("{}{}{}", colour, text, kPlain) : text;
}

std::string_view colour_of(const Verdict& verdict) {
  if (verdict.judged == Judged::kClean) return kGood;
  return verdict.judged == Judged::kSlow ? kBad : kDoubtful;
}

/// The tag in capitals before the sentence of a finding.
std::string_view tag(const Sweep& sweep, const Verdict& verdict, const Finding& finding) {
  switch (finding.blame) {
    case Blame::kHost: return "SLOW HOST";
    case Blame::kNic: return "SLOW NIC";
    case Blame::kPair: return "SLOW PATH";
    case Blame::kLeaf: return verdict.groupings.at(0).is_given ? "SLOW LEAF" : "SLOW GROUP";
    case Blame::kLeafPair: return "SLOW SPINE";
    case Blame::kRail: return has_no_figure(finding) ? "DEAD RAIL" : "SLOW RAIL";
    case Blame::kDevice: return device_tag(sweep, finding);
    case Blame::kAll: return "ALL SLOW";
    case Blame::kTransient: return "UNSTEADY";
    case Blame::kDead: return "DEAD HOST";
    case Blame::kDeadPair: return "DEAD PATH";
    case Blame::kWrongData: return "WRONG DATA";
    case Blame::kCutOff: return "CUT OFF";
    case Blame::kUndecided: break;
  }
  return "CANNOT TELL";
}

std::string line(std::string_view label, std::string_view text) {
  return fmt::format(fmt::runtime(kLabelFormat), label, text);
}

std::string commands_text(const std::vector<NextCommand>& commands) {
  std::string text;
  for (const NextCommand& each : commands) {
    text += line(text.empty() ? "next" : "", fmt::format("{}  # {}", each.command, each.purpose));
  }
  return text;
}

/// The findings behind the worst one of an item, each with its place and extent.
std::string alike_text(const Sweep& sweep, std::span<const Finding* const> alike) {
  const std::size_t shown = std::min(alike.size(), kMostAlike);
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    const Finding& finding = *alike[i];
    text += line(i == 0 ? "also" : "", fmt::format("{}: {}", way_text(sweep, finding), extent(finding)));
  }
  if (const std::size_t more = alike.size() - shown; more > 0) {
    text += line("", fmt::format("and {} more like these; --json has all", more));
  }
  return text;
}

std::string finding_text(const Sweep& sweep, const Verdict& verdict, const Finding& finding,
                         std::span<const Finding* const> alike, const HostLists& lists, const VerdictStyle& style) {
  const std::string_view colour = finding.blame == Blame::kUndecided ? kDoubtful : kBad;
  std::string text =
      fmt::format("\n{}  {}\n", painted(fmt::format("{:<11}", tag(sweep, verdict, finding)), colour, style),
                  sentence(sweep, verdict, finding));
  text += line("how bad", extent(finding));
  if (!finding.reason.empty()) text += line("reason", printable(finding.reason));
  text += line("rests on", evidence(finding));
  text += line("how sure", certainty(finding));
  if (const std::string open = open_follow_up(sweep, verdict, finding); !open.empty()) text += line("to settle", open);
  text += alike_text(sweep, alike);
  return text + commands_text(next_commands(sweep, finding, lists.fine));
}

/// An item of the report: one finding, or all undecided findings of one kind (slow or failed), the worst first.
using Item = std::vector<const Finding*>;

std::vector<Item> items_of(const Verdict& verdict) {
  std::vector<Item> all;
  std::array<std::size_t, 2> undecided{};  // slow, failed: the place in `all` and 1; 0: none yet
  for (const Finding& finding : verdict.findings) {
    std::size_t& known = undecided[has_no_figure(finding) ? 1 : 0];
    if (finding.blame == Blame::kUndecided && known > 0) {
      all[known - 1].push_back(&finding);
      continue;
    }
    all.push_back({&finding});
    if (finding.blame == Blame::kUndecided) known = all.size();
  }
  return all;
}

std::string findings_text(const Sweep& sweep, const Verdict& verdict, const VerdictStyle& style) {
  const HostLists lists = host_lists(sweep, verdict);
  const std::vector<Item> all = items_of(verdict);
  const std::size_t shown = std::min(all.size(), kMostFindings);
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    const std::span<const Finding* const> alike = std::span(all[i]).subspan(1);
    text += finding_text(sweep, verdict, *all[i].front(), alike, lists, style);
  }
  if (const std::size_t more = all.size() - shown; more > 0) {
    text +=
        fmt::format("\nand {}, less bad; --json has all\n", counted(static_cast<std::int64_t>(more), "more finding"));
  }
  return text;
}

std::string pair_line(const Sweep& sweep, std::int32_t host, std::int32_t other, std::string_view title) {
  return fmt::format("{}: {} {}\n", title, listed_name(sweep.hosts[static_cast<std::size_t>(host)]),
                     listed_name(sweep.hosts[static_cast<std::size_t>(other)]));
}

std::string group_for(const Verdict& verdict, std::int32_t group) {
  const Grouping& finest = verdict.groupings.at(0);
  return finest.is_given ? listed_name(finest.groups.at(static_cast<std::size_t>(group)).name)
                         : fmt::format("group-{}", group + 1);
}

std::string leaf_line(const Sweep& sweep, const Verdict& verdict, std::int32_t leaf) {
  const Grouping& finest = verdict.groupings.at(0);
  if (finest.is_given) return fmt::format("Slow leaf: {}\n", group_for(verdict, leaf));
  return fmt::format("Slow group: {}\n", hosts_text(sweep, finest.groups.at(static_cast<std::size_t>(leaf)).hosts));
}

/// The lines for scripts on findings that are no hosts.
std::string path_line(const Sweep& sweep, const Verdict& verdict, const Finding& finding) {
  const auto of_pair = [&](std::string_view title) {
    return pair_line(sweep, finding.hosts.at(0), finding.hosts.at(1), title);
  };
  switch (finding.blame) {
    case Blame::kPair: return of_pair("Slow path");
    case Blame::kDeadPair: return of_pair("Dead path");
    case Blame::kTransient: return finding.hosts.size() == 2 ? of_pair("Unsteady path") : "";
    case Blame::kLeaf: return leaf_line(sweep, verdict, finding.leaf);
    case Blame::kLeafPair:
      return fmt::format("Slow path of leaves: {} {}\n", group_for(verdict, finding.leaf),
                         group_for(verdict, finding.other_leaf));
    case Blame::kRail:
      return fmt::format("{} rail: {}\n", has_no_figure(finding) ? "Dead" : "Slow",
                         listed_name(sweep.rails.at(static_cast<std::size_t>(finding.rail))));
    case Blame::kDevice: return device_line(sweep, finding);
    case Blame::kWrongData: return finding.hosts.size() == 2 ? of_pair("Path with wrong data") : "";
    case Blame::kCutOff:  // they have a list
    case Blame::kAll:     // it is in all hosts' list
    case Blame::kHost:
    case Blame::kNic:
    case Blame::kDead:
    case Blame::kUndecided: break;
  }
  return "";
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

/// The optional columns of the table of strata.
struct Columns {
  bool rails = false;
  bool groups = false;
  bool kinds = false;
  bool both_ways = false;
};

Columns columns_of(const Sweep& sweep, const Verdict& verdict) {
  Columns columns = {sweep.rails.size() > 1, !verdict.groupings.empty(), verdict.kinds.has_value(), false};
  for (const Stratum& stratum : verdict.strata) columns.both_ways |= stratum.both_ways;
  return columns;
}

/// The distance in words: `within a leaf`, `between leaves`; with more levels, `between groups, 2 levels apart`.
std::string distance_text(const Verdict& verdict, const Stratum& stratum) {
  const bool given = verdict.groupings.front().is_given;
  if (stratum.distance == 0) return given ? "within a leaf" : "within a group";
  const std::string text = given ? "between leaves" : "between groups";
  return verdict.groupings.size() < 2 ? text : fmt::format("{}, {} apart", text, counted(stratum.distance, "level"));
}

std::string where_text(const Sweep& sweep, const Verdict& verdict, const Stratum& stratum, const Columns& columns) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (columns.rails) {
    add(fmt::format("rail {} to {}", printable(sweep.rails[static_cast<std::size_t>(stratum.from_rail)]),
                    printable(sweep.rails[static_cast<std::size_t>(stratum.to_rail)])));
  }
  if (columns.groups) add(distance_text(verdict, stratum));
  if (columns.kinds) add(stratum.slow_kind ? "with a slower host" : "of faster hosts");
  if (columns.both_ways) add(stratum.both_ways ? "both directions together" : "one direction");
  return text;
}

std::string strata_text(const Sweep& sweep, const Verdict& verdict) {
  if (verdict.strata.empty()) return "";
  const Columns columns = columns_of(sweep, verdict);
  const std::size_t shown = std::min(verdict.strata.size(), kMostStrata);
  std::vector<std::string> names;
  std::size_t width = 0;
  for (std::size_t i = 0; i < shown; ++i) {
    const Stratum& stratum = verdict.strata[i];
    const std::string where = where_text(sweep, verdict, stratum, columns);
    names.push_back(test_name(sweep, stratum.kind) + (where.empty() ? "" : ", ") + where);
    width = std::max(width, names.back().size());
  }
  std::string text = fmt::format("    {:<{}}  {:>9}  {:>10}  {:>7}\n", "", width, "readings", "usual GB/s", "spread");
  for (std::size_t i = 0; i < shown; ++i) {
    const Stratum& stratum = verdict.strata[i];
    text += fmt::format("    {:<{}}  {:>9}  {:>10}  {:>5.1f} %\n", names[i], width, stratum.readings,
                        gb_per_s(stratum.centre), 100 * stratum.scale);
  }
  const std::size_t more = verdict.strata.size() - shown;
  return more > 0 ? text + fmt::format("    and {} more; --json has all\n", more) : text;
}

constexpr std::size_t kMostGroups = 12;

std::string groups_text(const Sweep& sweep, const Grouping& grouping, std::string_view title) {
  std::string text =
      fmt::format("\n{}: {}, and between them {:.0f} % of the bandwidth within", title,
                  counted(static_cast<std::int64_t>(grouping.groups.size()), "group"), 100 * grouping.across);
  text += fmt::format("; {}\n", chance_in_words(grouping.false_alarm));
  const std::size_t shown = std::min(grouping.groups.size(), kMostGroups);
  for (std::size_t i = 0; i < shown; ++i) {
    text +=
        fmt::format("    {}: {}\n", printable(grouping.groups[i].name), hosts_text(sweep, grouping.groups[i].hosts));
  }
  const std::size_t more = grouping.groups.size() - shown;
  return more > 0 ? text + fmt::format("    and {} more; --json has all\n", more) : text;
}

/// Groups of a locality are not listed; only the rate between its leaves is reported.
std::string given_text(const Grouping& grouping) {
  if (grouping.across > kWorthSaying) return "";
  return fmt::format("\nBetween leaves, a pair reaches {:.0f} % of the bandwidth within a leaf.\n",
                     100 * grouping.across);
}

std::string structure_text(const Sweep& sweep, const Verdict& verdict) {
  std::string text;
  for (const Grouping& grouping : verdict.groupings) {
    text += grouping.is_given ? given_text(grouping) : groups_text(sweep, grouping, "Groups of hosts in the readings");
  }
  if (verdict.contradiction) {
    text += groups_text(sweep, *verdict.contradiction, "The readings contradict --locality; they show other groups");
  }
  if (verdict.near_pairs) {
    const NearPairs& near = *verdict.near_pairs;
    text += fmt::format(
        "\nThere are small groups of near hosts: {} of {} are faster than the others, by {:.0f} %, and in other pairs "
        "their hosts are as fast as all others. To find out which hosts share a group, measure more pairs "
        "(--all-pairs), or give the leaf or rack of each host (--locality).\n",
        near.pairs, counted(near.of, "pair"), 100 * near.faster_by);
  } else if (verdict.groups_are_open && verdict.judged == Judged::kClean) {
    text +=
        "\nToo little was measured to find all groups of near hosts; measure more rounds, or give the leaf or rack of "
        "each host (--locality).\n";
  } else if (verdict.groups_are_open) {
    text +=
        "\nSome pairs are much faster than the others, but too little was measured to tell whether their hosts are "
        "near "
        "each other or all other pairs are slow; measure more rounds, give the leaf or rack of each host "
        "(--locality), or give --expect RATE.\n";
  }
  if (!verdict.kinds) return text;
  const Kinds& kinds = *verdict.kinds;
  const char* way = kinds.direction == Direction::kSends      ? " when they send"
                    : kinds.direction == Direction::kReceives ? " when they receive"
                                                              : "";
  text += fmt::format("\nTwo kinds of hosts{}: {} ({}) at {} GB/s, {} ({}) at {} GB/s. ", way,
                      hosts_text(sweep, kinds.fast), kinds.fast.size(), gb_per_s(kinds.fast_rate),
                      hosts_text(sweep, kinds.slow), kinds.slow.size(), gb_per_s(kinds.slow_rate));
  return text + (kinds.both_suffice
                     ? "Both reach the expected bandwidth.\n"
                     : "The readings cannot show which kind is healthy: decide yourself, or give --expect RATE.\n");
}

std::string shared_links_text(const Verdict& verdict) {
  const SharedLinks& links = verdict.links;
  if (links.readings == 0) return "";
  const std::string text = fmt::format("    {}, slow among others, {} {} GB/s alone and {} GB/s among all others: ",
                                       counted(links.pairs, "pair"), links.pairs == 1 ? "reaches" : "reach",
                                       gb_per_s(links.alone), gb_per_s(links.beside));
  if (!links.are_shared) return text + "other pairs are not the cause.\n";
  return text +
         fmt::format(
             "links are\n    shared. Where all hosts send at once, as in training, these get {:.0f} % of their "
             "bandwidth. Hosts are\n    judged by readings with near hosts, or alone.\n",
             100 * links.beside / links.alone);
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
  text += strata_text(sweep, verdict);
  if (verdict.outliers > 0) {
    text += fmt::format("    Of the readings outside all findings, {:.2g} % are slow.\n", 100 * verdict.outliers);
  }
  return text + shared_links_text(verdict);
}

std::string follow_ups_text(const Sweep& sweep, const Verdict& verdict) {
  if (verdict.follow_ups.empty()) return "";
  std::string text = "\nOpen questions, which more readings would decide:\n";
  std::vector<FollowUp> follow_ups = verdict.follow_ups;
  std::stable_partition(follow_ups.begin(), follow_ups.end(),
                        [](const FollowUp& each) { return each.other >= 0 && !each.of_suspects; });
  const std::size_t shown = std::min(follow_ups.size(), kMostFollowUps);
  for (std::size_t i = 0; i < shown; ++i) {
    const FollowUp& follow_up = follow_ups[i];
    const std::string partner = follow_up.other < 0 ? "any healthy host" : host_name(sweep, follow_up.other);
    text += fmt::format("    {} with {}: {}; {}\n", host_name(sweep, follow_up.host), partner,
                        counted(follow_up.readings, "more reading"), printable(follow_up.why));
  }
  if (verdict.follow_ups.size() > shown)
    text += fmt::format("    and {} more; --json has all\n", verdict.follow_ups.size() - shown);
  return text;
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
  std::string text = painted(headline(sweep, verdict) + ".", colour_of(verdict), style) + "\n";
  text += findings_text(sweep, verdict, style);
  text += structure_text(sweep, verdict);
  text += "\n" + blamed_lines(sweep, verdict);
  text += measured_text(sweep, verdict, settings) + notes_text(verdict) + follow_ups_text(sweep, verdict);
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
