#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cluster/pairs/attribution/findings.h"
#include "cluster/pairs/attribution/units.h"
#include "cluster/pairs/robust.h"
#include "cluster/pairs/sets.h"
#include "cluster/pairs/thresholds.h"
#include "common/core/statistics.h"

namespace fabricbench::cluster {
namespace {

using Flow = std::pair<std::int32_t, std::int32_t>;  // sender and receiver, or the lower and the higher of kEither
using Points = std::vector<const Point*>;

double beyond(const Model& model, const Point& point) { return point.residual - model.explained(point); }

Flow flow_of(const Point& point) {
  if (EffectIds::role(point.sender) != Role::kEither) return {point.sender, point.receiver};
  return std::minmax(point.sender, point.receiver);
}

/// The points of a flow, in the order of time.
Points points_of(const Model& model, const Flow& flow) {
  const std::span<const Entry> entries = model.entries_of(flow.first);
  const auto below = [&](Entry entry, std::int32_t unit) { return EffectIds::unit(entry.other) < unit; };
  auto at = std::lower_bound(entries.begin(), entries.end(), EffectIds::unit(flow.second), below);
  Points points;
  for (; at != entries.end() && EffectIds::unit(at->other) == EffectIds::unit(flow.second); ++at) {
    points.push_back(&model.point_of(*at));
  }
  return points;
}

/// The median of what nothing explains of these points.
double median_beyond(const Model& model, const Points& points) {
  std::vector<double> residuals;
  for (const Point* point : points) residuals.push_back(beyond(model, *point));
  return median_of(residuals);
}

/// Whether the centre of a point's stratum rests on enough pairs. If there are only two hosts, their two directions
/// suffice.
bool has_norm(const Model& model, const Point& point) {
  const auto stratum = at(point.stratum);
  return model.strata[stratum].pairs >= Stratum::kPairsOfNorm || model.borrows(stratum) || model.hosts_present == 2;
}

/// Finds and judges flows.
class Flows {
 public:
  explicit Flows(const Model& model) : model_(model) {
    for (std::int32_t effect = 0; effect < model.effects(); ++effect) {
      if (EffectIds::role(effect) == Role::kReceiver) continue;
      for_each_partner(model, effect, [&](std::span<const Entry>) { ++flows_; });
    }
    const double tests = kFamilies * static_cast<double>(std::max<std::int64_t>(flows_, 1));
    suspicion_ = -normal_quantile(model.settings.false_alarm / tests);
  }

  [[nodiscard]] std::int64_t number() const { return flows_; }

  /// Flows with a reading that is too slow for chance.
  [[nodiscard]] std::vector<Flow> suspicious() const {
    std::vector<Flow> flows;
    for (const Point& point : model_.points) {
      const double scale = model_.strata[at(point.stratum)].scale;
      const bool is_slow = point.residual < model_.slow && beyond(model_, point) < limit(scale);
      if (is_slow && has_norm(model_, point)) flows.push_back(flow_of(point));
    }
    return sorted_unique(std::move(flows));
  }

  [[nodiscard]] PairEffect judge(const Flow& flow) const {
    const Points points = points_of(model_, flow);
    PairEffect pair;
    pair.sender = points.front()->sender;
    pair.receiver = points.front()->receiver;
    pair.readings = std::ssize(points);
    pair.retests = pair.readings - 1;
    const double bound = limit(model_.scale_of(*points.front()));
    auto first = std::ranges::find_if(points, [&](const Point* each) { return beyond(model_, *each) < bound; });
    if (first == points.end()) first = points.begin();
    const double level = std::min(model_.slow, kPart * beyond(model_, **first));
    Points slow;
    std::ranges::copy_if(points, std::back_inserter(slow),
                         [&](const Point* point) { return beyond(model_, *point) < level; });
    pair.slow = std::ssize(slow);
    pair.retested_alone = std::ranges::any_of(slow, [&](const Point* point) {
      const Reading& reading = model_.reading_of(*point);
      return reading.concurrent == 1 && reading.round > model_.reading_of(*slow.front()).round;
    });
    pair.false_alarm = false_alarm_of(points, slow.size());
    Points retests = points;
    if (retests.size() > 1) retests.erase(retests.begin() + (first - points.begin()));
    pair.median = median_beyond(model_, retests);
    pair.state = state_of(pair);
    const bool is_mixed = pair.state == PairState::kNowAndThen || pair.state == PairState::kUnclear;
    if (is_mixed) pair.median = median_beyond(model_, slow);
    std::vector<double> expected;
    for (const Point* point : is_mixed ? slow : retests)
      expected.push_back(std::exp(point->log_rate - beyond(model_, *point)));
    pair.expected = median_of(expected);
    return pair;
  }

