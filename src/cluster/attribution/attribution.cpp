#include "cluster/attribution/attribution.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cluster/attribution/blocks.h"
#include "cluster/attribution/device_readings.h"
#include "cluster/attribution/devices.h"
#include "cluster/attribution/failures.h"
#include "cluster/attribution/faster.h"
#include "cluster/attribution/findings.h"
#include "cluster/attribution/fit.h"
#include "cluster/attribution/groups.h"
#include "cluster/attribution/model.h"
#include "cluster/attribution/near_limit.h"
#include "cluster/attribution/pair_residuals.h"
#include "cluster/attribution/steadiness.h"
#include "cluster/attribution/unit_effects.h"
#include "cluster/quiet.h"
#include "cluster/robust.h"

namespace fabricbench::cluster {
namespace {

/// The failed readings that neither anybody dead nor a pair that never works, or fails now and then, explains, by
/// place.
std::vector<std::int32_t> unexplained_failures(const Sweep& sweep, const Failures& failures,
                                               const FailingPaths& paths) {
  const auto never = never_worked(failures);
  std::set<std::pair<std::int32_t, std::int32_t>> unsteady;  // hosts
  for (const Finding& path : paths.sure) unsteady.insert(std::minmax(path.hosts[0], path.hosts[1]));
  std::vector<std::int32_t> places;
  for (std::size_t i = 0; i < sweep.readings.size(); ++i) {
    const Reading& reading = sweep.readings[i];
    if (reading.outcome != Outcome::kFailed || reading.from == reading.to) continue;
    const std::int32_t from = failures.unit_of(reading.from, reading.from_rail);
    const std::int32_t to = failures.unit_of(reading.to, reading.to_rail);
    const bool is_explained = failures.is_explained(from, to, reading.both_ways) || never.contains({from, to}) ||
                              unsteady.contains(std::minmax(reading.from, reading.to));
    if (!is_explained) places.push_back(static_cast<std::int32_t>(i));
  }
  return places;
}

void count(const Sweep& sweep, Verdict& verdict) {
  for (const Reading& reading : sweep.readings) {
    if (reading.outcome == Outcome::kNotTried) continue;
    ++verdict.readings;
    if (reading.outcome == Outcome::kFailed) ++verdict.failed;
  }
}

void note_noise(const Model& model, Verdict& verdict) {
  for (const Stratum& stratum : model.strata) {
    if (stratum.scale <= kMuchNoise) continue;
    const auto kind = static_cast<std::size_t>(stratum.kind);
    std::string note = fmt::format(
        "readings{} differ by {:.0f} % (standard deviation): little can be seen in so much noise; are there "
        "two kinds of pairs, or is the network busy?",
        kind < model.sweep->kinds.size() ? " of " + model.sweep->kinds[kind] : "", 100 * stratum.scale);
    const bool is_known = std::find(verdict.notes.begin(), verdict.notes.end(), note) != verdict.notes.end();
    if (!is_known) verdict.notes.push_back(std::move(note));
  }
}

void note_drops(const Model& model, Verdict& verdict) {
  if (model.drops.empty()) return;
  const auto lowest = std::min_element(model.drops.begin(), model.drops.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
  verdict.notes.push_back(fmt::format(
      "in {} {} everything was slower, by up to {:.0f} %, and nobody is blamed for it: was the network busy?",
      model.drops.size(), model.drops.size() == 1 ? "round" : "rounds", -100 * std::expm1(lowest->second)));
}

/// What the network as a whole does over time; readings are held against what was usual then.
void note_drift(const Model& model, Verdict& verdict) {
  constexpr double kShort = 0.3;  // of the time: a busy while
  if (model.drift.empty()) return;
  std::vector<double> drift = model.drift;
  const double low = quantile(drift, kShort);
  verdict.lasting_change = -std::expm1(low - quantile(drift, 1 - kShort));
  const auto [lowest, highest] = std::minmax_element(model.drift.begin(), model.drift.end());
  const double change = -std::expm1(*lowest - *highest);
  if (change <= model.settings.tolerance / 2) return;
  verdict.changes_with_time = change;
  verdict.notes.push_back(
      fmt::format("what is usual changes with time, by up to {:.0f} %: a reading is held against what was usual at its "
                  "time",
                  100 * change));
}

void note_apart(const Model& model, const UnitEffects& units, Verdict& verdict) {
  std::string names;
  for (const std::int32_t host : units.apart) {
    const bool blamed = std::any_of(verdict.findings.begin(), verdict.findings.end(), [&](const Finding& finding) {
      return std::find(finding.hosts.begin(), finding.hosts.end(), host) != finding.hosts.end();
    });
    if (!blamed) names += (names.empty() ? "" : ", ") + model.sweep->hosts[static_cast<std::size_t>(host)];
  }
  if (names.empty()) return;
  verdict.notes.push_back(
      fmt::format("slow with the others and fine with each other, so none of them is blamed: {}; name the leaf or rack "
                  "of each host",
                  names));
}

void note_unexplained(Verdict& verdict) {
  if (verdict.outliers <= kMostUnexplained) return;
  verdict.notes.push_back(fmt::format(
      "of the readings that nobody is blamed for, {:.0f} % are slow, and no host, pair or group explains them: more "
      "rounds, or names of leaves or racks, may tell",
      100 * verdict.outliers));
}

/// Where more than half of the hosts are slow now and then, it is the network and none of them.
void keep_exceptions(const Sweep& sweep, std::vector<FlappingHost>& flapping, Verdict& verdict) {
  const auto sure = std::count_if(flapping.begin(), flapping.end(), [](const FlappingHost& host) { return host.sure; });
  if (2 * sure <= static_cast<std::ptrdiff_t>(sweep.hosts.size())) return;
  verdict.notes.push_back(
      fmt::format("{} of {} hosts are slow now and then, so that none of them is blamed: is the network busy at times?",
                  sure, sweep.hosts.size()));
  flapping.clear();
}

/// The share of readings that failed and that nobody is blamed for, of those of hosts that are not unsteady.
double share_failing(const Sweep& sweep, const std::vector<std::int32_t>& unexplained,
                     const std::vector<char>& unsteady, const Verdict& verdict) {
  const auto failing = std::count_if(unexplained.begin(), unexplained.end(), [&](std::int32_t place) {
    const Reading& reading = sweep.readings[static_cast<std::size_t>(place)];
    return unsteady[static_cast<std::size_t>(reading.from)] == 0 && unsteady[static_cast<std::size_t>(reading.to)] == 0;
  });
  return verdict.readings > 0 ? static_cast<double>(failing) / static_cast<double>(verdict.readings) : 0;
}

void note_failing(Verdict& verdict) {
  if (verdict.failing <= kMostFailing) return;
  verdict.notes.push_back(fmt::format(
      "{:.0f} % of the readings failed, and no host or pair explains them; the records say why each of them failed",
      100 * verdict.failing));
}

/// What runs were asked for is no limit here, but readings below it are said.
void note_below_asked(const Sweep& sweep, Verdict& verdict) {
  if (sweep.below_asked == 0) return;
  verdict.below_asked = static_cast<double>(sweep.below_asked) / static_cast<double>(verdict.readings);
  verdict.notes.push_back(
      fmt::format("{} of {} readings are below the least bandwidth that their runs were asked for (status slow in the "
                  "records); here a reading is held against others, or against --expect RATE",
                  sweep.below_asked, verdict.readings));
}

/// Whether no group has half of the hosts or more: then hosts of no group are no exceptions.
bool are_all_alike(const Sweep& sweep, const Verdict& verdict) {
  if (verdict.groupings.empty()) return false;
  const std::vector<Group>& groups = verdict.groupings.back().groups;
  return std::none_of(groups.begin(), groups.end(),
                      [&](const Group& group) { return 2 * group.hosts.size() >= sweep.hosts.size(); });
}

/// Failures that may be chance are left open, but where nothing works at all.
Judged how_far(const Sweep& sweep, const VerdictSettings& settings, const PairEffects& pairs, const Verdict& verdict) {
  const bool any_is_sure = std::any_of(verdict.findings.begin(), verdict.findings.end(), [&](const Finding& finding) {
    const bool may_be_chance =
        finding.rate <= 0 && finding.false_alarm >= settings.false_alarm && verdict.failed < verdict.readings;
    return finding.blame != Blame::kUndecided || !may_be_chance;
  });
  if (any_is_sure) return Judged::kSlow;
  if (!verdict.findings.empty()) return Judged::kUnknown;
  const bool agrees = verdict.outliers <= kMostUnexplained && verdict.failing <= kMostFailing &&
                      verdict.below_asked <= kMostBelowAsked && verdict.lasting_change <= kMostLastingChange &&
                      !verdict.some_are_faster &&
                      (!verdict.groups_are_open || verdict.near_pairs || are_all_alike(sweep, verdict));
  const bool kinds_agree = !verdict.kinds || verdict.kinds->both_suffice;
  const bool all = agrees && verdict.may_stand_apart.empty() && sweep.hosts.size() > 1 && kinds_agree &&
                   verdict.not_judged.empty() && verdict.questions.empty() && !pairs.too_many;
  return all ? Judged::kClean : Judged::kUnknown;
}

/// Slow paths between hosts of which all but one are slow say nothing more.
void drop_paths_within(const std::vector<std::int32_t>& hosts, Verdict& verdict) {
  std::erase_if(verdict.findings, [&](const Finding& finding) {
    return finding.blame == Blame::kPair &&
           std::all_of(finding.hosts.begin(), finding.hosts.end(),
                       [&](std::int32_t host) { return std::binary_search(hosts.begin(), hosts.end(), host); });
  });
}

/// The largest deficit first, of what failed altogether everything; of two alike the one that is decided.
void sort_findings(std::vector<Finding>& findings) {
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    if (a.ratio != b.ratio) return a.ratio < b.ratio;
    return a.blame != Blame::kUndecided && b.blame == Blame::kUndecided;
  });
}

/// What speaks against each host: a finding, and whether there are several.
struct Accusations {
  const Finding* first = nullptr;
  bool several = false;

