#include "cluster/attribution/pairs.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <utility>

#include "cluster/attribution/units.h"
#include "cluster/robust.h"
#include "cluster/sorted_unique.h"
#include "common/core/distributions.h"

namespace fabricbench::cluster {
namespace {

/// After so many meetings a path that is not known to be unsteady is not measured again.
constexpr std::int64_t kMeetingsToSettle = 20;

/// Whether a path may be unsteady: slow in a fifth of its meetings. `slow`: in how many of its meetings so far.
bool may_be_unsteady(std::int64_t slow, std::int64_t meetings) {
  return static_cast<double>(slow) >= 0.15 * static_cast<double>(meetings);
}

/// A retest is slow if its deficit has at least this share of the first one, as logarithms.
constexpr double kShareOfFirst = 0.4;
/// The share of slow retests of a slow pair.
constexpr double kShareOfRetests = 0.75;
/// An open pair is noise after this many times VerdictSettings::pair_readings retests.
constexpr std::int64_t kPatience = 4;
/// A pair that was slow again, but not always, is measured again until it is sure that it is unsteady, or its chance
/// exceeds this, or it has met often enough (kMeetingsToSettle, without the first meeting).
constexpr double kLikelyChance = 0.3;
/// If a larger share of all flows is suspicious, these are no exceptions.
constexpr double kTooMany = 0.1;
constexpr std::int64_t kTooManyAtLeast = 10;

double beyond(const Model& model, const Point& point) { return point.residual - model.explained(point); }

std::int64_t count_flows(const Model& model) {
  std::int64_t flows = 0;
  for (std::int32_t effect = 0; effect < model.effects(); ++effect) {
    if (EffectIds::role(effect) == Role::kReceiver) continue;
    for_each_partner(model, effect, [&](std::span<const Entry>) { ++flows; });
  }
  return flows;
}

/// The bound below which a residual is suspicious: in a healthy sweep no reading is expected below it.
double suspicion(double scale, std::int64_t flows, const VerdictSettings& settings) {
  const double chance = settings.false_alarm / (kFamilies * static_cast<double>(std::max<std::int64_t>(flows, 1)));
  return -normal_quantile(chance) * scale;
}

using Flow = std::pair<std::int32_t, std::int32_t>;  // sender and receiver, or the lower and the higher of kEither

Flow flow_of(const Point& point) {
  if (EffectIds::role(point.sender) != Role::kEither) return {point.sender, point.receiver};
  return std::minmax(point.sender, point.receiver);
}

/// Whether the centre of a stratum rests on enough pairs. If there are only two hosts, their two directions suffice.
bool has_norm(const Model& model, std::size_t stratum) {
  return model.strata[stratum].pairs >= Stratum::kPairsOfNorm || model.borrows(stratum) || model.hosts_present == 2;
}

/// Flows with a reading that is too slow for chance.
std::vector<Flow> suspicious_flows(const Model& model, std::int64_t flows) {
  std::vector<Flow> suspicious;
  const double bound = suspicion(1, flows, model.settings);
  for (const Point& point : model.points) {
    const auto stratum = static_cast<std::size_t>(point.stratum);
    const double limit = std::min(model.slow, bound * model.strata[stratum].scale);
    if (point.residual < model.slow && beyond(model, point) < limit && has_norm(model, stratum)) {
      suspicious.push_back(flow_of(point));
    }
  }
  return sorted_unique(std::move(suspicious));
}

/// The points of a flow, in the order of time.
std::vector<const Point*> points_of(const Model& model, const Flow& flow) {
  const std::span<const Entry> entries = model.entries_of(flow.first);
  const auto below = [&](Entry entry, std::int32_t unit) { return EffectIds::unit(entry.other) < unit; };
  auto at = std::lower_bound(entries.begin(), entries.end(), EffectIds::unit(flow.second), below);
  std::vector<const Point*> points;
  for (; at != entries.end() && EffectIds::unit(at->other) == EffectIds::unit(flow.second); ++at) {
    points.push_back(&model.point_of(*at));
  }
  return points;
}

std::vector<float> residuals_of(const Model& model, const std::vector<const Point*>& points) {
  std::vector<float> residuals;
  residuals.reserve(points.size());
  for (const Point* point : points) residuals.push_back(static_cast<float>(beyond(model, *point)));
  return residuals;
}

/// The largest scale of a flow's points.
double scale_at(const Model& model, const std::vector<const Point*>& points) {
  double scale = 0;
  for (const Point* point : points) scale = std::max(scale, model.scale_of(*point));
  return scale;
}

/// The probability that a healthy pair has so many readings as slow as these.
double chance_of_slow(const Model& model, const std::vector<const Point*>& points, const std::vector<float>& residuals,
                      std::int64_t slow) {
  if (slow == 0) return 1;
  std::vector<float> sorted = residuals;
  std::sort(sorted.begin(), sorted.end());
  const double mildest = sorted[static_cast<std::size_t>(slow - 1)];
  const auto all = static_cast<std::int64_t>(points.size());
  return binomial_tail(all, model.tail.below(mildest, scale_at(model, points), slow, all), slow);
}

PairState state_of(const Model& model, const PairEffect& pair, std::int64_t slow_retests) {
  const bool only_each_other = has_one_partner(model, pair.sender) || has_one_partner(model, pair.receiver);
  if (only_each_other && pair.median < model.slow) return PairState::kAlone;
  const bool mostly = static_cast<double>(slow_retests) > kShareOfRetests * static_cast<double>(pair.retests);
  const bool sure = pair.false_alarm < model.settings.false_alarm;
  if (mostly || pair.retests == 0) {
    const bool enough = pair.retests >= model.settings.pair_readings;
    if (enough && sure) return PairState::kSlow;
    return pair.retests < kPatience * model.settings.pair_readings ? PairState::kOpen : PairState::kNoise;
  }
  if (sure && slow_retests >= model.settings.pair_readings) return PairState::kNowAndThen;
  const bool may_be = slow_retests > 0 && may_be_unsteady(pair.slow, pair.readings) && pair.false_alarm < kLikelyChance;
  return may_be && pair.retests < kMeetingsToSettle ? PairState::kUnclear : PairState::kNoise;
}

/// Sets the medians of a pair, from some of its flow's points.
void set_medians(const Model& model, const std::vector<const Point*>& points, const std::vector<std::size_t>& places,
                 PairEffect& pair) {
  std::vector<float> residuals;
  std::vector<float> expected;
  for (const std::size_t place : places) {
    const double residual = beyond(model, *points[place]);
    residuals.push_back(static_cast<float>(residual));
    expected.push_back(static_cast<float>(std::exp(points[place]->log_rate - residual)));
  }
  pair.median = median_of(residuals);
  pair.expected = median_of(expected);
}

PairEffect judge_flow(const Model& model, const Flow& flow, std::int64_t tests) {
  const std::vector<const Point*> points = points_of(model, flow);
  const std::vector<float> residuals = residuals_of(model, points);
  PairEffect pair;
  pair.sender = points.front()->sender;
  pair.receiver = points.front()->receiver;
  pair.readings = static_cast<std::int64_t>(points.size());
  pair.retests = pair.readings - 1;
  const double bound = suspicion(model.scale_of(*points.front()), tests, model.settings);
  const auto first = std::find_if(residuals.begin(), residuals.end(),
                                  [&](float value) { return value < std::min(model.slow, bound); });
  const auto raised = static_cast<std::size_t>(first - residuals.begin()) % residuals.size();
  const double level = std::min(model.slow, kShareOfFirst * residuals[raised]);
  std::vector<std::size_t> slow;
  std::vector<std::size_t> again;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (residuals[i] < level) slow.push_back(i);
    if (i != raised || points.size() == 1) again.push_back(i);
  }
  pair.slow = static_cast<std::int64_t>(slow.size());
  pair.retested_alone = std::any_of(slow.begin(), slow.end(), [&](std::size_t i) {
    const Reading& reading = model.reading_of(*points[i]);
    return reading.concurrent == 1 && reading.round > model.reading_of(*points[slow.front()]).round;
  });
  pair.false_alarm = family_wise(chance_of_slow(model, points, residuals, pair.slow), static_cast<double>(tests));
  set_medians(model, points, again, pair);
  pair.state = state_of(model, pair, pair.slow - 1);
  const bool is_mixed = pair.state == PairState::kNowAndThen || pair.state == PairState::kUnclear;
  if (is_mixed) set_medians(model, points, slow, pair);
  return pair;
}

/// Whether a healthy pair of other hosts shows that the two parts of a flow's hosts are near each other.
bool others_are_near(const Model& model, const std::vector<std::int32_t>& part_of, const Flow& flow) {
  const std::int32_t from = model.ids.host(flow.first);
  const std::int32_t to = model.ids.host(flow.second);
  const auto is_beside = [&](std::int32_t host, std::int32_t other) {
    const std::int32_t part = part_of[static_cast<std::size_t>(other)];
    return host == other || (part >= 0 && part_of[static_cast<std::size_t>(host)] == part);
  };
  for (std::int32_t effect = 0; effect < model.effects(); ++effect) {
    const std::int32_t host = model.ids.host(effect);
    if (!is_beside(host, from)) continue;
    for (const Entry entry : model.entries_of(effect)) {
      const std::int32_t partner = model.ids.host(entry.other);
      if (!is_beside(partner, to) || (host == from && partner == to)) continue;
      if (beyond(model, model.point_of(entry)) >= model.slow) return true;
    }
  }
  return false;
}

/// Whether a flow is as fast as healthy readings of a stratum, within the tolerance.
bool is_as_fast_as(const Model& model, const std::vector<const Point*>& points, std::int32_t stratum) {
  std::vector<float> residuals = residuals_of(model, points);
  const double centre = model.log_centre[static_cast<std::size_t>(points.front()->stratum)];
  const double rate = centre + static_cast<double>(median_of(residuals));
  return rate >= model.log_centre[static_cast<std::size_t>(stratum)] + model.slow;
}

/// Whether a host of a flow is in no group that was found, so that its distance from others is not known.
bool has_unplaced_host(const Model& model, const Flow& flow) {
  const std::vector<Nearness>& levels = model.structure.levels;
  if (levels.empty() || levels.front().is_given) return false;
  return model.part_of(model.ids.host(flow.first)) < 0 || model.part_of(model.ids.host(flow.second)) < 0;
}

/// The stratum with the largest distance, among those that differ from this one only in distance.
std::int32_t farthest(const Model& model, std::int32_t stratum) {
  while (model.lender[static_cast<std::size_t>(stratum)] != Model::kNoLender) {
    stratum = model.lender[static_cast<std::size_t>(stratum)];
  }
  return stratum;
}

/// Whether the hosts of a slow flow may be farther apart than the groups say: the flow is as fast as flows between
/// hosts farther apart, and no faster reading was taken between the two parts.
bool may_be_farther(const Model& model, const Flow& flow) {
  const std::vector<const Point*> points = points_of(model, flow);
  const std::int32_t stratum = points.front()->stratum;
  if (has_unplaced_host(model, flow)) return is_as_fast_as(model, points, farthest(model, stratum));
  const auto distance = static_cast<std::size_t>(model.strata[static_cast<std::size_t>(stratum)].distance);
  const std::vector<Nearness>& levels = model.structure.levels;
  const std::int32_t farther = model.lender[static_cast<std::size_t>(stratum)];
  const bool is_found = distance > 0 && distance < levels.size() && !levels[distance].is_given;
  if (!is_found || farther == Model::kNoLender) return false;
  return is_as_fast_as(model, points, farther) && !others_are_near(model, levels[distance - 1].part_of, flow);
}

}  // namespace

