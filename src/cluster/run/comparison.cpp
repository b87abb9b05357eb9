#include "cluster/run/comparison.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/run/history.h"
#include "cluster/run/identity.h"
#include "cluster/run/launch_recorder.h"
#include "common/core/error.h"
#include "common/core/statistics.h"
#include "common/core/wording.h"

namespace fabricbench::baseline {
namespace {

/// Options that only one of the two has are of another version of fabricbench, whose default does the same; so is
/// firmware, which earlier versions do not tell.
bool may_lack(const std::string& key) { return key.starts_with("option ") || key == kInterfaceFirmware; }

std::vector<Difference> differences(const record::Texts& before, const record::Texts& now) {
  std::map<std::string, std::array<const std::string*, 2>> values;
  for (const auto& [key, value] : before) values[key][0] = &value;
  for (const auto& [key, value] : now) values[key][1] = &value;
  std::vector<Difference> found;
  for (const auto& [key, both] : values) {
    const auto [old, young] = both;
    const bool one_lacks_it = old == nullptr || young == nullptr;
    if (one_lacks_it ? may_lack(key) : *old == *young) continue;
    found.push_back({key, old == nullptr ? "" : *old, young == nullptr ? "" : *young});
  }
  return found;
}

/// Whether `allowed` has a key. Options and variables go without `option ` and `variable ` too.
bool is_allowed(const std::vector<std::string>& allowed, const std::string& key) {
  return std::any_of(allowed.begin(), allowed.end(), [&](const std::string& each) {
    return key == each || key == "option " + each || key == "variable " + each;
  });
}

/// The differences that keep two launches from being compared.
std::vector<Difference> obstacles(const std::vector<Difference>& all, const std::vector<std::string>& allowed) {
  std::vector<Difference> found;
  std::copy_if(all.begin(), all.end(), std::back_inserter(found),
               [&](const Difference& each) { return !is_allowed(allowed, each.key); });
  return found;
}

/// The launches of a baseline that a run may be compared with.
struct Selection {
  std::vector<const Launch*> launches;
  std::vector<Difference> obstacles;  // of the most similar launch, if there are no launches
  std::vector<Difference> allowed;
};

bool knows(const std::vector<Difference>& differences, const Difference& one) {
  return std::any_of(differences.begin(), differences.end(),
                     [&](const Difference& other) { return other.key == one.key && other.before == one.before; });
}

/// The launches with the fewest differences that are not allowed; if these have none, those with the fewest of all, so
/// that what differs is only compared where there is nothing better.
Selection select(std::span<const Launch> recorded, const Launch& fresh, const std::vector<std::string>& allowed) {
  Selection selection;
  std::optional<std::pair<std::size_t, std::size_t>> fewest;  // obstacles, and allowed differences
  for (const Launch& launch : recorded) {
    const std::vector<Difference> all = differences(launch.start.identity, fresh.start.identity);
    const std::vector<Difference> left = obstacles(all, allowed);
    const std::pair found(left.size(), all.size());
    if (!fewest || found < *fewest) {
      selection = {};
      selection.obstacles = left;
      fewest = found;
    }
    if (found > *fewest || !left.empty()) continue;
    selection.launches.push_back(&launch);
    for (const Difference& each : all) {
      if (!knows(selection.allowed, each)) selection.allowed.push_back(each);
    }
  }
  return selection;
}

/// Launches without those that are there twice, or that are among `others`: the same file or a copy of it given twice,
/// or a run that was recorded in the baseline that it is held against. Logs print few digits, so that different runs
/// may have equal figures.
std::vector<Launch> each_once(std::span<const Launch> launches, std::span<const Launch> others) {
  const auto is_same = [](const Launch& a, const Launch& b) {
    if (a.text_hash != 0 && b.text_hash != 0) return a.text_hash == b.text_hash;
    return a.start.began == b.start.began && a.start.identity == b.start.identity && a.rows.size() == b.rows.size() &&
           std::equal(a.rows.begin(), a.rows.end(), b.rows.begin(), [](const RowTimes& one, const RowTimes& other) {
             return one.key == other.key && one.time == other.time;
           });
  };
  std::vector<Launch> once;
  for (const Launch& launch : launches) {
    const auto is_there = [&](const Launch& other) { return is_same(launch, other); };
    if (std::none_of(once.begin(), once.end(), is_there) && std::none_of(others.begin(), others.end(), is_there)) {
      once.push_back(launch);
    }
  }
  return once;
}

void check_allowed(std::span<const Launch> recorded, std::span<const Launch> fresh,
                   const std::vector<std::string>& allowed) {
  std::set<std::string> known;
  for (const std::span<const Launch> launches : {recorded, fresh}) {
    for (const Launch& launch : launches) {
      for (const auto& [key, value] : launch.start.identity) known.insert(key);
    }
  }
  for (const std::string& key : allowed) {
    if (key == "program") throw UsageError("--allow program: figures of different programs have nothing in common");
    if (known.contains(key) || known.contains("option " + key) || known.contains("variable " + key)) continue;
    throw UsageError(
        fmt::format("--allow '{}': no launch has such a key; choose from {}", key, fmt::join(known, ", ")));
  }
}

/// How the launches of a run differ from its first one.
std::vector<Difference> differences_within(std::span<const Launch> fresh) {
  std::vector<Difference> found;
  for (const Launch& launch : fresh.subspan(1)) {
    for (const Difference& each : differences(fresh.front().start.identity, launch.start.identity)) {
      if (!knows(found, each)) found.push_back(each);
    }
  }
  return found;
}

/// The occasions of launches, in their order.
std::vector<Occasion> occasions_of(const std::vector<const Launch*>& launches) {
  std::map<std::string, int> numbers;  // of days, and of jobs on them
  const auto number = [&](const std::string& text) {
    return numbers.try_emplace(text, static_cast<int>(numbers.size())).first->second;
  };
  std::vector<Occasion> occasions;
  for (const Launch* launch : launches) {
    const std::string day = day_of(*launch);
    occasions.push_back({number(day + " " + launch->start.allocation), number(day)});
  }
  return occasions;
}

/// The rows of some launches by key, each with the number of its launch.
using FoundRows = std::vector<std::pair<std::size_t, const RowTimes*>>;
using RowTable = std::map<RowKey, FoundRows>;

RowTable table_of(std::span<const Launch* const> launches) {
  RowTable table;
  for (std::size_t launch = 0; launch < launches.size(); ++launch) {
    for (const RowTimes& row : launches[launch]->rows) table[row.key].emplace_back(launch, &row);
  }
  return table;
}

/// The median over launches.
double usual_bandwidth(const FoundRows& rows) {
  std::vector<double> bandwidths;
  bandwidths.reserve(rows.size());
  for (const auto& [launch, row] : rows) bandwidths.push_back(static_cast<double>(row->key.size) / row->time);
  return median(bandwidths);
}

/// By series: half of the highest bandwidth, which is that of a size's median over the launches.
std::map<RowKey, double> half_bandwidths(const RowTable& recorded) {
  std::map<RowKey, double> half;
  for (const auto& [key, rows] : recorded) {
    double& most = half[key.without_size()];
    most = std::max(most, usual_bandwidth(rows) / 2);
  }
  return half;
}

void note_algorithm(const FoundRows& before, const RowTimes& now, RowComparison& row) {
  if (now.algorithm.empty()) return;
  for (const auto& [launch, each] : before) {
    if (each->algorithm.empty() || each->algorithm == now.algorithm) return;
  }
  row.algorithm_before = before.front().second->algorithm;
  row.algorithm = now.algorithm;
}

/// Rows of a series follow each other in the order of their sizes.
std::vector<RowKey> keys_in_order(const RowTable& recorded, const RowTable& fresh, const Launch& first,
                                  std::size_t launches) {
  std::vector<RowKey> keys;
  for (const auto& [key, rows] : fresh) {
    if (rows.size() == launches && recorded.contains(key)) keys.push_back(key);
  }
  std::map<RowKey, std::size_t> place;  // of series, by their first row in the run
  for (const RowTimes& row : first.rows) place.try_emplace(row.key.without_size(), place.size());
  std::sort(keys.begin(), keys.end(), [&](const RowKey& a, const RowKey& b) {
    return std::pair(place[a.without_size()], a.size) < std::pair(place[b.without_size()], b.size);
  });
  return keys;
}

std::vector<GateJudgement> compare_rows(const std::vector<const Launch*>& launches, std::span<const Launch> fresh,
                                        const JudgementSettings& settings, BaselineComparison& comparison) {
  std::vector<const Launch*> young;
  for (const Launch& launch : fresh) young.push_back(&launch);
  const RowTable before = table_of(launches);
  const RowTable now = table_of(young);
  const std::map<RowKey, double> half = half_bandwidths(before);
  std::vector<RowHistory> histories;
  for (const RowKey& key : keys_in_order(before, now, fresh.front(), fresh.size())) {
    RowHistory history;
    const FoundRows& old = before.at(key);
    for (const auto& [launch, row] : old) history.recorded.push_back({row->time, launch});
    for (const auto& [launch, row] : now.at(key)) history.fresh.push_back(row->time);
    RowComparison row;
    row.key = key;
    row.gate = key.size == 0 || usual_bandwidth(old) < half.at(key.without_size()) ? Gate::kLatency : Gate::kBandwidth;
    history.gate = row.gate;
    row.launches = static_cast<std::int64_t>(history.recorded.size());
    row.time = median(history.fresh);
    note_algorithm(old, *now.at(key).front().second, row);
    histories.push_back(std::move(history));
    comparison.rows.push_back(std::move(row));
  }
  for (const auto& [key, rows] : before) {
    const bool is_usual = 2 * rows.size() > launches.size();  // not of a launch with other sizes
    const auto found = now.find(key);
    if (is_usual && (found == now.end() || found->second.size() < fresh.size())) comparison.missing.push_back(key);
  }
  for (const auto& [key, rows] : now) {
    if (!before.contains(key)) comparison.added.push_back(key);
  }
  RunJudgement judged = judge(histories, occasions_of(launches), settings);
  for (std::size_t i = 0; i < comparison.rows.size(); ++i) comparison.rows[i].judgement = judged.rows[i];
  return std::move(judged.gates);
}

/// By how much times have grown over all changes: of all rows together, or of the row with the largest growth.
double largest_slide(const std::vector<HistoryChange>& changes) {
  std::map<std::optional<RowKey>, double> ratios;
  double most = 1;
  for (const HistoryChange& change : changes) ratios.try_emplace(change.key, 1).first->second *= change.ratio;
  for (const auto& [row, ratio] : ratios) most = std::max(most, ratio);
  return most - 1;
}

std::string of_rows(std::size_t some, std::size_t all) {
  return fmt::format("{} of {} row{}", some, all, all == 1 ? "" : "s");
}

/// A share as readers see it: `3.1 %`.
std::string percent_text(double share) { return fmt::format("{:.{}f} %", 100 * share, share < 0.1 ? 1 : 0); }

std::string slower_text(const BaselineComparison& comparison, const std::vector<GateJudgement>& gates) {
  std::vector<std::string> texts;
  double worst = 0;
  std::size_t slower = 0;
  for (const RowComparison& row : comparison.rows) {
    if (row.judgement.verdict != RowVerdict::kSlower) continue;
    worst = std::max(worst, row.judgement.ratio);
    ++slower;
  }
  if (slower > 0) {
    texts.push_back(fmt::format("{} slower than the baseline, the worst takes {:.3g} times as long",
                                of_rows(slower, comparison.rows.size()), worst));
  }
  for (const GateJudgement& gate : gates) {
    if (gate.verdict != RowVerdict::kSlower || (slower > 0 && gate.rows < kFewestTogether)) continue;
    texts.push_back(fmt::format("all {} rows of the {} gate together take {:.3g} times as long", gate.rows,
                                name(gate.gate), gate.ratio));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

/// Why a run that is not slower does not pass either; empty: it passes.
std::string open_text(const BaselineComparison& comparison, const std::vector<GateJudgement>& gates,
                      const JudgementSettings& settings) {
  for (const GateJudgement& gate : gates) {
    if (!gate.bound || gate.verdict != RowVerdict::kUndecided) continue;
    return fmt::format(
        "undecided: of all {} rows of the {} gate together, only a slowdown of {} or more would have been "
        "seen; judge more launches, or record more",
        gate.rows, name(gate.gate), percent_text(*gate.bound));
  }
  const auto is_open = [&](const RowComparison& row) {
    const Judgement& judged = row.judgement;
    return !judged.low || (judged.verdict == RowVerdict::kUndecided && judged.ratio > 1 + settings.wanted &&
                           *judged.low > 1 + settings.ignored);
  };
  const auto open = std::count_if(comparison.rows.begin(), comparison.rows.end(), is_open);
  if (open == 0) return "";
  return fmt::format(
      "{} undecided: slow, but the baseline has such times as well, or knows too few; judge more launches",
      of_rows(static_cast<std::size_t>(open), comparison.rows.size()));
}

std::string pass_text(const BaselineComparison& comparison, const std::vector<GateJudgement>& gates) {
  double together = 0;
  double alone = 0;
  std::size_t faster = 0;
  for (const GateJudgement& gate : gates) together = std::max(together, gate.bound.value_or(0));
  for (const RowComparison& row : comparison.rows) {
    alone = std::max(alone, row.judgement.least_slowdown.value_or(0));
    if (row.judgement.verdict == RowVerdict::kFaster) ++faster;
  }
  return fmt::format(
      "no row is slower than the baseline{}; no slowdown of {} or more of all rows together would have "
      "been missed, nor one of {} of a single row",
      faster > 0 ? fmt::format(", and {} faster", of_rows(faster, comparison.rows.size())) : "", percent_text(together),
      percent_text(alone));
}

void conclude(BaselineComparison& comparison, const std::vector<GateJudgement>& gates,
              const JudgementSettings& settings) {
  const std::size_t rows = comparison.rows.size();
  const double slid = largest_slide(comparison.changes);
  if (std::string slower = slower_text(comparison, gates); !slower.empty()) {
    comparison.exit_status = static_cast<int>(ExitStatus::kTooSlow);
    comparison.headline = std::move(slower);
  } else if (slid > settings.ignored) {
    comparison.exit_status = static_cast<int>(ExitStatus::kTooSlow);
    comparison.headline = fmt::format(
        "no row is slower than the whole baseline, but since its first launches times have grown to {:.3g} times as "
        "much",
        1 + slid);
  } else if (!comparison.missing.empty()) {
    comparison.headline = fmt::format("{} of the baseline have no figure in this run",
                                      of_rows(comparison.missing.size(), comparison.missing.size() + rows));
  } else if (std::cmp_less(comparison.launches, kFewestLaunches)) {
    comparison.headline =
        fmt::format("the baseline has {} comparable launch{}, too few to know its noise; record at least {}",
                    comparison.launches, comparison.launches == 1 ? "" : "es", kFewestLaunches);
  } else if (rows == 0) {
    comparison.headline = "no row of this run is in the baseline";
  } else if (std::string open = open_text(comparison, gates, settings); !open.empty()) {
    comparison.headline = std::move(open);
  } else {
    comparison.exit_status = 0;
    comparison.headline = pass_text(comparison, gates);
  }
}

void refuse(BaselineComparison& comparison) {
  const std::vector<Difference>& found = comparison.differences;
  const bool is_of_ways = std::all_of(found.begin(), found.end(), [](const Difference& each) {
    return each.key == kCarriedBy || each.key == kInterfaces || each.key == kInterfaceFirmware;
  });
  const auto way =
      std::find_if(found.begin(), found.end(), [](const Difference& each) { return each.key == kCarriedBy; });
  if (is_of_ways && way != found.end() && !way->before.empty() && !way->now.empty()) {
    comparison.exit_status = static_cast<int>(ExitStatus::kTooSlow);
    comparison.headline =
        fmt::format("the data went another way than in the baseline: over {} instead of {}", way->now, way->before);
    return;
  }
  std::vector<std::string> keys;
  keys.reserve(found.size());
  for (const Difference& each : found) keys.push_back(each.key);
  comparison.headline = fmt::format("no launch of the baseline is comparable; these differ: {}", fmt::join(keys, ", "));
}

}  // namespace

BaselineComparison compare(std::span<const Launch> recorded, std::span<const Launch> fresh,
                           const ComparisonSettings& settings) {
  check_allowed(recorded, fresh, settings.allowed);
  const std::vector<Launch> run = each_once(fresh, {});
  const std::vector<Launch> baseline = each_once(recorded, run);
  BaselineComparison comparison;
  comparison.exit_status = static_cast<int>(ExitStatus::kNotJudged);
  comparison.fresh = static_cast<std::int64_t>(run.size());
  if (baseline.empty()) {
    comparison.headline = "the baseline has no launch besides the run's own";
    return comparison;
  }
  if (comparison.differences = differences_within(run); !comparison.differences.empty()) {
    refuse(comparison);
    comparison.headline = "the launches of the run are not alike: " + comparison.headline;
    return comparison;
  }
  Selection selection = select(baseline, run.front(), settings.allowed);
  comparison.launches = static_cast<std::int64_t>(selection.launches.size());
  comparison.differences = selection.obstacles;
  comparison.allowed = selection.allowed;
  if (selection.launches.empty()) {
    refuse(comparison);
    return comparison;
  }
  double waited = 0;
  for (const Launch& launch : run) waited = std::max(waited, most_waited(launch));
  if (waited > 0) {
    comparison.headline = waited_text(waited);
    return comparison;
  }
  std::erase_if(selection.launches, [](const Launch* launch) { return most_waited(*launch) > 0; });
  comparison.launches = static_cast<std::int64_t>(selection.launches.size());
  if (selection.launches.empty()) {
    comparison.headline = "in each comparable launch of the baseline ranks waited for a processor";
    return comparison;
  }
  comparison.circumstances =
      differences(selection.launches.back()->start.circumstances, run.front().start.circumstances);
  std::set<std::string> days;
  for (const Launch* launch : selection.launches) days.insert(day_of(*launch));
  comparison.days_known = days.size() > 1;
  const std::vector<GateJudgement> gates = compare_rows(selection.launches, run, settings.judgement, comparison);
  std::vector<RowKey> keys;
  const std::vector<HistoryPoint> points = history_points(selection.launches, run, keys);
  comparison.changes = history_changes(points, keys, settings.judgement.false_alarm);
  conclude(comparison, gates, settings.judgement);
  return comparison;
}

}  // namespace fabricbench::baseline