 private:
  /// In a healthy sweep no reading is expected to be below it.
  [[nodiscard]] double limit(double scale) const { return std::min(model_.slow, suspicion_ * scale); }
  /// The probability that any healthy flow has so many readings as slow as the slowest ones of these.
  [[nodiscard]] double false_alarm_of(const Points& points, std::size_t slow) const {
    if (slow == 0) return 1;
    std::vector<double> residuals;
    double scale = 0;
    for (const Point* point : points) {
      residuals.push_back(beyond(model_, *point));
      scale = std::max(scale, model_.scale_of(*point));
    }
    std::ranges::sort(residuals);
    const auto all = std::ssize(points);
    const auto low = static_cast<std::int64_t>(slow);
    const double chance = binomial_tail(all, model_.tail.below(residuals[slow - 1], scale, low, all), low);
    return family_wise(chance, static_cast<double>(flows_));
  }

  [[nodiscard]] PairState state_of(const PairEffect& pair) const {
    const bool only_each_other = has_one_partner(model_, pair.sender) || has_one_partner(model_, pair.receiver);
    if (only_each_other && pair.median < model_.slow) return PairState::kAlone;
    const std::int64_t again = pair.slow - 1;
    const bool is_sure = pair.false_alarm < model_.settings.false_alarm && again >= model_.settings.pair_readings;
    const bool mostly = pair.retests == 0 || static_cast<double>(again) > kMost * static_cast<double>(pair.retests);
    if (is_sure) return mostly ? PairState::kSlow : PairState::kNowAndThen;
    const bool may_be = again > 0 && pair.false_alarm < kLikely &&
                        static_cast<double>(pair.slow) >= kUnsteadyShare * static_cast<double>(pair.readings);
    if ((!mostly && !may_be) || pair.retests >= kMany) return PairState::kNoise;
    return mostly ? PairState::kOpen : PairState::kUnclear;
  }