  void add(const Finding& finding) {
    several = several || (first != nullptr && !is_alike(finding));
    first = &finding;
  }
  /// Of the same hosts, perhaps on another rail or of other readings.
  [[nodiscard]] bool is_alike(const Finding& finding) const {
    return first->blame == finding.blame &&
           std::is_permutation(first->hosts.begin(), first->hosts.end(), finding.hosts.begin(), finding.hosts.end());
  }
};

/// Notes of each pair's hosts whether anything else is said against them.
void set_fine_hosts(Verdict& verdict, std::size_t hosts) {
  std::vector<Accusations> accused(hosts);
  const auto add = [&](const std::vector<std::int32_t>& named, const Finding& finding) {
    for (const std::int32_t host : named) accused[static_cast<std::size_t>(host)].add(finding);
  };
  bool all = false;
  for (const Finding& finding : verdict.findings) {
    all = all || finding.blame == Blame::kRail || finding.blame == Blame::kAll;
    add(finding.hosts, finding);
    for (const std::int32_t leaf : {finding.leaf, finding.other_leaf}) {
      if (leaf >= 0) add(verdict.groupings.at(0).groups.at(static_cast<std::size_t>(leaf)).hosts, finding);
    }
  }
  for (const Question& question : verdict.questions) {
    if (question.other < 0) accused[static_cast<std::size_t>(question.host)].several = true;
  }
  for (const std::int32_t host : verdict.not_judged) accused[static_cast<std::size_t>(host)].several = true;
  if (verdict.kinds && !verdict.kinds->both_suffice) {
    for (const std::int32_t host : verdict.kinds->slow) accused[static_cast<std::size_t>(host)].several = true;
  }
  for (Finding& finding : verdict.findings) {
    if (finding.hosts.size() != 2) continue;
    for (std::size_t side = 0; side < 2; ++side) {
      finding.fine_hosts[side] = !all && !accused[static_cast<std::size_t>(finding.hosts[side])].several;
    }
  }
}

/// Where half of the hosts or more are below what is expected, few are left to be held against: no direction that
/// reaches it is slow.
void keep_what_misses_expectation(const Model& model, UnitEffects& units) {
  if (model.is_too_slow.empty() || model.settings.expected <= 0) return;
  std::erase_if(units.blamed, [&](const UnitEffect& found) {
    const double directions = EffectIds::role(found.effect) == Role::kEither ? 2 : 1;
    return std::exp(found.score.cap) >= directions * model.settings.expected * (1 - model.settings.tolerance);
  });
}

/// A model with what explains its readings.
struct Explained {
  Model model;
  Blocks blocks;
  DeviceReadings over_devices;
  std::vector<SlowDevices> devices;
  UnitEffects units;
};

/// Which partners are slow is known once hosts have been looked at, and which hosts are once devices have.
Explained explain(Model model) {
  Explained all{std::move(model), {}, {}, {}, {}};
  fit_first(all.model);
  all.blocks = find_blocks(all.model);
  all.over_devices = list_devices(all.model);
  all.model.device_effects = static_cast<std::int64_t>(all.over_devices.effects.size());
  all.units = find_units(all.model);
  if (all.over_devices.effects.empty()) return all;
  all.devices = find_devices(all.model, all.over_devices);
  if (!all.devices.empty()) all.units = find_units(all.model);
  return all;
}

/// Makes models of a sweep. Where hosts are is looked at once for each set of readings that is left out.
class ModelMaker {
 public:
  ModelMaker(const Sweep& sweep, const VerdictSettings& settings) : sweep_(sweep), settings_(settings) {}

