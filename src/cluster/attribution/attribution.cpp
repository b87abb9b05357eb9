#include "cluster/attribution/attribution.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cluster/attribution/blocks.h"
#include "cluster/attribution/failures.h"
#include "cluster/attribution/findings.h"
#include "cluster/attribution/fit.h"
#include "cluster/attribution/groups.h"
#include "cluster/attribution/model.h"
#include "cluster/attribution/near_limit.h"
#include "cluster/attribution/pair_residuals.h"
#include "cluster/attribution/steadiness.h"
#include "cluster/attribution/unit_effects.h"

namespace fabricbench::cluster {
namespace {

/// Noise of which people should know before they look for something small.
constexpr double kMuchNoise = 0.08;

/// The failed readings that neither anybody dead nor a pair that never works explains, by place.
std::vector<std::int32_t> unexplained_failures(const Sweep& sweep, const Failures& failures) {
  constexpr std::int64_t kNever = 2;
  std::vector<std::pair<std::int32_t, std::int32_t>> never;
  for (const FailedFlow& flow : failures.flows) {
    if (flow.worked == 0 && flow.failed >= kNever) never.emplace_back(flow.from, flow.to);
  }
  std::vector<std::int32_t> places;
  for (std::size_t i = 0; i < sweep.readings.size(); ++i) {
    const Reading& reading = sweep.readings[i];
    if (reading.outcome != Outcome::kFailed || reading.from == reading.to) continue;
    const std::int32_t from = reading.from * failures.rails + reading.from_rail;
    const std::int32_t to = reading.to * failures.rails + reading.to_rail;
    const bool dead =
        failures.dead[static_cast<std::size_t>(from)] != 0 || failures.dead[static_cast<std::size_t>(to)] != 0;
    const bool is_never = std::binary_search(never.begin(), never.end(), std::pair(from, to));
    if (!dead && !is_never) places.push_back(static_cast<std::int32_t>(i));
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
    verdict.notes.push_back(fmt::format(
        "readings{} differ by {:.0f} % (standard deviation): little can be seen in so much noise; are there "
        "two kinds of pairs, or is the network busy?",
        kind < model.sweep->kinds.size() ? " of " + model.sweep->kinds[kind] : "", 100 * stratum.scale));
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

void note_apart(const Model& model, const UnitEffects& units, Verdict& verdict) {
  if (units.apart.empty()) return;
  std::string names;
  for (const std::int32_t host : units.apart) {
    names += (names.empty() ? "" : ", ") + model.sweep->hosts[static_cast<std::size_t>(host)];
  }
  verdict.notes.push_back(
      fmt::format("slow with the others and fine with each other, so none of them is blamed: {}; name the leaf or rack "
                  "of each host",
                  names));
}

/// Readings further above what is usual than this many scales, and the tolerance, are of pairs that are faster.
constexpr double kMuchFaster = 4;
/// Where pairs slow each other by more than this, some are faster because others are fewer.
constexpr double kDisturbed = 1.03;
constexpr std::int64_t kFewFast = 3;
constexpr double kShareOfFast = 0.01;

/// Nothing makes readings faster than healthy hosts are: where a few are, the usual is not what is healthy, or groups
/// of hosts are nearer each other than most pairs are.
bool many_are_faster(const Model& model) {
  std::int64_t fast = 0;
  std::int64_t all = 0;
  for (const Point& point : model.points) {
    if (point.quiet) continue;
    ++all;
    fast += point.residual > std::max(-model.slow, kMuchFaster * model.scale_of(point)) ? 1 : 0;
  }
  return fast >= kFewFast && static_cast<double>(fast) > kShareOfFast * static_cast<double>(all);
}

/// Whatever the model says, with more slow readings than this that nothing explains all is not well.
constexpr double kMostUnexplained = 0.1;

void note_unexplained(Verdict& verdict) {
  if (verdict.outliers <= kMostUnexplained) return;
  verdict.notes.push_back(fmt::format(
      "{:.0f} % of the readings are slow, and no host, pair or group explains them: more rounds, or names of "
      "leaves or racks, may tell",
      100 * verdict.outliers));
}

/// Whether no group has half of the hosts or more: then hosts of no group are no exceptions.
bool are_all_alike(const Sweep& sweep, const Verdict& verdict) {
  if (verdict.groupings.empty()) return false;
  const std::vector<Group>& groups = verdict.groupings.back().groups;
  return std::none_of(groups.begin(), groups.end(),
                      [&](const Group& group) { return 2 * group.hosts.size() >= sweep.hosts.size(); });
}

Judged how_far(const Sweep& sweep, const PairEffects& pairs, const Verdict& verdict) {
  if (!verdict.findings.empty()) return Judged::kSlow;
  const bool agrees =
      verdict.outliers <= kMostUnexplained && !(verdict.groups_are_open && !are_all_alike(sweep, verdict));
  const bool kinds_agree = !verdict.kinds || verdict.kinds->both_suffice;
  const bool all = agrees && !verdict.uplinks_are_open && sweep.hosts.size() > 1 && kinds_agree &&
                   verdict.not_judged.empty() && verdict.questions.empty() && !pairs.too_many;
  return all ? Judged::kClean : Judged::kUnknown;
}

/// Decided ones first, then the slowest.
void sort_findings(std::vector<Finding>& findings) {
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    const bool a_open = a.blame == Blame::kUndecided;
    const bool b_open = b.blame == Blame::kUndecided;
    return a_open != b_open ? b_open : a.ratio < b.ratio;
  });
}

}  // namespace

Verdict judge(const Sweep& sweep, const VerdictSettings& settings) {
  Verdict verdict;
  count(sweep, verdict);
  Model model = make_model(sweep, settings);
  const Failures failures = find_failures(sweep, model.ids.rails);
  report_dead(sweep, failures, verdict);
  report_groups(model, verdict);
  report_small_group(model, verdict);

  fit_first(model);
  const Blocks blocks = find_blocks(model);
  report_blocks(model, blocks, verdict);
  UnitEffects units = find_units(model);
  std::vector<FlappingHost> flapping = take_unsteady(model, units, verdict);
  find_near_limit(model);
  report_rails(find_slow_rails(model), verdict);
  report_units(model, units, verdict);
  ask_suspects(model, units, verdict);
  note_apart(model, units, verdict);

  const PairEffects pairs = find_pairs(model, units);
  flapping = find_flapping(model, pairs, unexplained_failures(sweep, failures), std::move(flapping));
  report_flapping(model, flapping, verdict);
  std::vector<char> now_and_then(sweep.hosts.size(), 0);
  for (const FlappingHost& host : flapping) now_and_then[static_cast<std::size_t>(host.host)] = host.sure ? 1 : 0;
  report_pairs(model, pairs, now_and_then, verdict);
  report_failed_pairs(sweep, failures, now_and_then, verdict);

  verdict.alone_over_together = alone_over_together(model);
  if (sweep.leaf_of.empty() && verdict.alone_over_together < kDisturbed && many_are_faster(model)) {
    verdict.groups_are_open = true;
  }
  note_noise(model, verdict);
  note_drops(model, verdict);
  report_near_limit(model, verdict);
  verdict.strata = model.strata;
  report_all(settings, verdict);
  verdict.stratum_of.assign(sweep.readings.size(), -1);
  for (const Point& point : model.points) verdict.stratum_of[static_cast<std::size_t>(point.reading)] = point.stratum;
  verdict.outliers = share_of_outliers(model, pairs, now_and_then);
  note_unexplained(verdict);
  verdict.not_judged = find_not_judged(model, failures, units);
  verdict.judged = how_far(sweep, pairs, verdict);
  sort_findings(verdict.findings);
  return verdict;
}

}  // namespace fabricbench::cluster