  const Model& model_;
  std::int64_t flows_ = 0;
  double suspicion_ = 0;  // in scales
};

/// Whether a healthy pair of other hosts shows that the two parts of a flow's hosts are near each other.
bool others_are_near(const Model& model, const std::vector<std::int32_t>& part_of, const Flow& flow) {
  const Flow hosts = {model.ids.host(flow.first), model.ids.host(flow.second)};
  const auto is_beside = [&](std::int32_t host, std::int32_t other) {
    const std::int32_t part = part_of[at(other)];
    return host == other || (part >= 0 && part_of[at(host)] == part);
  };
  return std::ranges::any_of(model.points, [&](const Point& point) {
    for (const auto& [one, other] : {Flow{model.ids.host(point.sender), model.ids.host(point.receiver)},
                                     Flow{model.ids.host(point.receiver), model.ids.host(point.sender)}}) {
      if (is_beside(one, hosts.first) && is_beside(other, hosts.second) && Flow{one, other} != hosts)
        return beyond(model, point) >= model.slow;
    }
    return false;
  });
}

/// Whether the hosts of a slow flow may be farther apart than groups in the readings say: the flow is as fast as flows
/// between hosts farther apart, and no faster reading was taken between the two parts.
bool may_be_farther(const Model& model, const Flow& flow) {
  const std::vector<Level>& levels = model.structure.levels;
  if (levels.empty() || levels.front().is_given) return false;
  const Points points = points_of(model, flow);
  const std::int32_t stratum = points.front()->stratum;
  const bool is_unplaced =
      model.part_of(model.ids.host(flow.first)) < 0 || model.part_of(model.ids.host(flow.second)) < 0;
  const auto lender = [&](std::int32_t of) { return model.lender[at(of)]; };
  std::int32_t farther = is_unplaced ? stratum : lender(stratum);
  while (is_unplaced && lender(farther) != Model::kNoLender) farther = lender(farther);
  if (farther == Model::kNoLender) return false;
  const double rate = model.centre_of(*points.front()) + median_beyond(model, points);
  if (rate < model.log_centre[at(farther)] + model.slow) return false;
  const auto distance = at(model.strata[at(stratum)].distance);
  return is_unplaced || (distance > 0 && distance < levels.size() && !levels[distance].is_given &&
                         !others_are_near(model, levels[distance - 1].part_of, flow));
}

bool in_state(const PairEffect* pair, PairState state) { return pair != nullptr && pair->state == state; }

/// The two directions of a pair of units.
struct BothDirections {
  const PairEffect* forth = nullptr;  ///< from the unit with the lower number
  const PairEffect* back = nullptr;

