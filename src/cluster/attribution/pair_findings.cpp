#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "cluster/attribution/findings.h"
#include "cluster/attribution/units.h"
#include "cluster/robust.h"

namespace fabricbench::cluster {
namespace {

/// The two directions of a pair of units.
struct TwoWays {
  const PairEffect* forth = nullptr;  ///< from the unit with the lower number
  const PairEffect* back = nullptr;
};

using UnitPair = std::pair<std::int32_t, std::int32_t>;

std::map<UnitPair, TwoWays> by_units(const PairEffects& pairs) {
  std::map<UnitPair, TwoWays> both;
  for (const PairEffect& pair : pairs.pairs) {
    const std::int32_t from = EffectIds::unit(pair.sender);
    const std::int32_t to = EffectIds::unit(pair.receiver);
    TwoWays& ways = both[std::minmax(from, to)];
    (from < to ? ways.forth : ways.back) = &pair;
  }
  return both;
}

bool in_state(const PairEffect* pair, PairState state) { return pair != nullptr && pair->state == state; }

/// The effect of the same unit in the other direction.
std::int32_t turned(std::int32_t effect) { return effect + (EffectIds::role(effect) == Role::kSender ? 1 : -1); }

/// Sets the rails of a pair, if there are several rails.
void set_rails(const Model& model, const PairEffect& pair, bool swapped, Finding& finding) {
  if (model.ids.rails == 1) return;
  finding.rail = model.ids.rail(swapped ? pair.receiver : pair.sender);
  const std::int32_t other = model.ids.rail(swapped ? pair.sender : pair.receiver);
  if (other != finding.rail) finding.other_rail = other;
}

/// One finding on the directions of a pair that are in this state.
Finding from_ways(const Model& model, const TwoWays& ways, PairState state, Blame blame) {
  const bool forth = in_state(ways.forth, state);
  const bool back = in_state(ways.back, state);
  const PairEffect& first = forth ? *ways.forth : *ways.back;
  Finding finding;
  finding.blame = blame;
  finding.hosts = {model.ids.host(first.sender), model.ids.host(first.receiver)};
  const bool swapped = forth && back && finding.hosts[0] > finding.hosts[1];
  if (swapped) std::swap(finding.hosts[0], finding.hosts[1]);
  finding.both_ways = EffectIds::role(first.sender) == Role::kEither && !model.directions_pooled;
  finding.direction = finding.both_ways || (forth && back) ? Direction::kBoth : Direction::kSends;
  finding.other_way_fine = finding.direction != Direction::kBoth && !model.directions_pooled &&
                           is_fine_way(model, turned(first.receiver), turned(first.sender));
  set_rails(model, first, swapped, finding);
  if (model.sweep->kinds.size() > 1) finding.kinds = {static_cast<std::int16_t>(model.ids.kind(first.sender))};
  const PairEffect& worst = forth && back && ways.back->median < first.median ? *ways.back : first;
  finding.ratio = std::exp(worst.median);
  finding.expected = worst.expected;
  finding.rate = finding.expected * finding.ratio;
  finding.readings = first.readings + (forth && back ? ways.back->readings : 0);
  finding.partners = 1;
  finding.slow = first.slow + (forth && back ? ways.back->slow : 0);
  finding.false_alarm = forth && back ? std::min(first.false_alarm, ways.back->false_alarm) : first.false_alarm;
  finding.confirmed = first.retested_alone || (forth && back && ways.back->retested_alone);
  return finding;
}

FollowUp follow_up_on(const Model& model, const PairEffect& pair) {
  const std::int64_t wanted = std::max<std::int64_t>(1, model.settings.pair_readings - pair.retests);
  const double missing = -100 * std::expm1(pair.median);
  return {model.ids.host(pair.sender), model.ids.host(pair.receiver),
          static_cast<std::int16_t>(model.ids.rail(pair.sender)), static_cast<std::int32_t>(wanted),
          pair.readings == 1 ? fmt::format("{:.0f} % slower than both hosts are with others", missing)
                             : fmt::format("slow in {} of {} readings, {:.0f} % slower than both hosts are with others",
                                           pair.slow, pair.readings, missing)};
}

/// The worse one of the open directions; nullptr: none is open.
const PairEffect* open_way(const TwoWays& ways) {
  const PairEffect* worst = nullptr;
  for (const PairEffect* pair : {ways.forth, ways.back}) {
    if (!in_state(pair, PairState::kOpen) && !in_state(pair, PairState::kUnclear)) continue;
    if (worst == nullptr || pair->median < worst->median) worst = pair;
  }
  return worst;
}

/// Whether a host that is slow now and then explains a slow pair. It does, unless the pair is slow more often than
/// chance makes any pair of that host. `slow_share`, by host: the share of slow meetings; 0: a steady host.
bool is_explained(const Model& model, const TwoWays& ways, const std::vector<double>& slow_share) {
  const PairEffect& any = ways.forth != nullptr ? *ways.forth : *ways.back;
  const double share = std::max(slow_share[static_cast<std::size_t>(model.ids.host(any.sender))],
                                slow_share[static_cast<std::size_t>(model.ids.host(any.receiver))]);
  if (share == 0) return false;
  const auto lasts = [&](const PairEffect* pair) {
    return in_state(pair, PairState::kSlow) &&
           family_wise(binomial_tail(pair->readings, share, pair->slow), model.ids.hosts) < model.settings.false_alarm;
  };
  return !lasts(ways.forth) && !lasts(ways.back);
}

/// Whether an effect is fine with other partners: its readings with them are slow no more often than usual, and would
/// hardly be so if the host were slow with everybody as often as with this partner.
bool is_fine_with_others(const Model& model, std::int32_t effect, std::int32_t partner, const PairEffect& pair) {
  constexpr double kHardly = 0.01;
  constexpr double kSeldom = 0.05;
  std::int64_t others = 0;
  std::int64_t slow = 0;
  for (const Entry entry : model.entries_of(effect)) {
    if (entry.other == partner) continue;
    const Point& point = model.point_of(entry);
    ++others;
    slow += point.residual - model.explained(point) < outlier_bound(model, point) ? 1 : 0;
  }
  const double share = static_cast<double>(pair.slow) / static_cast<double>(pair.readings);
  const double usual = model.tail.below(model.slow, model.scale_of(model.point_of(model.entries_of(effect).front())));
  return 1 - binomial_tail(others, share, slow + 1) < kHardly && binomial_tail(others, usual, slow) > kSeldom;
}

/// Adds follow-ups if a host of a pair that is slow now and then may be so with everybody. Returns whether it did.
bool follow_up_hosts_of_pair(const Model& model, const TwoWays& ways, Verdict& verdict) {
  const PairEffect& pair = in_state(ways.forth, PairState::kNowAndThen) ? *ways.forth : *ways.back;
  bool any = false;
  for (const auto& [effect, other] : {UnitPair{pair.sender, pair.receiver}, UnitPair{pair.receiver, pair.sender}}) {
    if (is_fine_with_others(model, effect, other, pair)) continue;
    verdict.follow_ups.push_back({model.ids.host(effect), -1, static_cast<std::int16_t>(model.ids.rail(effect)), 4,
                                  fmt::format("slow now and then with {}: with others too?",
                                              model.sweep->hosts[static_cast<std::size_t>(model.ids.host(other))]),
                                  false, true});
    any = true;
  }
  return any;
}

/// Whether both hosts of a pair are slow with each other as hosts: then there is no finding on the path between them.
bool are_mutual(const Model& model, const UnitEffects& units, const TwoWays& ways) {
  const PairEffect& any = ways.forth != nullptr ? *ways.forth : *ways.back;
  const auto is_mutual = [&](std::int32_t effect) {
    return std::binary_search(units.mutual_hosts.begin(), units.mutual_hosts.end(), model.ids.host(effect));
  };
  return is_mutual(any.sender) && is_mutual(any.receiver);
}

void report_alone(const Model& model, const TwoWays& ways, Verdict& verdict) {
  verdict.findings.push_back(from_ways(model, ways, PairState::kAlone, Blame::kUndecided));
  const PairEffect& pair = in_state(ways.forth, PairState::kAlone) ? *ways.forth : *ways.back;
  const auto rail = static_cast<std::int16_t>(model.ids.rail(pair.sender));
  for (const auto& [effect, other] : {UnitPair{pair.sender, pair.receiver}, UnitPair{pair.receiver, pair.sender}}) {
    if (!has_one_partner(model, effect)) continue;
    const std::string& name = model.sweep->hosts[static_cast<std::size_t>(model.ids.host(other))];
    verdict.follow_ups.push_back({model.ids.host(effect), -1, rail, 2, fmt::format("slow with {}", name)});
  }
}

}  // namespace

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
  std::vector<std::pair<double, FollowUp>> follow_ups;
  for (const auto& entry : by_units(pairs)) {
    const TwoWays& ways = entry.second;
    if (is_explained(model, ways, slow_share)) continue;
    const auto either = [&](PairState state) { return in_state(ways.forth, state) || in_state(ways.back, state); };
    if (either(PairState::kSlow)) {
      if (!are_mutual(model, units, ways)) {
        verdict.findings.push_back(from_ways(model, ways, PairState::kSlow, Blame::kPair));
      }
    } else if (either(PairState::kAlone)) {
      report_alone(model, ways, verdict);
    } else if (either(PairState::kNowAndThen) && follow_up_hosts_of_pair(model, ways, verdict)) {
      continue;
    } else if (either(PairState::kNowAndThen)) {
      verdict.findings.push_back(from_ways(model, ways, PairState::kNowAndThen, Blame::kTransient));
    }
    const PairEffect* open = open_way(ways);
    if (open == nullptr) continue;
    follow_ups.emplace_back(open->median, follow_up_on(model, *open));
  }
  std::stable_sort(follow_ups.begin(), follow_ups.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [median, follow_up] : follow_ups) verdict.follow_ups.push_back(std::move(follow_up));
}

}  // namespace fabricbench::cluster