  [[nodiscard]] Model without(std::vector<char> left_out, bool is_steady) {
    const auto [known, is_new] = structures_.try_emplace(left_out);
    if (is_new) known->second = structure_of(sweep_, settings_, left_out);
    return made_of(known->second, std::move(left_out), is_steady);
  }
  /// Of hosts of which none is nearer to another.
  [[nodiscard]] Model without_structure() {
    Structure none;
    none.is_alone.assign(sweep_.hosts.size(), 0);
    none.is_unplaced.assign(sweep_.hosts.size(), 0);
    none.scale = structures_.at({}).scale;
    return made_of(std::move(none), {}, false);
  }

 private:
  [[nodiscard]] Model made_of(Structure structure, std::vector<char> left_out, bool is_steady) const {
    Model model = make_model(sweep_, settings_, std::move(structure), std::move(left_out));
    model.is_steady = is_steady;
    return model;
  }

  const Sweep& sweep_;
  const VerdictSettings& settings_;
  std::map<std::vector<char>, Structure> structures_;  // by the readings that are left out
};

/// By stratum, what a quarter of its readings do not exceed once what is usual of their time is taken off, as a
/// logarithm; infinite where it has none. Of uplinks that are slow one way, only half of the readings are slow.
std::vector<double> low_rates(const Model& model) {
  constexpr double kQuarter = 0.25;
  std::vector<std::vector<double>> rates(model.strata.size());
  for (const Point& point : model.points) {
    rates[static_cast<std::size_t>(point.stratum)].push_back(point.residual + model.centre_of(point));
  }
  std::vector<double> low;
  low.reserve(rates.size());
  for (std::vector<double>& own : rates) {
    low.push_back(own.empty() ? std::numeric_limits<double>::infinity() : quantile(own, kQuarter));
  }
  return low;
}

/// Whether groups that the readings were to show are hardly there once what is usual of each time is taken off:
/// meetings at a fast time look like that.
bool are_of_time(const Model& model) {
  const std::vector<Nearness>& levels = model.structure.levels;
  if (levels.empty() || levels.front().is_given) return false;
  const std::vector<double> low = low_rates(model);
  double least = 0;  // between groups, over that within one, as a logarithm
  for (std::size_t near = 0; near < low.size(); ++near) {
    if (model.strata[near].distance > 0) continue;
    for (std::size_t far = 0; far < low.size(); ++far) {
      const bool is_far = model.strata[far].distance > 0 && is_alike(model.strata[near], model.strata[far]);
      if (is_far) least = std::min(least, low[far] - model.log_centre[near]);
    }
  }
  return least > std::log(levels.front().across) / 2;
}

/// What is slow over devices says nothing of where hosts are: then that is looked at once more without it.
Explained explain(const Sweep& sweep, ModelMaker& models, bool is_steady) {
  Explained all = explain(models.without({}, is_steady));
  if (all.devices.empty()) return all;
  Explained second = explain(models.without(readings_over(sweep, all.devices), is_steady));
  if (!second.devices.empty()) all = std::move(second);
  if (add_other_ways(all.model, all.over_devices, all.devices)) all.units = find_units(all.model);
  return all;
}

/// By how much what is usual changes from time to time, as a logarithm.
double changes_of(const Model& model) {
  double change = 0;
  for (const auto& [round, drop] : model.drops) change = std::max(change, -drop);
  if (model.drift.empty()) return change;
  const auto [lowest, highest] = std::minmax_element(model.drift.begin(), model.drift.end());
  return std::max(change, *highest - *lowest);
}

/// What is left unexplained of all readings, but of each no more than a half of its rate.
double left_of(const Model& model) {
  constexpr double kMost = 0.7;
  double left = 0;
  for (const Point& point : model.points) {
    left += std::min(std::abs(point.residual - std::min(model.explained(point), 0.0)), kMost);
  }
  return left;
}

/// Readings of rounds differ by time, or by who is in them. Time is believed where it explains more.
Explained explain(const Sweep& sweep, const VerdictSettings& settings) {
  constexpr double kMuchMore = 0.95;
  ModelMaker models(sweep, settings);
  Explained by_time = explain(sweep, models, false);
  if (changes_of(by_time.model) < settings.tolerance) return by_time;
  Explained steady = explain(sweep, models, true);
  if (left_of(by_time.model) >= kMuchMore * left_of(steady.model)) return steady;
  return are_of_time(by_time.model) ? explain(models.without_structure()) : std::move(by_time);
}

/// By reading, what it was held against.
void set_usual(const Model& model, Verdict& verdict) {
  verdict.stratum_of.assign(model.sweep->readings.size(), -1);
  verdict.usual.assign(model.sweep->readings.size(), 0);
  for (const Point& point : model.points) {
    verdict.stratum_of[static_cast<std::size_t>(point.reading)] = point.stratum;
    verdict.usual[static_cast<std::size_t>(point.reading)] = std::exp(point.log_rate - point.residual);
  }
}

/// How pairs alone compare with pairs among many, and whether that leaves open which hosts are near each other.
void compare_alone(const Model& model, Verdict& verdict) {
  verdict.alone = alone_over_together(model, false);
  verdict.alone_between = alone_over_together(model, true);
  if (verdict.alone.ratio >= kHardlyFaster || !any_are_faster(model)) return;
  if (model.sweep->leaf_of.empty()) {
    if (model.structure.levels.empty()) verdict.near_pairs = find_near_pairs(model);
    verdict.some_are_faster = !verdict.groups_are_open && !verdict.near_pairs;
    verdict.groups_are_open = true;
    return;
  }
  verdict.some_are_faster = !verdict.groups_are_open;
  verdict.notes.push_back(
      "some pairs are much faster than others that are as far apart by --locality, and nothing explains it: is the "
      "list right, or are the others slow? --expect RATE tells");
}

}  // namespace

