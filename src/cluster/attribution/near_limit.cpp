#include "cluster/attribution/units.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cluster/attribution/model.h"
#include "cluster/hosts/host_folding.h"
#include "cluster/robust.h"

namespace fabricbench::cluster {
namespace {

/// A median between these shares of the tolerance, as logarithms, is near the limit. Slower effects are blamed or
/// suspected, or slow now and then.
constexpr double kLeastShare = 0.4;
constexpr double kMostShare = 1.5;
constexpr std::size_t kLeastReadings = 4;
constexpr std::int32_t kLeastPartners = 2;
/// A deficit is reported if it exceeds so many standard errors.
constexpr double kErrorsToReport = 4;
/// If a median is within so many standard errors of the limit, its side is not decided.
constexpr double kErrorsOfLimit = 2;

std::vector<float> clean_residuals(const Model& model, std::int32_t effect) {
  std::vector<float> residuals;
  for (const Entry entry : model.entries_of(effect)) {
    const Point& point = model.point_of(entry);
    if (model.is_clean(point)) residuals.push_back(point.residual);
  }
  return residuals;
}

/// Effects with half of their clean readings near the limit or below it. Saves the medians of all others.
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

/// The position of an effect relative to the tolerance.
enum class LimitStatus : std::uint8_t { kUsual, kWithin, kUndecided };

LimitStatus limit_status_of(const Model& model, std::int32_t effect) {
  const std::span<const Entry> entries = model.entries_of(effect);
  const double median = model.near_limit[static_cast<std::size_t>(effect)];
  if (median == 0) return LimitStatus::kUsual;
  // Of the difference between the effect's median and the centre.
  const Stratum& stratum = model.strata[static_cast<std::size_t>(model.point_of(entries.front()).stratum)];
  const double readings = 1 / (1 / static_cast<double>(entries.size()) + 1 / static_cast<double>(stratum.readings));
  const double error = kMedianOverMeanError * stratum.scale / std::sqrt(readings);
  if (median - kErrorsOfLimit * error < model.slow) return LimitStatus::kUndecided;
  return median < -kErrorsToReport * error ? LimitStatus::kWithin : LimitStatus::kUsual;
}

/// Names of hosts, and the largest deficit among them, as a logarithm.
struct HostsNearLimit {
  std::set<std::string> hosts;
  double least = 0;

  void add(const Model& model, std::int32_t effect) {
    hosts.insert(model.sweep->hosts[static_cast<std::size_t>(model.ids.host(effect))]);
    least = std::min(least, static_cast<double>(model.near_limit[static_cast<std::size_t>(effect)]));
  }
  [[nodiscard]] std::string text() const { return fold_hosts(std::vector<std::string>(hosts.begin(), hosts.end())); }
  [[nodiscard]] double percent() const { return -100 * std::expm1(least); }
};

/// Adds a follow-up: more rounds for all hosts, which make the medians of all such hosts more precise.
void ask(const Model& model, std::int32_t effect, Verdict& verdict) {
  const std::int32_t host = model.ids.host(effect);
  const bool known = std::any_of(verdict.follow_ups.begin(), verdict.follow_ups.end(), [&](const FollowUp& follow_up) {
    return follow_up.host == host && follow_up.other < 0;
  });
  if (known) return;
  const double percent = -100 * std::expm1(model.near_limit[static_cast<std::size_t>(effect)]);
  verdict.follow_ups.push_back({host, -1, static_cast<std::int16_t>(model.ids.rail(effect)), 1,
                                fmt::format("{:.1f} % below others, close to the tolerance", percent), false, true});
}

/// Sets Model::near_limit. Returns whether any effect is near the limit.
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

bool may_be_slow(const Model& model, std::int32_t effect) {
  return limit_status_of(model, effect) == LimitStatus::kUndecided;
}

void report_near_limit(const Model& model, Verdict& verdict) {
  std::set<std::int32_t> blamed;
  for (std::int32_t effect = 0; effect < model.effects(); ++effect) {
    if (model.is_flagged(effect)) blamed.insert(model.ids.host(effect));
  }
  HostsNearLimit within;
  HostsNearLimit undecided;
  for (std::int32_t effect = 0; effect < model.effects(); ++effect) {
    const LimitStatus status = limit_status_of(model, effect);
    if (status == LimitStatus::kUsual || blamed.contains(model.ids.host(effect))) continue;
    (status == LimitStatus::kWithin ? within : undecided).add(model, effect);
    if (status == LimitStatus::kUndecided) ask(model, effect, verdict);
  }
  if (!undecided.hosts.empty()) {
    verdict.notes.push_back(fmt::format(
        "hosts slower than others by up to {:.1f} %, either within the tolerance or beyond it: {}; more rounds "
        "or another --tolerance would decide",
        undecided.percent(), undecided.text()));
  }
  if (!within.hosts.empty()) {
    verdict.notes.push_back(fmt::format(
        "hosts slower than others by up to {:.1f} %, within the tolerance: {}; a lower --tolerance would blame them",
        within.percent(), within.text()));
  }
}

}  // namespace fabricbench::cluster
