#include "cluster/attribution/attribution.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include <fmt/format.h>

#include "cluster/attribution/blocks.h"
#include "cluster/attribution/failures.h"
#include "cluster/attribution/findings.h"
#include "cluster/attribution/fit.h"
#include "cluster/attribution/model.h"
#include "cluster/attribution/pair_residuals.h"
#include "cluster/attribution/unit_effects.h"

namespace fabricbench::cluster {
namespace {

/// Noise of which people should know before they look for something small.
constexpr double kMuchNoise = 0.08;

/// The failed readings that nobody dead explains, by place.
std::vector<std::int32_t> unexplained_failures(const Sweep& sweep, const Failures& failures) {
  std::vector<std::int32_t> places;
  for (std::size_t i = 0; i < sweep.readings.size(); ++i) {
    const Reading& reading = sweep.readings[i];
    if (reading.outcome != Outcome::kFailed || reading.from == reading.to) continue;
    const std::int32_t from = reading.from * failures.rails + reading.from_rail;
    const std::int32_t to = reading.to * failures.rails + reading.to_rail;
    const bool dead =
        failures.dead[static_cast<std::size_t>(from)] != 0 || failures.dead[static_cast<std::size_t>(to)] != 0;
    if (!dead) places.push_back(static_cast<std::int32_t>(i));
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

Judged how_far(const Sweep& sweep, const PairEffects& pairs, const Verdict& verdict) {
  if (!verdict.findings.empty()) return Judged::kSlow;
  const bool all = sweep.hosts.size() > 1 && verdict.not_judged.empty() && verdict.questions.empty() && !pairs.too_many;
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

  fit_first(model);
  const Blocks blocks = find_blocks(model);
  report_blocks(model, blocks, verdict);
  const UnitEffects units = find_units(model);
  report_rails(find_slow_rails(model), verdict);
  report_units(model, units, verdict);
  note_apart(model, units, verdict);

  const PairEffects pairs = find_pairs(model, units);
  const std::vector<FlappingHost> flapping = find_flapping(model, pairs, unexplained_failures(sweep, failures));
  report_flapping(model, flapping, verdict);
  std::vector<char> now_and_then(sweep.hosts.size(), 0);
  for (const FlappingHost& host : flapping) now_and_then[static_cast<std::size_t>(host.host)] = host.sure ? 1 : 0;
  report_pairs(model, pairs, now_and_then, verdict);
  report_failed_pairs(sweep, failures, now_and_then, verdict);

  note_noise(model, verdict);
  verdict.strata = model.strata;
  verdict.outliers = share_of_outliers(model, pairs);
  verdict.alone_over_together = alone_over_together(model);
  verdict.not_judged = find_not_judged(model, failures, units);
  verdict.judged = how_far(sweep, pairs, verdict);
  sort_findings(verdict.findings);
  return verdict;
}

}  // namespace fabricbench::cluster