Verdict judge(const Sweep& sweep, const VerdictSettings& settings) {
  Verdict verdict;
  count(sweep, verdict);
  Explained explained = explain(sweep, settings);
  Model& model = explained.model;
  UnitEffects& units = explained.units;
  const Failures failures = find_failures(sweep, model.ids.rails);
  report_dead(sweep, failures, settings.false_alarm, verdict);
  report_parts(sweep, failures, verdict);
  ask_dead_hosts(sweep, failures, verdict);
  report_groups(model, verdict);
  report_small_group(model, verdict);
  std::vector<FlappingHost> flapping = take_unsteady(model, units, verdict);
  report_lone_hosts(model, units, verdict);
  report_blocks(model, explained.blocks, verdict);
  report_devices(explained.devices, verdict);
  report_rails(find_slow_rails(model), verdict);
  keep_what_misses_expectation(model, units);
  report_units(model, units, verdict);
  ask_suspects(model, units, verdict);

  const PairEffects pairs = find_pairs(model, units);
  const FailingPaths failing = find_failing_paths(sweep, failures, settings.false_alarm);
  const std::vector<std::int32_t> unexplained = unexplained_failures(sweep, failures, failing);
  flapping = find_flapping(model, pairs, unexplained, std::move(flapping));
  keep_exceptions(sweep, flapping, verdict);
  report_flapping(model, flapping, verdict);
  std::vector<char> now_and_then(sweep.hosts.size(), 0);
  std::vector<double> slow_share(sweep.hosts.size(), 0);
  for (const FlappingHost& host : flapping) {
    const auto at = static_cast<std::size_t>(host.host);
    now_and_then[at] = host.sure ? 1 : 0;
    if (host.sure) slow_share[at] = static_cast<double>(host.slow) / static_cast<double>(host.meetings);
  }
  report_pairs(model, pairs, slow_share, verdict);
  drop_paths_within(units.mutual_hosts, verdict);
  report_failed_pairs(sweep, failures, now_and_then, settings.false_alarm, verdict);
  report_failing_paths(failing, now_and_then, verdict);
  note_apart(model, units, verdict);

  compare_alone(model, verdict);
  note_noise(model, verdict);
  note_drops(model, verdict);
  note_drift(model, verdict);
  report_near_limit(model, verdict);
  verdict.strata = model.strata;
  report_all(model, verdict);
  set_usual(model, verdict);
  verdict.outliers = share_of_outliers(model, pairs, now_and_then);
  note_unexplained(verdict);
  verdict.failing = share_failing(sweep, unexplained, now_and_then, verdict);
  note_failing(verdict);
  note_below_asked(sweep, verdict);
  verdict.not_judged = find_not_judged(model, failures, units);
  verdict.judged = how_far(sweep, settings, pairs, verdict);
  name_devices(sweep, verdict);
  set_fine_hosts(verdict, sweep.hosts.size());
  sort_findings(verdict.findings);
  return verdict;
}

}  // namespace fabricbench::cluster