  [[nodiscard]] bool any(PairState state) const { return in_state(forth, state) || in_state(back, state); }
  /// The worse one of the directions in a state; nullptr: none is.
  [[nodiscard]] const PairEffect* worst(PairState state) const {
    if (!in_state(forth, state)) return in_state(back, state) ? back : nullptr;
    return in_state(back, state) && back->median < forth->median ? back : forth;
  }
  [[nodiscard]] const PairEffect& either() const { return forth != nullptr ? *forth : *back; }
};

/// Whether there are readings from one unit to another, and they are fine.
bool is_fine_direction(const Model& model, std::int32_t sender, std::int32_t receiver) {
  const Points points = points_of(model, {sender, receiver});
  return !points.empty() && median_beyond(model, points) >= model.slow;
}

/// One finding on the directions of a path that are in this state.
Finding from_ways(const Model& model, const BothDirections& directions, PairState state, Blame blame) {
  const PairEffect& worst = *directions.worst(state);
  const bool both = in_state(directions.forth, state) && in_state(directions.back, state);
  const EffectIds& ids = model.ids;
  Flow units = {worst.sender, worst.receiver};
  if (both && ids.host(units.first) > ids.host(units.second)) std::swap(units.first, units.second);
  Finding finding;
  finding.blame = blame;
  finding.hosts = {ids.host(units.first), ids.host(units.second)};
  finding.both_ways = EffectIds::role(worst.sender) == Role::kEither && !model.directions_pooled;
  finding.direction = finding.both_ways || both ? Direction::kBoth : Direction::kSends;
  finding.other_way_fine =
      finding.direction != Direction::kBoth && !model.directions_pooled &&
      is_fine_direction(model, EffectIds::other_way(worst.receiver), EffectIds::other_way(worst.sender));
  if (ids.rails > 1) finding.rail = ids.rail(units.first);
  if (ids.rail(units.first) != ids.rail(units.second)) finding.other_rail = ids.rail(units.second);
  if (model.sweep->tests.size() > 1) finding.tests = {static_cast<std::int16_t>(ids.kind(worst.sender))};
  finding.ratio = std::exp(worst.median);
  finding.expected = worst.expected;
  finding.rate = finding.expected * finding.ratio;
  finding.partners = 1;
  for (const PairEffect* pair : {directions.forth, directions.back}) {
    if (!in_state(pair, state)) continue;
    finding.readings += pair->readings;
    finding.slow += pair->slow;
    finding.false_alarm = std::min(finding.false_alarm, pair->false_alarm);
    finding.confirmed = finding.confirmed || pair->retested_alone;
  }
  return finding;
}

FollowUp follow_up_on(const Model& model, const PairEffect& pair) {
  const std::int64_t wanted = std::max<std::int64_t>(1, model.settings.pair_readings - pair.retests);
  const std::string slow =
      pair.readings == 1 ? "" : fmt::format("slow in {} of {} readings, ", pair.slow, pair.readings);
  return {model.ids.host(pair.sender), model.ids.host(pair.receiver),
          static_cast<std::int16_t>(model.ids.rail(pair.sender)), static_cast<std::int32_t>(wanted),
          fmt::format("{}{:.0f} % slower than both hosts are with others", slow, -100 * std::expm1(pair.median))};
}

/// Whether a host that is slow now and then explains a slow path. It does, unless the path is slow more often than
/// chance makes any path of that host. `slow_share`, by host: the share of slow meetings; 0: a steady host.
bool is_explained(const Model& model, const BothDirections& directions, const std::vector<double>& slow_share) {
  const PairEffect& any = directions.either();
  const double share =
      std::max(slow_share[at(model.ids.host(any.sender))], slow_share[at(model.ids.host(any.receiver))]);
  if (share == 0) return false;
  const auto lasts = [&](const PairEffect* pair) {
    return in_state(pair, PairState::kSlow) &&
           family_wise(binomial_tail(pair->readings, share, pair->slow), model.ids.hosts) < model.settings.false_alarm;
  };
  return !lasts(directions.forth) && !lasts(directions.back);
}

/// Whether an effect is fine with other partners: its readings with them are slow no more often than usual, and would
/// hardly be so if the host were slow with everybody as often as with this partner.
bool is_fine_with_others(const Model& model, std::int32_t effect, std::int32_t partner, const PairEffect& pair) {
  std::int64_t others = 0;
  std::int64_t slow = 0;
  for (const Entry entry : model.entries_of(effect)) {
    if (entry.other == partner) continue;
    const Point& point = model.point_of(entry);
    ++others;
    slow += beyond(model, point) < outlier_bound(model, point) ? 1 : 0;
  }
  const double share = static_cast<double>(pair.slow) / static_cast<double>(pair.readings);
  const double usual = model.tail.below(model.slow, model.scale_of(model.point_of(model.entries_of(effect).front())));
  return 1 - binomial_tail(others, share, slow + 1) < model.settings.false_alarm &&
         binomial_tail(others, usual, slow) > model.settings.false_alarm;
}

/// Asks for readings of both hosts of a path with others, where `needs` holds for an effect and its partner's. Returns
/// whether it did.
template <typename Needs>
bool ask_about_hosts(const Model& model, const PairEffect& pair, FollowUp question, const Needs& needs,
                     Verdict& verdict) {
  const std::string why = std::exchange(question.why, "");
  bool any = false;
  for (const auto& [effect, other] : {Flow{pair.sender, pair.receiver}, Flow{pair.receiver, pair.sender}}) {
    if (!needs(effect, other)) continue;
    question.host = model.ids.host(effect);
    question.rail = static_cast<std::int16_t>(model.ids.rail(effect));
    const std::string& name = model.sweep->hosts[at(model.ids.host(other))];
    question.why = fmt::format(fmt::runtime(why), name);
    verdict.follow_ups.push_back(question);
    any = true;
  }
  return any;
}

/// Adds a finding or questions on a path.
void report_path(const Model& model, const UnitEffects& units, const BothDirections& directions, Verdict& verdict) {
  const auto is_mutual = [&](std::int32_t effect) {
    return std::ranges::binary_search(units.mutual_hosts, model.ids.host(effect));
  };
  if (directions.any(PairState::kSlow)) {
    const PairEffect& any = directions.either();
    // Hosts that are slow with each other as hosts have no finding on the path between them.
    if (!is_mutual(any.sender) || !is_mutual(any.receiver))
      verdict.findings.push_back(from_ways(model, directions, PairState::kSlow, Blame::kPair));
  } else if (const PairEffect* alone = directions.worst(PairState::kAlone)) {
    verdict.findings.push_back(from_ways(model, directions, PairState::kAlone, Blame::kUndecided));
    ask_about_hosts(
        model, *alone, {0, -1, 0, 2, "slow with {}"},
        [&](std::int32_t effect, std::int32_t) { return has_one_partner(model, effect); }, verdict);
  } else if (const PairEffect* unsteady = directions.worst(PairState::kNowAndThen)) {
    const bool may_be_a_host = ask_about_hosts(
        model, *unsteady, {0, -1, 0, 4, "slow now and then with {}: with others too?", false, true},
        [&](std::int32_t effect, std::int32_t other) { return !is_fine_with_others(model, effect, other, *unsteady); },
        verdict);
    if (!may_be_a_host)
      verdict.findings.push_back(from_ways(model, directions, PairState::kNowAndThen, Blame::kTransient));
  }
}

}  // namespace

PairEffects find_pairs(const Model& model, const UnitEffects& units, const ComingAndGoing& unsteady) {
  const Flows flows(model);
  PairEffects result;
  result.suspects.assign(model.cap.size(), 0);
  std::vector<char> suspected = result.suspects;
  for (const UnitEffect& unit : units.suspected) {
    suspected[at(unit.effect)] = 1;
    result.suspects[at(unit.effect)] = is_slow_with_all(model, unit.effect) ? 1 : 0;
  }
  for (const Flow& flow : flows.suspicious()) {
    const auto explains = [&](std::int32_t effect) {
      return suspected[at(effect)] != 0 || unsteady.contains(model.ids.host(effect));
    };
    const bool explained = explains(flow.first) || explains(flow.second);
    if (!explained && !may_be_farther(model, flow)) result.pairs.push_back(flows.judge(flow));
  }
  const auto unsettled =
      std::ranges::count_if(result.pairs, [](const PairEffect& pair) { return pair.state != PairState::kNoise; });
  result.too_many =
      unsettled > kMany && static_cast<double>(unsettled) > kExceptions * static_cast<double>(flows.number());
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

void report_pairs(const Model& model, const PairEffects& pairs, const UnitEffects& units,
                  const std::vector<double>& slow_share, Verdict& verdict) {
  verdict.many_slow_pairs = pairs.too_many;
  if (pairs.too_many) {
    std::string note = "too many pairs are slow to be exceptions: there may be two kinds of pairs";
    if (model.sweep->leaf_of.empty())
      note += ", such as within a rack and between racks; give the leaf or rack of each host (--locality)";
    verdict.notes.push_back(std::move(note));
    return;
  }
  std::map<Flow, BothDirections> paths;
  for (const PairEffect& pair : pairs.pairs) {
    const Flow path = {EffectIds::unit(pair.sender), EffectIds::unit(pair.receiver)};
    BothDirections& directions = paths[std::minmax(path.first, path.second)];
    (path.first < path.second ? directions.forth : directions.back) = &pair;
  }
  std::vector<const PairEffect*> open;
  for (const auto& [path, directions] : paths) {
    if (is_explained(model, directions, slow_share)) continue;
    report_path(model, units, directions, verdict);
    const PairEffect* unclear = directions.worst(PairState::kUnclear);
    const PairEffect* once = directions.worst(PairState::kOpen);
    if (unclear == nullptr || (once != nullptr && once->median < unclear->median)) unclear = once;
    if (unclear != nullptr) open.push_back(unclear);
  }
  std::ranges::stable_sort(open, [](const PairEffect* a, const PairEffect* b) { return a->median < b->median; });
  for (const PairEffect* pair : open) verdict.follow_ups.push_back(follow_up_on(model, *pair));
}

}  // namespace fabricbench::cluster
