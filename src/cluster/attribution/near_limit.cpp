#include "cluster/attribution/near_limit.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cluster/attribution/fit.h"
#include "cluster/attribution/unit_scores.h"
#include "cluster/hosts/host_fold.h"
#include "cluster/robust.h"

namespace fabricbench::cluster {
namespace {

/// Shares of the tolerance (of logarithms) between which an effect's median is near it. What is slower still is blamed
/// or suspected, or is slow now and then.
constexpr double kLeastShare = 0.4;
constexpr double kMostShare = 1.5;
constexpr std::size_t kLeastReadings = 4;
constexpr std::int32_t kLeastPartners = 2;
/// Standard errors of a median below what is usual, before it is told.
constexpr double kSure = 4;
/// So many about a median that is near the tolerance, nobody can tell on which side of it the host is.
constexpr double kErrors = 2;

std::vector<float> clean_residuals(const Model& model, std::int32_t effect) {
  std::vector<float> residuals;
  for (const Entry entry : model.entries_of(effect)) {
    const Point& point = model.point_of(entry);
    if (model.is_clean(point)) residuals.push_back(point.residual);
  }
  return residuals;
}

/// Effects of which half of the clean readings are near the tolerance or below it: saves the medians of all others.
std::vector<std::int32_t> worth_a_median(const Model& model) {
  std::vector<std::int32_t> balance(model.cap.size(), 0);
  for (const Point& point : model.points) {
    if (!model.is_clean(point)) continue;
    const std::int32_t step = point.residual < kLeastShare * model.slow ? 1 : -1;
    balance[static_cast<std::size_t>(point.sender)] += step;
    balance[static_cast<std::size_t>(point.receiver)] += step;
  }
  std::vector<std::int32_t> effects;
  for (std::int32_t effect = 0; effect < model.effects(); ++effect) {
    const bool any = !model.entries_of(effect).empty() && !model.is_flagged(effect);
    if (any && balance[static_cast<std::size_t>(effect)] >= 0) effects.push_back(effect);
  }
  return effects;
}

/// What an effect's readings say of the tolerance.
enum class Standing : std::uint8_t { kUsual, kWithin, kUndecided };

Standing standing_of(const Model& model, std::int32_t effect) {
  const std::span<const Entry> entries = model.entries_of(effect);
  const double median = model.near_limit[static_cast<std::size_t>(effect)];
  if (median == 0) return Standing::kUsual;
  // Of the effect's median, and of what it is held against.
  const Stratum& stratum = model.strata[static_cast<std::size_t>(model.point_of(entries.front()).stratum)];
  const double readings = 1 / (1 / static_cast<double>(entries.size()) + 1 / static_cast<double>(stratum.readings));
  const double error = kMedianOverMeanError * stratum.scale / std::sqrt(readings);
  if (median - kErrors * error < model.slow) return Standing::kUndecided;
  return median < -kSure * error ? Standing::kWithin : Standing::kUsual;
}

/// Hosts, and how much slower the slowest of them is, as a logarithm.
struct Named {
  std::set<std::string> hosts;
  double least = 0;

  void add(const Model& model, std::int32_t effect) {
    hosts.insert(model.sweep->hosts[static_cast<std::size_t>(model.ids.host(effect))]);
    least = std::min(least, static_cast<double>(model.near_limit[static_cast<std::size_t>(effect)]));
  }
  [[nodiscard]] std::string text() const { return fold_hosts(std::vector<std::string>(hosts.begin(), hosts.end())); }
  [[nodiscard]] double percent() const { return -100 * std::expm1(least); }
};

/// Asks for rounds that make a host's median more precise; they do for all such hosts at once.
void ask(const Model& model, std::int32_t effect, Verdict& verdict) {
  const std::int32_t host = model.ids.host(effect);
  const bool known = std::any_of(verdict.questions.begin(), verdict.questions.end(),
                                 [&](const Question& question) { return question.host == host && question.other < 0; });
  if (known) return;
  const double percent = -100 * std::expm1(model.near_limit[static_cast<std::size_t>(effect)]);
  verdict.questions.push_back({host, -1, static_cast<std::int16_t>(model.ids.rail(effect)), 1,
                               fmt::format("{:.1f} % below others, about the tolerance", percent), false, true});
}

/// Sets Model::near_limit; whether any effect is near it.
bool note_near_limit(Model& model) {
  bool any = false;
  model.near_limit.assign(model.cap.size(), 0);
  for (const std::int32_t effect : worth_a_median(model)) {
    std::vector<float> residuals = clean_residuals(model, effect);
    if (residuals.size() < kLeastReadings || partners_met(model, effect) < kLeastPartners) continue;
    const double median = median_of(residuals);
    if (median >= kLeastShare * model.slow || median <= kMostShare * model.slow) continue;
    model.near_limit[static_cast<std::size_t>(effect)] = static_cast<float>(median);
    any = true;
  }
  return any;
}

}  // namespace

void find_near_limit(Model& model) {
  if (!note_near_limit(model)) return;
  fit_clean(model);
  static_cast<void>(note_near_limit(model));
}

bool may_be_slow(const Model& model, std::int32_t effect) { return standing_of(model, effect) == Standing::kUndecided; }

void report_near_limit(const Model& model, Verdict& verdict) {
  std::set<std::int32_t> blamed;
  for (std::int32_t effect = 0; effect < model.effects(); ++effect) {
    if (model.is_flagged(effect)) blamed.insert(model.ids.host(effect));
  }
  Named within;
  Named undecided;
  for (std::int32_t effect = 0; effect < model.effects(); ++effect) {
    const Standing standing = standing_of(model, effect);
    if (standing == Standing::kUsual || blamed.contains(model.ids.host(effect))) continue;
    (standing == Standing::kWithin ? within : undecided).add(model, effect);
    if (standing == Standing::kUndecided) ask(model, effect, verdict);
  }
  if (!undecided.hosts.empty()) {
    verdict.notes.push_back(
        fmt::format("slower than others by up to {:.1f} %, which may be within the tolerance or beyond it: {}; more "
                    "rounds, or another --tolerance, decide it",
                    undecided.percent(), undecided.text()));
  }
  if (!within.hosts.empty()) {
    verdict.notes.push_back(fmt::format(
        "slower than others by up to {:.1f} %, which is within the tolerance: {}; a lower --tolerance would "
        "name them",
        within.percent(), within.text()));
  }
}

}  // namespace fabricbench::cluster