PairEffects find_pairs(const Model& model, const UnitEffects& units) {
  PairEffects result;
  result.tested = count_flows(model);
  std::vector<char> suspected(model.cap.size(), 0);
  result.suspects = suspected;
  for (const UnitEffect& unit : units.suspected) {
    suspected[static_cast<std::size_t>(unit.effect)] = 1;
    result.suspects[static_cast<std::size_t>(unit.effect)] = is_slow_with_all(model, unit.effect) ? 1 : 0;
  }
  const std::vector<Flow> flows = suspicious_flows(model, result.tested);
  for (const Flow& flow : flows) {
    const bool explained =
        suspected[static_cast<std::size_t>(flow.first)] != 0 || suspected[static_cast<std::size_t>(flow.second)] != 0;
    if (!explained && !may_be_farther(model, flow)) result.pairs.push_back(judge_flow(model, flow, result.tested));
  }
  const auto unsettled = std::count_if(result.pairs.begin(), result.pairs.end(),
                                       [](const PairEffect& pair) { return pair.state != PairState::kNoise; });
  result.too_many =
      unsettled > kTooManyAtLeast && static_cast<double>(unsettled) > kTooMany * static_cast<double>(result.tested);
  return result;
}

bool has_one_partner(const Model& model, std::int32_t effect) {
  const std::int32_t unit = EffectIds::unit(effect);
  std::int32_t known = -1;
  for (std::int32_t role = 0; role < kRoles; ++role) {
    for (const Entry entry : model.entries_of(unit * kRoles + role)) {
      const std::int32_t host = model.ids.host(entry.other);
      if (known >= 0 && host != known) return false;
      known = host;
    }
  }
  return true;
}

bool is_fine_way(const Model& model, std::int32_t sender, std::int32_t receiver) {
  std::vector<float> residuals;
  for (const Point* point : points_of(model, {sender, receiver})) {
    residuals.push_back(static_cast<float>(beyond(model, *point)));
  }
  return !residuals.empty() && median_of(residuals) >= model.slow;
}

}  // namespace fabricbench::cluster
