#include "cluster/pairs/attribution/model.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numbers>
#include <set>
#include <utility>
#include <vector>

#include "cluster/pairs/robust.h"
#include "cluster/pairs/sets.h"
#include "cluster/pairs/thresholds.h"
#include "common/core/statistics.h"

namespace fabricbench::cluster {
namespace {

/// Minimum scale: if readings agree to 0.1 %, half a percent is still no fault.
constexpr double kLeastScale = 0.01;
/// The scale if there are fewer readings than kFewReadings. Of so few the slow ones are left out: the median of three
/// may be slow.
constexpr double kUsualScale = 0.03;
constexpr std::size_t kFewReadings = kMany / 2;
/// The variance of upper_bound_of_most, in scales, times the number of values: p (1 - p) over the squared density of
/// the normal distribution there.
constexpr double kVarianceOfDrift = 2.04;
double drop_of(const Model& model, const Reading& reading) {
  const auto drop = model.drops.find({reading.test, reading.round});
  return drop == model.drops.end() ? 0 : drop->second;
}

double drift_of(const Model& model, const Point& point) {
  if (point.lightly_loaded && !model.light_load_drift.empty()) {
    return model.light_load_drift_of(point).at(model.reading_of(point).round);
  }
  return model.drift.empty() ? 0 : model.drift[at(point.window)];
}

void set_residuals(Model& model) {
  for (Point& point : model.points) {
    const auto stratum = at(point.stratum);
    double base = model.log_centre[stratum] + drift_of(model, point);
    if (!model.drops.empty()) base += drop_of(model, model.reading_of(point));
    point.residual = static_cast<float>(point.log_rate - base);
  }
}

/// Whether a point counts in the first fit: it is not known to be slow, and neither host is slow with everybody by the
/// structure.
bool is_usual_at_first(const Model& model, const Point& point) {
  if (model.is_left_out(point)) return false;
  const std::vector<char>& alone = model.structure.is_alone;
  return alone[at(model.ids.host(point.sender))] == 0 && alone[at(model.ids.host(point.receiver))] == 0;
}

/// By stratum, the median of each effect with points there. Between parts, each part counts once: if one of three
/// leaves has slow uplinks, most pairs are slow.
std::vector<std::vector<OfPart>> medians_of_effects(const Model& model) {
  const std::vector<Level>& levels = model.structure.levels;
  const bool are_several = !levels.empty() && (levels.front().is_given || levels.front().parts > 2);
  const auto by_parts = [&](std::size_t stratum) { return are_several && model.strata[stratum].distance > 0; };
  const auto part_at = [&](std::int32_t effect) { return model.part_of(model.ids.host(effect)); };
  std::vector<std::vector<OfPart>> medians(model.strata.size());
  std::vector<std::vector<OfPart>> values(model.strata.size());  // of one effect, which has points in few strata
  std::vector<std::size_t> touched;
  for (std::int32_t effect = 0; effect < model.effects(); ++effect) {
    for (const Entry entry : model.entries_of(effect)) {
      const Point& point = model.point_of(entry);
      if (!is_usual_at_first(model, point)) continue;
      const std::size_t stratum = at(point.stratum);
      if (values[stratum].empty()) touched.push_back(stratum);
      values[stratum].push_back(
          {by_parts(stratum) ? part_at(entry.other) : 0, static_cast<float>(point.log_rate - drift_of(model, point))});
    }
    // The paths out of a part may be slow, and the paths into it healthy.
    const std::int32_t direction = part_at(effect) * kRoles + static_cast<std::int32_t>(EffectIds::role(effect));
    for (const std::size_t stratum : touched) {
      medians[stratum].push_back({by_parts(stratum) ? direction : 0, upper_median_of_parts(values[stratum])});
      values[stratum].clear();
    }
    touched.clear();
  }
  return medians;
}

/// Sets centres from medians by host.
void centre_by_hosts(Model& model) {
  std::vector<std::vector<OfPart>> medians = medians_of_effects(model);
  std::map<std::int32_t, std::vector<float>> of_slow_hosts;  // by stratum of which all hosts may be slow
  for (const Point& point : model.points) {
    if (medians[at(point.stratum)].empty())
      of_slow_hosts[point.stratum].push_back(static_cast<float>(point.log_rate - drift_of(model, point)));
  }
  for (auto& [stratum, values] : of_slow_hosts) model.log_centre[at(stratum)] = median_of(values);
  for (std::size_t stratum = 0; stratum < medians.size(); ++stratum) {
    if (!medians[stratum].empty()) model.log_centre[stratum] = upper_median_of_parts(medians[stratum]);
  }
}

/// By stratum, the residuals of the points that `wanted` takes.
template <typename Wanted>
std::vector<std::vector<float>> residuals_by_stratum(const Model& model, const Wanted& wanted) {
  std::vector<std::vector<float>> residuals(model.strata.size());
  for (const Point& point : model.points) {
    if (wanted(point)) residuals[at(point.stratum)].push_back(point.residual);
  }
  return residuals;
}

/// Faults make readings only slower. So where readings of half the usual rate would be noise, those above the centre of
/// the fit tell the scale.
double scale_of(std::vector<float>& residuals, double slow) {
  if (residuals.size() < kFewReadings) std::erase_if(residuals, [&](float value) { return value < slow; });
  const double least = residuals.size() < kFewReadings ? kUsualScale : kLeastScale;
  if (residuals.empty()) return least;
  std::vector<float> above;
  for (const float value : residuals) {
    if (value >= 0) above.push_back(value);
  }
  const float centre = median_of(residuals);
  for (float& value : residuals) value = std::abs(value - centre);
  const double scale = std::max(least, scale_by(residuals));
  return scale <= std::numbers::ln2 || above.size() < kFew ? scale : std::min(scale, std::max(least, scale_by(above)));
}

template <typename Wanted>
void set_scales(Model& model, const Wanted& wanted) {
  std::vector<std::vector<float>> residuals = residuals_by_stratum(model, wanted);
  for (std::size_t stratum = 0; stratum < residuals.size(); ++stratum) {
    model.strata[stratum].scale = scale_of(residuals[stratum], model.slow);
    model.strata[stratum].centre = std::exp(model.log_centre[stratum]);
  }
}

/// The median of the scales, weighted by readings. One stratum may scatter far more, since half of it is slow.
double usual_scale(const Model& model) {
  std::vector<Stratum> strata = model.strata;
  std::ranges::sort(strata, [](const Stratum& a, const Stratum& b) { return a.scale < b.scale; });
  std::int64_t before = 0;
  for (const Stratum& stratum : strata) {
    before += stratum.readings;
    if (2 * before >= static_cast<std::int64_t>(model.points.size())) return stratum.scale;
  }
  return kLeastScale;
}

/// Adds to the drift what all readings of a window of time have in common, relative to all windows: a deficit that
/// lasts is no drift. A window is represented by its fourth quintile, since many of its readings may be slow for
/// reasons of their own. Shifts are shrunk by the positive-part estimate of James and Stein, so that chance adds no
/// noise in a steady network.
template <typename Wanted>
void add_drift(Model& model, const Wanted& wanted) {
  std::vector<std::vector<float>> residuals(model.drift.size());
  for (const Point& point : model.points) {
    if (!point.lightly_loaded && wanted(point)) {
      const auto window = at(point.window);
      residuals[window].push_back(static_cast<float>(point.residual / model.scale_of(point)));
    }
  }
  std::vector<std::pair<double, double>> shifts(residuals.size());  // in scales: the quantile and its variance
  std::vector<double> medians;
  for (std::size_t window = 0; window < residuals.size(); ++window) {
    std::vector<float>& values = residuals[window];
    if (values.size() < kFewReadings) continue;
    shifts[window] = {upper_bound_of_most(values), kVarianceOfDrift / static_cast<double>(values.size())};
    medians.push_back(shifts[window].first);
  }
  if (medians.size() < 2) return;
  const double usual = median_of(medians);
  double excess = 0;
  for (auto& [shift, variance] : shifts) {
    if (variance <= 0) continue;
    shift -= usual;
    excess += shift * shift - variance;
  }
  const double between = excess / static_cast<double>(medians.size());
  if (between <= 0) return;
  const double scale = usual_scale(model);
  for (std::size_t window = 0; window < shifts.size(); ++window) {
    const auto [shift, variance] = shifts[window];
    if (variance > 0) model.drift[window] += shift * scale * between / (between + variance);
  }
}

/// The full rounds of a kind, and their drift.
struct FullRounds {
  std::vector<std::int32_t> rounds;
  std::vector<double> drift;
};

/// The standard deviation of the drift from one full round to the next.
double scatter_of(const std::vector<double>& drift) {
  std::vector<double> steps;
  for (std::size_t i = 1; i < drift.size(); ++i) {
    if (drift[i] != drift[i - 1]) steps.push_back(std::abs(drift[i] - drift[i - 1]));
  }
  return steps.empty() ? 0 : scale_by(steps) / std::sqrt(2.0);
}

/// The drift for readings under light load. Behind the last full round it is the median level of the last rounds, or
/// that of the very last ones, whichever is lower.
LightLoadDrift light_load_drift_of(FullRounds full) {
  LightLoadDrift drift;
  if (full.rounds.empty()) return drift;
  drift.usual = medians_about(full.drift);
  drift.scatter = scatter_of(full.drift);
  std::vector<double> last(full.drift.end() - std::min<std::ptrdiff_t>(kMany, std::ssize(full.drift)),
                           full.drift.end());
  drift.usual.back() = std::min(drift.usual.back(), median_of(last));
  drift.rounds = std::move(full.rounds);
  return drift;
}

void set_light_load_drift(Model& model) {
  if (!model.has_lightly_loaded) return;
  std::vector<FullRounds> full(model.sweep->tests.size() + 1);
  for (const Point& point : model.points) {
    const Reading& reading = model.reading_of(point);
    full.resize(std::max<std::size_t>(full.size(), at(reading.test) + 1));
    FullRounds& of_kind = full[at(reading.test)];
    if (point.lightly_loaded || (!of_kind.rounds.empty() && of_kind.rounds.back() >= reading.round)) continue;
    of_kind.rounds.push_back(reading.round);
    of_kind.drift.push_back(model.drift[at(point.window)] + drop_of(model, reading));
  }
  model.light_load_drift.clear();
  for (FullRounds& of_kind : full) model.light_load_drift.push_back(light_load_drift_of(std::move(of_kind)));
}

/// Finds single rounds in which everything was slow without another reason: the network was busy, or stood still. Drift
/// covers several rounds.
void find_drops(Model& model) {
  struct Round {
    std::vector<float> residuals;
    std::set<HostPair> pairs;
    std::int32_t at_once = 0;
  };
  std::map<std::pair<std::int16_t, std::int32_t>, Round> rounds;
  std::int32_t most = 0;
  for (const Point& point : model.points) {
    const Reading& reading = model.reading_of(point);
    most = std::max(most, reading.concurrent);
    if (point.lightly_loaded || !model.is_clean(point)) continue;
    Round& round = rounds[{reading.test, reading.round}];
    round.residuals.push_back(point.residual);
    if (round.pairs.size() < kSeveral) round.pairs.insert(std::minmax(reading.from, reading.to));
    round.at_once = reading.concurrent;
  }
  for (auto& [key, round] : rounds) {
    const bool is_full = most > 1 && round.at_once == most;
    if (round.pairs.size() < (is_full ? 2 : kSeveral)) continue;  // few hosts cannot have more
    if (upper_bound_of_most(round.residuals) < model.slow) model.drops[key] = median_of(round.residuals);
  }
  // If most rounds are like that, it is the usual level.
  if (2 * model.drops.size() > rounds.size()) model.drops.clear();
}

/// Nearer hosts are no slower. If the centre of a stratum is lower than its lender's by more than the tolerance, or
/// rests on too few pairs, it borrows the lender's.
void borrow_norms(Model& model) {
  for (std::size_t stratum = 0; stratum < model.lender.size(); ++stratum) {
    if (model.lender[stratum] == Model::kNoLender) continue;
    const double farther = model.log_centre[at(model.lender[stratum])];
    const bool few = model.strata[stratum].pairs < Stratum::kPairsOfNorm;
    double& centre = model.log_centre[stratum];
    if (centre < farther + (few ? -model.slow / 2 : model.slow)) centre = farther;
  }
}

/// Sets centres from clean readings.
void centre_clean(Model& model) {
  const auto clean = [&](const Point& point) {
    return !point.lightly_loaded && model.is_clean(point) && model.near_limit_of(point) == 0;
  };
  std::vector<std::vector<float>> residuals = residuals_by_stratum(model, clean);
  for (std::size_t stratum = 0; stratum < residuals.size(); ++stratum) {
    std::vector<float>& values = residuals[stratum];
    if (values.size() < kFewReadings) std::erase_if(values, [&](float value) { return value < model.slow; });
    if (!values.empty()) model.log_centre[stratum] += median_of(values);
  }
  borrow_norms(model);
}

void set_tail(Model& model) {
  std::vector<float> low;
  std::int64_t all = 0;
  const double bound = model.slow / 2;
  for (const Point& point : model.points) {
    if (!model.is_clean(point)) continue;
    ++all;
    if (point.residual < bound) low.push_back(point.residual);
  }
  model.tail = Tail(std::move(low), all);
}

}  // namespace

void fit_first(Model& model) {
  const auto all = [](const Point&) { return true; };
  std::ranges::fill(model.cap, kNoCap);
  std::ranges::fill(model.flagged, 0);
  model.drops.clear();
  for (Point& point : model.points) point.over_slow_device = false;
  centre_by_hosts(model);
  borrow_norms(model);
  set_residuals(model);
  set_scales(model, all);
  add_drift(model, [&](const Point& point) { return is_usual_at_first(model, point); });
  set_light_load_drift(model);
  set_residuals(model);
  set_scales(model, all);
  set_tail(model);
}

void fit_clean(Model& model) {
  const auto clean = [&](const Point& point) { return model.is_clean(point); };
  centre_clean(model);
  set_residuals(model);
  add_drift(model, clean);
  set_light_load_drift(model);
  set_residuals(model);
  find_drops(model);
  set_residuals(model);
  set_scales(model, clean);
  set_tail(model);
}

}  // namespace fabricbench::cluster
