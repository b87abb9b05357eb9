#include "cluster/pairs/report/verdict_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/pairs/robust.h"
#include "cluster/pairs/sets.h"
#include "common/core/plain_text.h"
#include "common/core/wording.h"

namespace fabricbench::cluster {
namespace {

/// Maximum number of lines, of a report on at most one fault and of any; VerdictStyle::all has no limit.
constexpr std::size_t kMostLinesOfOne = 25;
constexpr std::size_t kMostLines = 60;

/// A share above it is as good as all.
constexpr double kHardlyLess = 1 - VerdictSettings().tolerance;

/// A part of the report. If the report is too long, it ends after its first lines, `least` or more.
struct Block {
  std::string text;
  std::size_t least = 0;
  std::size_t lines = at(std::ranges::count(text, '\n'));

  [[nodiscard]] std::size_t spare() const { return lines - std::min(lines, least); }
};

std::size_t lines_of(const std::vector<Block>& parts) {
  return std::accumulate(parts.begin(), parts.end(), std::size_t{0},
                         [](std::size_t sum, const Block& part) { return sum + part.lines; });
}

/// Leaves lines out until fewer than `most` are left: of the part with most to spare, then findings from the last one
/// back to the second. Those are the parts behind the headline. The least lines of all other parts are fewer.
std::string fitted(std::vector<Block> parts, std::size_t most, std::size_t findings) {
  const std::size_t all = lines_of(parts);
  while (all > most && lines_of(parts) >= most) {
    const auto longest = std::ranges::max_element(parts, {}, &Block::spare);
    if (longest->spare() > 0)
      --longest->lines;
    else
      parts[findings--].lines = 0;
  }
  std::string text;
  for (const Block& part : parts) {
    std::size_t end = 0;
    for (std::size_t shown = 0; shown < part.lines; ++shown) end = part.text.find('\n', end) + 1;
    text.append(part.text, 0, end);
  }
  const std::size_t more = all - lines_of(parts);
  return more == 0 ? text : text + fmt::format("{} more: --long\n", counted(more, "line"));
}

constexpr std::string_view kBad = "\x1b[1;31m";
constexpr std::string_view kDoubtful = "\x1b[1;33m";
constexpr std::string_view kGood = "\x1b[1;32m";

std::string painted(const std::string& text, std::string_view colour, const VerdictStyle& style) {
  return style.colour ? fmt::format("{}{}\x1b[0m", colour, text) : text;
}

std::string line(std::string_view label, std::string_view text) { return fmt::format("    {:<10}  {}\n", label, text); }

/// The leaf with a finding of its own that another finding is on: a host of it or one of its paths is slow or unsteady.
const Finding* slow_leaf_of(const Verdict& verdict, const Finding& finding) {
  if (!has_deficit(finding) || has_no_figure(finding) || is(finding, kOverDevices)) return nullptr;
  if (is_open(finding) && !is_path(finding)) return nullptr;
  const auto found = std::ranges::find_if(verdict.findings, [&](const Finding& leaf) {
    const auto has = [&](std::int32_t host) { return has_host(leaf_at(verdict, leaf.leaf), host); };
    return is_of_leaf(leaf) && std::ranges::any_of(finding.hosts, has);
  });
  return found == verdict.findings.end() ? nullptr : &*found;
}

double weight_of(const Alike& alike) {
  return std::accumulate(alike.begin(), alike.end(), 0.0,
                         [](double sum, const Finding* finding) { return sum + finding->weight; });
}

/// The findings on a slow leaf, or on none (nullptr), as they are reported.
std::vector<Alike> items_of_leaf(const Sweep& sweep, const Verdict& verdict, const Finding* leaf, bool fold) {
  std::vector<Alike> items;
  for (const Finding& finding : verdict.findings) {
    if (fold && slow_leaf_of(verdict, finding) != leaf) continue;
    const auto known = std::ranges::find_if(
        items, [&](const Alike& item) { return fold && is_alike(sweep, verdict, *item.front(), finding); });
    (known != items.end() ? *known : items.emplace_back()).push_back(&finding);
  }
  for (Alike& item : items) std::ranges::stable_sort(item, {}, &Finding::ratio);
  std::ranges::stable_sort(items, std::ranges::greater(), weight_of);
  return items;
}

/// What a slow leaf explains besides: findings on its hosts and paths, and suspect paths.
std::string within_text(const Sweep& sweep, const Verdict& verdict, const Finding& leaf) {
  std::vector<std::string> texts;
  for (const Alike& each : items_of_leaf(sweep, verdict, &leaf, true))
    texts.push_back(fmt::format("{}; {}", sentence(sweep, verdict, each), extent(sweep, each)));
  std::set<HostPair> suspects;
  for (const FollowUp& each : verdict.follow_ups) {
    if (each.other >= 0 && crosses(leaf_at(verdict, leaf.leaf), each.host, each.other))
      suspects.insert(std::minmax(each.host, each.other));
  }
  if (!suspects.empty()) texts.push_back(counted(suspects.size(), "suspect path") + " to other hosts");
  std::string text;
  for (const std::string& each : texts) text += line(text.empty() ? "with it" : "", each);
  return text;
}

std::string item_text(const Sweep& sweep, const Verdict& verdict, const Alike& alike, const HostLists& lists,
                      const VerdictStyle& style) {
  const Finding& worst = *alike.front();
  const std::string tag = fmt::format("{:<11}", form_of(sweep, verdict, worst).tag);
  std::string text = fmt::format("\n{}  {}\n", painted(tag, is_open(worst) ? kDoubtful : kBad, style),
                                 sentence(sweep, verdict, alike));
  text += line("how bad", extent(sweep, alike));
  if (!worst.reason.empty()) text += line("reason", printable(worst.reason));
  if (is_of_leaf(worst) && !style.all) text += within_text(sweep, verdict, worst);
  text += line("rests on", (alike.size() == 1 ? "" : "of the worst: ") + evidence(worst));
  text += line("how sure", certainty(worst));
  if (const std::string open = open_follow_up(sweep, verdict, worst); !open.empty()) text += line("to settle", open);
  std::string_view label = "next";
  for (const NextCommand& each : next_commands(sweep, verdict, worst, lists.fine))
    text += line(std::exchange(label, ""), fmt::format("{}  # {}", each.command, each.purpose));
  return text;
}

/// By host and host, the median share of the usual rate in the slower direction; where links are shared, of a pair
/// alone.
std::map<std::array<std::int32_t, 2>, double> path_shares(const Sweep& sweep, const Verdict& verdict) {
  std::map<std::array<std::int32_t, 2>, std::vector<double>> of_ways;
  for (std::size_t place = 0; place < std::min(sweep.readings.size(), verdict.usual.size()); ++place) {
    const Reading& reading = sweep.readings[place];
    const bool is_shared = verdict.links.are_shared && reading.concurrent != 1;
    if (is_shared || !has_rate(reading) || verdict.usual[place] <= 0) continue;
    of_ways[{reading.from, reading.to}].push_back(static_cast<double>(reading.rate / verdict.usual[place]));
  }
  std::map<std::array<std::int32_t, 2>, double> lowest;
  for (auto& [direction, shares] : of_ways) {
    const auto [first, second] = std::minmax(direction[0], direction[1]);
    double& share = lowest.try_emplace({first, second}, 1).first->second;
    share = std::min(share, median_of(shares));
  }
  return lowest;
}

/// The share of the usual rate that findings explain of a path: 0 if they are on it, or on more than its hosts; the
/// lowest that they say of its hosts; 1 if there are none.
double explained_share(const Verdict& verdict, const std::array<std::int32_t, 2>& path) {
  double share = is_of_slow_leaf(verdict, path[0], path[1]) ? 0 : 1;
  for (const Finding& finding : verdict.findings) {
    const auto named = std::ranges::count(finding.hosts, path[0]) + std::ranges::count(finding.hosts, path[1]);
    const bool of_path = finding.hosts.size() > 1 && !is(finding, kOverDevices);
    if ((finding.hosts.empty() && !is_of_leaf(finding)) || (of_path && named == 2)) return 0;
    if (!of_path && named > 0) share = std::min(share, finding.ratio);
  }
  return share;
}

/// Paths at less than half of the usual rate, and of what findings on their hosts explain.
std::string unexplained_text(const Sweep& sweep, const Verdict& verdict) {
  if (verdict.judged == Judged::kClean) return "";
  std::vector<std::array<std::int32_t, 2>> paths;
  double least = 1;
  for (const auto& [path, share] : path_shares(sweep, verdict)) {
    if (share >= 0.5 || share >= 0.5 * explained_share(verdict, path)) continue;
    paths.push_back(path);
    least = std::min(least, share);
  }
  if (paths.empty()) return "";
  const std::string number = counted(paths.size(), "path");
  return fmt::format("\nBelow half of the usual bandwidth, and in no finding: {}, the worst at {}: {}\n", number,
                     percent_text(least), paths_text(sweep, std::move(paths), false));
}

/// `under_load`: links are shared, which blurs groups.
std::string groups_text(const Sweep& sweep, const Grouping& grouping, std::string_view title, bool under_load) {
  const std::string across = grouping.groups.size() == 1 ? "behind uplinks of its own"
                                                         : fmt::format("and between them {} of the bandwidth within",
                                                                       percent_text(grouping.across));
  std::string text = fmt::format("\n{}: {}, {}; {}\n", title, counted(grouping.groups.size(), "group"), across,
                                 under_load ? "single hosts may be in the wrong group, since links are shared"
                                            : chance_in_words(grouping.false_alarm));
  for (const Group& group : grouping.groups)
    text += fmt::format("    {}: {}\n", printable(group.name), hosts_text(sweep, group.hosts));
  return text;
}

std::string kinds_text(const Sweep& sweep, const HostKinds& kinds) {
  const auto of = [&](const std::vector<std::int32_t>& hosts, double rate) {
    return fmt::format("{} ({}) at {} GB/s", hosts_text(sweep, hosts), hosts.size(), rate_text(rate));
  };
  return fmt::format("\nTwo kinds of hosts{}: {}, {}. {}\n",
                     kinds.direction == Direction::kSends      ? " when they send"
                     : kinds.direction == Direction::kReceives ? " when they receive"
                                                               : "",
                     of(kinds.fast, kinds.fast_rate), of(kinds.slow, kinds.slow_rate),
                     kinds.both_suffice ? "Both reach the expected bandwidth."
                                        : "The readings cannot show which kind is healthy: decide yourself, or give "
                                          "--expect RATE.");
}

/// Groups and kinds of hosts.
std::string structure_text(const Sweep& sweep, const Verdict& verdict) {
  const std::string_view locality = sweep.leaf_of.empty() ? ", or give the leaf or rack of each host (--locality)" : "";
  std::string text = verdict.kinds ? kinds_text(sweep, *verdict.kinds) : "";
  if (verdict.contradiction)
    text += groups_text(sweep, *verdict.contradiction, "The readings contradict --locality; they show other groups",
                        verdict.links.are_shared);
  for (const Grouping& grouping : verdict.groupings) {
    if (!grouping.is_given)
      text += groups_text(sweep, grouping, "Groups of hosts in the readings", verdict.links.are_shared);
    else if (grouping.across <= kHardlyLess)
      text += fmt::format("\nBetween leaves, a pair reaches {} of the bandwidth within a leaf{}.\n",
                          percent_text(grouping.across), verdict.links.are_shared ? ", among all others" : "");
  }
  if (const auto& near = verdict.near_pairs)
    text += fmt::format(
        "\nThere are small groups of near hosts: {} of {} are {} faster than other pairs of the same hosts. To find "
        "out "
        "which hosts share a group, measure more pairs (--all-pairs){}.\n",
        near->pairs, counted(near->of, "pair"), percent_text(near->faster_by), locality);
  else if (verdict.groups_are_open && verdict.judged == Judged::kClean)
    text +=
        fmt::format("\nToo little was measured to find all groups of near hosts; measure more rounds{}.\n", locality);
  return text;
}

/// What strata that differ in rails only are of: `rdma_write_bw 1 MiB, rails mlx5_[0-7], within a leaf`.
std::string strata_name(const Sweep& sweep, const Verdict& verdict, const std::vector<const Stratum*>& strata) {
  const Stratum& first = *strata.front();
  std::string text = printable(sweep.tests[at(first.test)]);
  const std::string to = first.from_rail == first.to_rail ? "" : " to " + rails_text(sweep, {first.to_rail});
  if (strata.size() > 1 && !to.empty())
    text += ", between different rails";
  else if (sweep.rails.size() > 1)
    text += ", " + rails_text(sweep, strata, &Stratum::from_rail) + to;
  if (first.both_ways) text += ", both directions together";
  if (!verdict.groupings.empty()) {
    const Grouping& groups = verdict.groupings.front();
    const std::string_view group = groups.is_given ? "leaf" : "group";
    if (groups.groups.size() == 1)
      text += first.distance == 0 ? ", not over the uplinks of the group" : ", over the uplinks of the group";
    else
      text += first.distance == 0 ? fmt::format(", within a {}", group) : fmt::format(", to another {}", group);
    if (first.distance > 0 && verdict.groupings.size() > 1)
      text += fmt::format(", {} apart", counted(first.distance, "level"));
  }
  if (verdict.kinds) text += first.slow_kind ? ", with a slower host" : ", of faster hosts";
  return text;
}

/// Whether strata differ in rails only, and in bandwidth by the tolerance at most.
bool differ_in_rails(const Stratum& a, const Stratum& b, double tolerance) {
  const auto key = [](const Stratum& each) {
    return std::tuple(each.test, each.both_ways, each.distance, each.slow_kind, each.from_rail == each.to_rail);
  };
  return key(a) == key(b) && std::abs(a.centre - b.centre) <= tolerance * a.centre;
}

/// The table of what was measured: a line for strata that are alike, or for each of `all`.
std::string strata_text(const Sweep& sweep, const Verdict& verdict, double tolerance, bool all) {
  std::vector<std::vector<const Stratum*>> lines;
  for (const Stratum& stratum : verdict.strata) {
    const auto known = std::ranges::find_if(
        lines, [&](const auto& line) { return !all && differ_in_rails(*line.front(), stratum, tolerance); });
    (known != lines.end() ? *known : lines.emplace_back()).push_back(&stratum);
  }
  std::vector<std::array<std::string, 4>> table{{"", "readings", "usual GB/s", "spread"}};
  for (const std::vector<const Stratum*>& line : lines) {
    std::int64_t readings = 0;
    double sum = 0;
    double scale = 0;
    for (const Stratum* each : line) {
      readings += each->readings;
      sum += static_cast<double>(each->readings) * each->centre;
      scale = std::max(scale, each->scale);
    }
    table.push_back({strata_name(sweep, verdict, line), fmt::format("{}", readings),
                     rate_text(sum / static_cast<double>(readings)), fmt::format("{:.1f} %", 100 * scale)});
  }
  std::size_t width = 0;
  for (const auto& row : table) width = std::max(width, row[0].size());
  std::string text;
  for (const auto& [name, readings, usual, spread] : table)
    text += fmt::format("    {:<{}}  {:>9}  {:>10}  {:>7}\n", name, width, readings, usual, spread);
  return lines.empty() ? "" : text;
}

std::string shared_links_text(const SharedLinks& links) {
  if (links.readings == 0) return "";
  const double share = links.beside / links.alone;
  const bool most_are_slower = share < kHardlyLess;
  std::string text = fmt::format("    {}, slow among others, {} {} GB/s alone and ", counted(links.pairs, "pair"),
                                 links.pairs == 1 ? "reaches" : "reach", rate_text(links.alone));
  if (most_are_slower || links.slowed == 0) {
    text += fmt::format("{} GB/s among all others", rate_text(links.beside));
  } else {
    text += fmt::format("less in {} of {} readings among all others", links.slowed, links.readings);
  }
  if (!links.are_shared)
    return text +
           (links.slowed == 0 && !most_are_slower ? ": other pairs are not the cause.\n" : ", too few to tell why.\n");
  text += ": links are shared.";
  if (most_are_slower) {
    text += fmt::format(" Where all hosts send at once, as in training, these get at most {} of their bandwidth.",
                        percent_text(share));
  }
  return text + "\n    Hosts are judged by readings with near hosts, or alone.\n";
}

std::string measured_text(const Sweep& sweep, const Verdict& verdict, double tolerance, bool all) {
  std::set<std::int32_t> rounds;
  for (const Reading& reading : sweep.readings) rounds.insert(rounds.end(), reading.round);
  std::string text =
      fmt::format("\nMeasured: {} in {}", counted(verdict.readings, "reading"), counted(rounds.size(), "round"));
  if (verdict.failed > 0) text += fmt::format(", {} of them without a figure", verdict.failed);
  if (verdict.wrong > 0) text += fmt::format(", {} with wrong data", verdict.wrong);
  text += fmt::format("; slow means more than {:g} % below the expected bandwidth\n", 100 * tolerance);
  text += strata_text(sweep, verdict, tolerance, all);
  if (verdict.outliers > 0)
    text += fmt::format("    Of the readings outside all findings, {:.2g} % are slow.\n", 100 * verdict.outliers);
  return text + shared_links_text(verdict.links);
}

std::string notes_text(const Verdict& verdict) {
  std::string text;
  for (const std::string& note : verdict.notes) text += fmt::format("    Note: {}\n", printable(note));
  return text;
}

/// The line on follow-ups that differ in rails only.
std::string question_text(const Sweep& sweep, const std::vector<const FollowUp*>& question) {
  const FollowUp& first = *question.front();
  return fmt::format("    {} with {}{}: {}; {}{}\n", host_name(sweep, first.host),
                     first.other < 0 ? "any healthy host" : host_name(sweep, first.other),
                     sweep.rails.size() > 1 ? " over " + rails_text(sweep, question, &FollowUp::rail) : "",
                     counted(first.readings, "more reading"), printable(first.why),
                     question.size() > 1 ? fmt::format(", and {} more like it", question.size() - 1) : "");
}

/// Questions about paths come first. Those on the same hosts are one, and a slow leaf explains those of its paths.
std::string questions_text(const Sweep& sweep, const Verdict& verdict, bool all) {
  std::map<HostPair, std::size_t> known;
  std::vector<std::vector<const FollowUp*>> questions;
  for (const FollowUp& each : verdict.follow_ups) {
    if (!all && each.other >= 0 && is_of_slow_leaf(verdict, each.host, each.other)) continue;
    const auto [place, is_new] = known.try_emplace(std::minmax(each.host, each.other), questions.size());
    if (is_new || all) questions.emplace_back();
    questions[all ? questions.size() - 1 : place->second].push_back(&each);
  }
  std::stable_partition(questions.begin(), questions.end(), [](const std::vector<const FollowUp*>& question) {
    return question.front()->other >= 0 && !question.front()->of_suspects;
  });
  std::string text = questions.empty() ? "" : "\nOpen questions, which more readings would decide:\n";
  for (const std::vector<const FollowUp*>& question : questions) text += question_text(sweep, question);
  return text;
}

}  // namespace

std::vector<Alike> items_of(const Sweep& sweep, const Verdict& verdict, bool fold) {
  return items_of_leaf(sweep, verdict, nullptr, fold);
}

std::string verdict_text(const Sweep& sweep, const Verdict& verdict, const VerdictSettings& settings,
                         const VerdictStyle& style) {
  const HostLists lists = host_lists(sweep, verdict);
  const std::vector<Alike> items = items_of(sweep, verdict, !style.all);
  const std::string_view colour = verdict.judged == Judged::kClean  ? kGood
                                  : verdict.judged == Judged::kSlow ? kBad
                                                                    : kDoubtful;
  std::vector<Block> parts{{painted(headline(sweep, verdict) + ".", colour, style) + "\n", 1}};
  for (const Alike& item : items)
    parts.push_back({item_text(sweep, verdict, item, lists, style), &item == &items.front() ? 6U : 3U});
  parts.push_back({unexplained_text(sweep, verdict), 2});
  parts.push_back({structure_text(sweep, verdict), 3});
  parts.push_back({"\n" + blamed_lines(sweep, verdict), 4});
  parts.push_back({measured_text(sweep, verdict, settings.tolerance, style.all), 4});
  parts.push_back({notes_text(verdict), 1});
  parts.push_back({questions_text(sweep, verdict, style.all), 3});
  const auto faults = std::ranges::count_if(items, [](const Alike& item) { return !is_open(*item.front()); });
  const std::size_t most = style.all ? lines_of(parts) : faults < 2 ? kMostLinesOfOne : kMostLines;
  const std::string text = fitted(std::move(parts), most, items.size());
  return style.map ? text + "\n" + sweep_map(sweep, verdict, style.colour) : text;
}

}  // namespace fabricbench::cluster
