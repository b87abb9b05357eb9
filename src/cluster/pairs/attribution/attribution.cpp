#include "cluster/pairs/attribution/attribution.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cluster/pairs/attribution/devices.h"
#include "cluster/pairs/attribution/failures.h"
#include "cluster/pairs/attribution/findings.h"
#include "cluster/pairs/attribution/links.h"
#include "cluster/pairs/attribution/model.h"
#include "cluster/pairs/attribution/units.h"
#include "cluster/pairs/robust.h"
#include "cluster/pairs/sets.h"
#include "cluster/pairs/thresholds.h"
#include "common/core/wording.h"

namespace fabricbench::cluster {
namespace {

/// A model, and what explains its readings.
struct Explained {
  Model model;
  std::vector<Finding> slow_leaves;
  std::set<std::int32_t> open_leaves;  ///< SlowLeaves::open
  std::vector<char> slow_lately;       ///< by host (Loaded::slow_lately); empty where no links are shared
  std::vector<SlowDevices> devices;
  UnitEffects units;
};

/// Finds units and devices. Devices need to know which partners are slow, and units are found again if devices explain
/// some of their readings.
Explained explain(Model model, const SlowLeaves& leaves) {
  Explained all{std::move(model), leaves.findings, leaves.open, {}, {}, {}};
  fit_first(all.model);
  const DeviceReadings over_devices = list_devices(all.model);
  all.model.device_effects = static_cast<std::int64_t>(over_devices.effects.size());
  all.units = find_units(all.model);
  if (over_devices.effects.empty()) return all;
  all.devices = find_devices(all.model, over_devices);
  if (!all.devices.empty()) all.units = find_units(all.model);
  return all;
}

/// Explains a sweep. The structure is found without readings that are `left_out` (by place; empty: none).
Explained explain_without(const Sweep& sweep, const VerdictSettings& settings, std::vector<char> left_out) {
  Structure structure = structure_of(sweep, settings, left_out);
  SlowLeaves leaves = find_slow_leaves(sweep, structure, settings, left_out, false);
  Model model = make_model(sweep, settings, std::move(structure), std::move(left_out), leaves.explained);
  return explain(std::move(model), leaves);
}

/// If a third of the hosts or more are `slow`, readings cannot tell which kind is healthy. Returns whether these kinds
/// are new.
bool set_kinds(std::vector<char> slow, Structure& structure) {
  const auto hosts = std::ranges::count(slow, 1);
  if (hosts < 2 || 3 * hosts < std::ssize(slow)) return false;
  return std::exchange(structure.is_slow_kind, slow) != slow;
}

/// Explains a sweep in which pairs share links.
Explained explain_shared(const Sweep& sweep, const VerdictSettings& settings) {
  Structure structure = structure_with_shared_links(sweep, settings);
  Loaded loaded = loaded_readings(sweep, structure, settings.tolerance);
  set_kinds(loaded.never_fast, structure);
  std::vector<char> of_slow_hosts(sweep.readings.size(), 0);  // they say nothing of leaves
  for (std::size_t i = 0; i < of_slow_hosts.size(); ++i) {
    const Reading& reading = sweep.readings[i];
    const bool is_fast = loaded.never_fast[at(reading.from)] == 0 && loaded.never_fast[at(reading.to)] == 0;
    if (!is_fast) of_slow_hosts[i] = 1;
  }
  SlowLeaves leaves = find_slow_leaves(sweep, structure, settings, of_slow_hosts, true);
  for (std::size_t i = 0; i < leaves.explained.size(); ++i) {
    if (leaves.explained[i] != 0) loaded.readings[i] = 1;
  }
  const auto explained = [&] {
    return explain(make_model(sweep, settings, structure, loaded.above_usual, loaded.readings), leaves);
  };
  Explained all = explained();
  std::vector<char> blamed(sweep.hosts.size(), 0);
  for (const std::int32_t host : hosts_of(all.model, all.units.blamed)) blamed[at(host)] = 1;
  if (set_kinds(std::move(blamed), structure)) all = explained();
  all.slow_lately = std::move(loaded.slow_lately);
  return all;
}

/// If there are slow devices, the structure is found again without readings over them. Where pairs share links, hosts
/// and paths are judged by the readings that no other pair has a part in (links.h).
Explained explain(const Sweep& sweep, const VerdictSettings& settings, bool links_are_shared) {
  if (links_are_shared) return explain_shared(sweep, settings);
  Explained all = explain_without(sweep, settings, {});
  if (all.devices.empty()) return all;
  Explained second = explain_without(sweep, settings, readings_over(sweep, all.devices));
  return second.devices.empty() ? std::move(all) : std::move(second);
}

void count_readings(const Sweep& sweep, Verdict& verdict) {
  for (const Reading& reading : sweep.readings) {
    if (reading.outcome == Outcome::kNotTried) continue;
    ++verdict.readings;
    if (reading.outcome == Outcome::kFailed) ++verdict.failed;
    if (reading.outcome == Outcome::kWrong) ++verdict.wrong;
  }
}

void note_noise(const Model& model, Verdict& verdict) {
  for (const Stratum& stratum : model.strata) {
    if (stratum.scale <= kMuchNoise) continue;
    const auto kind = at(stratum.test);
    std::string note = fmt::format(
        "readings{} scatter by {:.0f} % (standard deviation), and this noise hides small deficits; are there "
        "two kinds of pairs, or is the network busy?",
        kind < model.sweep->tests.size() ? " of " + model.sweep->tests[kind] : "", 100 * stratum.scale);
    const bool is_known = std::ranges::find(verdict.notes, note) != verdict.notes.end();
    if (!is_known) verdict.notes.push_back(std::move(note));
  }
}

void note_drops(const Model& model, Verdict& verdict) {
  if (model.drops.empty()) return;
  const auto lowest = std::ranges::min_element(model.drops, {}, [](const auto& each) { return each.second; });
  verdict.notes.push_back(fmt::format(
      "in {} {} everything was slower, by up to {:.0f} %; no host or path is blamed for it: was the network busy?",
      model.drops.size(), model.drops.size() == 1 ? "round" : "rounds", -100 * std::expm1(lowest->second)));
}

/// Notes how much the network as a whole changes with time.
void note_drift(const Model& model, Verdict& verdict) {
  if (model.drift.empty()) return;
  std::vector<double> drift = model.drift;
  const double low = quantile(drift, 1 - kUpper);
  verdict.lasting_change = -std::expm1(low - quantile(drift, kUpper));
  const auto [lowest, highest] = std::ranges::minmax_element(model.drift);
  const double change = -std::expm1(*lowest - *highest);
  if (change <= model.settings.tolerance / 2) return;
  verdict.changes_with_time = change;
  verdict.notes.push_back(fmt::format(
      "the usual bandwidth changed during the sweep, by up to {:.0f} %: each reading is compared with the usual "
      "bandwidth at its time",
      100 * change));
}

void note_apart(const Model& model, const UnitEffects& units, Verdict& verdict) {
  std::string names;
  for (const std::int32_t host : units.apart) {
    const bool blamed = std::ranges::any_of(verdict.findings, [&](const Finding& finding) {
      return std::ranges::find(finding.hosts, host) != finding.hosts.end();
    });
    if (!blamed) names += (names.empty() ? "" : ", ") + model.sweep->hosts[at(host)];
  }
  if (names.empty()) return;
  verdict.notes.push_back(
      fmt::format("these hosts are slow with the others but fine with each other, so none of them is blamed: {}{}",
                  names, model.sweep->leaf_of.empty() ? "; give the leaf or rack of each host (--locality)" : ""));
}

void note_unexplained(const Sweep& sweep, Verdict& verdict) {
  if (verdict.outliers <= kMostUnexplained) return;
  verdict.notes.push_back(fmt::format(
      "of the readings outside all findings, {:.0f} % are slow, and no host, pair or group explains them: more "
      "rounds{} may show the cause",
      100 * verdict.outliers, sweep.leaf_of.empty() ? ", or the leaf or rack of each host (--locality)," : ""));
}

/// If more than half of the hosts are slow now and then, the network is to blame, and none of them.
void keep_exceptions(const Sweep& sweep, std::vector<UnsteadyHost>& unsteady_hosts, Verdict& verdict) {
  const auto sure = std::ranges::count_if(unsteady_hosts, [](const UnsteadyHost& host) { return host.sure; });
  if (2 * sure <= static_cast<std::ptrdiff_t>(sweep.hosts.size())) return;
  verdict.notes.push_back(
      fmt::format("{} of {} hosts are slow now and then, so none of them is blamed: is the network busy at times?",
                  sure, sweep.hosts.size()));
  unsteady_hosts.clear();
}

/// The share of failed readings that nothing explains, without readings of unsteady hosts.
double share_failing(const Sweep& sweep, const std::vector<std::int32_t>& unexplained,
                     const std::vector<double>& unsteady, const Verdict& verdict) {
  const auto failing = std::ranges::count_if(unexplained, [&](std::int32_t place) {
    const Reading& reading = sweep.readings[at(place)];
    return unsteady[at(reading.from)] == 0 && unsteady[at(reading.to)] == 0;
  });
  return verdict.readings > 0 ? static_cast<double>(failing) / static_cast<double>(verdict.readings) : 0;
}

void note_failing(Verdict& verdict) {
  if (verdict.failing <= kMostFailing) return;
  verdict.notes.push_back(
      fmt::format("{:.0f} % of the readings failed, and no host or pair explains the failures; the records have the "
                  "reason for each failure",
                  100 * verdict.failing));
}

/// Notes readings below the minimum that their runs demanded. It is no limit here.
void note_below_asked(const Sweep& sweep, Verdict& verdict) {
  if (sweep.below_asked == 0) return;
  verdict.below_asked = static_cast<double>(sweep.below_asked) / static_cast<double>(verdict.readings);
  verdict.notes.push_back(fmt::format(
      "{} of {} readings are below the --min-bandwidth of their runs (status slow in the records); this report "
      "compares readings with each other, or with --expect RATE",
      sweep.below_asked, verdict.readings));
}

/// Notes readings that say nothing on bandwidth.
void note_waited(const Sweep& sweep, Verdict& verdict) {
  const auto waited = std::ranges::count_if(sweep.readings, [](const Reading& reading) {
    return reading.outcome == Outcome::kMeasured && reading.from != reading.to && reading.rate == 0;
  });
  if (waited == 0) return;
  verdict.notes.push_back(waited_note(fmt::format("{} of {} readings", waited, verdict.readings), sweep.most_waited) +
                          "; they are not judged");
}

/// Whether no group has half of the hosts or more, so that hosts without a group are no exceptions.
bool are_all_alike(const Sweep& sweep, const Verdict& verdict) {
  if (verdict.groupings.empty()) return false;
  const std::vector<Group>& groups = verdict.groupings.back().groups;
  return std::ranges::none_of(groups, [&](const Group& group) { return 2 * group.hosts.size() >= sweep.hosts.size(); });
}

/// Whether something is slow, all is fine, or neither is known. Failures that may be chance do not count as slow,
/// unless nothing works at all.
Judged conclusion_of(const Sweep& sweep, const VerdictSettings& settings, const PairEffects& pairs,
                     const Verdict& verdict) {
  const bool any_is_sure = std::ranges::any_of(verdict.findings, [&](const Finding& finding) {
    const bool may_be_chance = finding.false_alarm >= settings.false_alarm && verdict.failed < verdict.readings;
    return !is_open(finding) || !may_be_chance;
  });
  if (any_is_sure) return Judged::kSlow;
  if (!verdict.findings.empty()) return Judged::kUnknown;
  const bool agrees =
      verdict.outliers <= kMostUnexplained && verdict.failing <= kMostFailing && sweep.not_understood == 0 &&
      verdict.below_asked <= kMostBelowAsked && verdict.lasting_change <= kMostLastingChange &&
      !verdict.some_are_faster &&
      (!verdict.groups_are_open || verdict.links.are_shared || verdict.near_pairs || are_all_alike(sweep, verdict));
  const bool kinds_agree = !verdict.kinds || verdict.kinds->both_suffice;
  const bool all = agrees && verdict.may_stand_apart.empty() && sweep.hosts.size() > 1 && kinds_agree &&
                   verdict.not_judged.empty() && verdict.follow_ups.empty() && verdict.open_leaves.empty() &&
                   !pairs.too_many;
  return all ? Judged::kClean : Judged::kUnknown;
}

/// How many hosts a finding slows; a path counts as one.
double hosts_of(const Verdict& verdict, const Finding& finding) {
  double hosts = 0;
  for (const std::int32_t leaf : {finding.leaf, finding.other_leaf}) {
    if (leaf >= 0) hosts += static_cast<double>(leaf_at(verdict, leaf).hosts.size());
  }
  if (hosts > 0) return hosts;
  if (finding.hosts.empty()) return static_cast<double>(std::max<std::int64_t>(finding.partners, 1));
  return is_path(finding) ? 1 : static_cast<double>(finding.hosts.size());
}

/// Sorts by hosts times deficit. Of equal ones, decided findings come first.
void sort_findings(Verdict& verdict) {
  for (Finding& finding : verdict.findings) finding.weight = hosts_of(verdict, finding) * deficit_of(finding);
  std::ranges::stable_sort(verdict.findings, [](const Finding& a, const Finding& b) {
    if (a.weight != b.weight) return a.weight > b.weight;
    return !is_open(a) && is_open(b);
  });
}

/// By rail of each host, in the order of hosts: two different hosts with which it reached the usual rate; -1: none.
std::vector<std::array<std::int32_t, 2>> fast_partners(const Sweep& sweep, double tolerance, const Verdict& verdict) {
  std::vector<std::array<std::int32_t, 2>> fast(sweep.hosts.size() * sweep.rails.size(), {-1, -1});
  for (std::size_t place = 0; place < verdict.usual.size(); ++place) {
    const Reading& reading = sweep.readings[place];
    if (verdict.usual[place] <= 0 || reading.rate < (1 - tolerance) * verdict.usual[place]) continue;
    for (const auto& [host, rail, other] : {std::tuple{reading.from, reading.from_rail, reading.to},
                                            std::tuple{reading.to, reading.to_rail, reading.from}}) {
      const std::size_t unit = at(host) * sweep.rails.size() + at(rail);
      auto& [first, second] = fast[unit];
      if (first < 0) first = other;
      if (first != other) second = other;
    }
  }
  return fast;
}

/// Sets for each pair which of its hosts are fine.
void set_fine_hosts(const Sweep& sweep, double tolerance, Verdict& verdict) {
  const std::vector<std::array<std::int32_t, 2>> fast = fast_partners(sweep, tolerance, verdict);
  // By host, what is against it: findings of one kind on the same hosts, perhaps on several rails, are one.
  std::vector<std::set<std::pair<Blame, std::vector<std::int32_t>>>> against(sweep.hosts.size());
  const auto add = [&](const std::vector<std::int32_t>& named, Blame blame, std::vector<std::int32_t> hosts) {
    std::ranges::sort(hosts);
    for (const std::int32_t host : named) against[at(host)].emplace(blame, hosts);
  };
  const bool all = std::ranges::any_of(verdict.findings, is_of_all);
  for (const Finding& finding : verdict.findings) {
    add(finding.hosts, finding.blame, finding.hosts);
    for (const std::int32_t leaf : {finding.leaf, finding.other_leaf}) {
      if (leaf >= 0) add(leaf_at(verdict, leaf).hosts, finding.blame, {});
    }
  }
  std::vector<std::int32_t> open = verdict.not_judged;
  for (const FollowUp& follow_up : verdict.follow_ups) {
    if (follow_up.other < 0) open.push_back(follow_up.host);
  }
  if (verdict.kinds && !verdict.kinds->both_suffice)
    open.insert(open.end(), verdict.kinds->slow.begin(), verdict.kinds->slow.end());
  add(open, Blame::kUndecided, {});
  for (Finding& finding : verdict.findings) {
    if (finding.hosts.size() != 2) continue;
    for (std::size_t side = 0; side < 2; ++side) {
      const auto host = at(finding.hosts[side]);
      const std::int32_t rail = std::max({side == 1 ? finding.other_rail : -1, finding.rail, 0});
      const auto& [first, second] = fast[host * sweep.rails.size() + at(rail)];
      const bool is_fast = second >= 0 || (first >= 0 && first != finding.hosts[1 - side]);
      finding.fine_hosts[side] = is_open(finding) ? is_fast : !all && against[host].size() == 1;
    }
  }
}

/// If half of the hosts or more miss the expected rate, few are left to compare with. Then no effect that reaches the
/// expected rate is blamed.
void keep_what_misses_expectation(const Model& model, UnitEffects& units) {
  if (model.is_too_slow.empty() || model.settings.expected <= 0) return;
  std::erase_if(units.blamed, [&](const UnitEffect& found) {
    const bool of_both = EffectIds::role(found.effect) == Role::kEither && !model.directions_pooled;
    const double directions = of_both ? 2 : 1;
    return std::exp(found.score.cap) >= directions * model.settings.expected * (1 - model.settings.tolerance);
  });
}

/// Sets, by reading, its stratum and the rate that it was compared with.
void set_usual(const Model& model, Verdict& verdict) {
  verdict.stratum_of.assign(model.sweep->readings.size(), -1);
  verdict.usual.assign(model.sweep->readings.size(), 0);
  for (const Point& point : model.points) {
    verdict.stratum_of[at(point.reading)] = point.stratum;
    verdict.usual[at(point.reading)] = std::exp(point.log_rate - point.residual);
  }
}

/// Sets whether groups are open, because some pairs are faster than others.
void find_faster_pairs(const Model& model, Verdict& verdict) {
  if (verdict.links.are_shared) {
    if (!are_two_kinds(model)) return;
    verdict.some_are_faster = true;
    verdict.notes.push_back(
        "some pairs are much faster than what hosts reach alone or near each other, so there may be two kinds of "
        "hosts; --expect RATE decides");
    return;
  }
  if (!any_are_faster(model)) return;
  if (model.sweep->leaf_of.empty()) {
    if (model.structure.levels.empty()) verdict.near_pairs = find_near_pairs(model);
    verdict.some_are_faster = !verdict.groups_are_open && !verdict.near_pairs;
    verdict.groups_are_open = true;
    return;
  }
  verdict.some_are_faster = !verdict.groups_are_open;
  verdict.notes.push_back(
      "some pairs are much faster than other pairs at the same distance by --locality, and nothing explains the "
      "difference: is the list wrong, or are the other pairs slow? --expect RATE decides");
}

/// Adds findings on leaves, devices, rails and hosts that are slow all the time.
void report_slow(Explained& explained, Verdict& verdict) {
  const Model& model = explained.model;
  if (!verdict.links.are_shared) report_lone_hosts(model, explained.units, verdict);
  for (Finding& leaf : explained.slow_leaves) verdict.findings.push_back(std::move(leaf));
  verdict.open_leaves = explained.open_leaves;
  for (const std::int32_t leaf : verdict.open_leaves) {
    verdict.notes.push_back(fmt::format(
        "the uplinks of {} may be slow: its hosts reach less than others in the same rounds, which the load of these "
        "rounds may explain too",
        leaf_at(verdict, leaf).name));
  }
  if (const std::vector<std::int32_t>& hosts = model.structure.may_be_slow_leaf; !hosts.empty()) {
    verdict.may_stand_apart = hosts;
    verdict.notes.push_back(
        "the suspects reach less than others in the same rounds, as behind slow uplinks, but the load of these rounds "
        "may explain it too; --locality FILE with the leaf of each host would tell");
  }
  report_devices(explained.devices, verdict);
  report_rails(model, verdict);
  keep_what_misses_expectation(model, explained.units);
  report_units(model, explained.units, verdict);
  follow_up_suspects(model, explained.units, verdict);
}

/// By host that is surely slow or failing now and then, the share of its meetings in which it is; of others 0.
std::vector<double> slow_shares(const Sweep& sweep, const std::vector<UnsteadyHost>& unsteady_hosts) {
  std::vector<double> shares(sweep.hosts.size(), 0);
  for (const UnsteadyHost& host : unsteady_hosts) {
    const Finding& finding = host.finding;
    if (host.sure) shares[at(host.host())] = static_cast<double>(finding.slow) / static_cast<double>(finding.readings);
  }
  return shares;
}

/// Adds what the model says of the network as a whole: load, noise, drops, drift, and the expected rate.
void report_network(const Model& model, Verdict& verdict) {
  find_faster_pairs(model, verdict);
  note_noise(model, verdict);
  note_drops(model, verdict);
  note_drift(model, verdict);
  report_near_limit(model, verdict);
  verdict.strata = model.strata;
  report_all(model, verdict);
  set_usual(model, verdict);
}

/// Notes what no finding explains, without readings of `unsteady` hosts. `failed`: the failed readings, by place.
void note_the_rest(const Sweep& sweep, const std::vector<std::int32_t>& failed, const std::vector<double>& unsteady,
                   Verdict& verdict) {
  note_unexplained(sweep, verdict);
  verdict.failing = share_failing(sweep, failed, unsteady, verdict);
  note_failing(verdict);
  note_below_asked(sweep, verdict);
  note_waited(sweep, verdict);
}

/// Whether a finding is on the uplinks of a leaf, so that its hosts are not open.
bool is_of_slow_leaf(const Verdict& verdict, std::int32_t leaf) {
  return std::ranges::any_of(verdict.findings,
                             [&](const Finding& finding) { return is_of_leaf(finding) && finding.leaf == leaf; });
}

/// Judges a sweep. Where pairs share links, hosts and paths are judged by the readings that no other pair has a part
/// in.
void judge_readings(const Sweep& sweep, const VerdictSettings& settings, Verdict& verdict) {
  const bool are_shared = verdict.links.are_shared;
  Explained explained = explain(sweep, settings, are_shared);
  const Model& model = explained.model;
  const Failures failures = find_failures(sweep, model.ids.rails, settings.false_alarm);
  add_report(failures.lasting, std::vector<double>(sweep.hosts.size(), 0), verdict);
  report_groups(model, verdict);
  if (!are_shared) report_small_group(model, verdict);
  const ComingAndGoing coming_and_going = take_unsteady(explained.model, explained.units, verdict);
  report_slow(explained, verdict);

  const PairEffects pairs = find_pairs(model, explained.units, coming_and_going);
  std::vector<UnsteadyHost> unsteady_hosts =
      find_unsteady(model, explained.units, pairs, failures.unexplained, coming_and_going);
  keep_exceptions(sweep, unsteady_hosts, verdict);
  report_unsteady(unsteady_hosts, verdict);
  const std::vector<double> unsteady = slow_shares(sweep, unsteady_hosts);
  report_pairs(model, pairs, explained.units, unsteady, verdict);
  add_report(failures.paths, unsteady, verdict);
  report_wrong_data(sweep, verdict);
  note_apart(model, explained.units, verdict);

  report_network(model, verdict);
  verdict.outliers = share_of_outliers(model, pairs, unsteady);
  note_the_rest(sweep, failures.unexplained, unsteady, verdict);
  verdict.not_judged = find_not_judged(model, failures, explained.units, explained.slow_lately);
  std::erase_if(verdict.not_judged, [&](std::int32_t host) { return is_of_slow_leaf(verdict, model.part_of(host)); });
  verdict.judged = conclusion_of(sweep, settings, pairs, verdict);
}

}  // namespace

Verdict judge(const Sweep& sweep, const VerdictSettings& settings) {
  Verdict verdict;
  count_readings(sweep, verdict);
  verdict.links = find_shared_links(sweep, settings.tolerance);
  judge_readings(sweep, settings, verdict);
  name_devices(sweep, verdict);
  set_fine_hosts(sweep, settings.tolerance, verdict);
  sort_findings(verdict);
  return verdict;
}

}  // namespace fabricbench::cluster
