#include "cluster/attribution/steadiness.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "cluster/attribution/tests_made.h"
#include "cluster/attribution/unit_scores.h"
#include "cluster/robust.h"

namespace fabricbench::cluster {
namespace {

/// Fast is what is above half of what is missing, and so many scales above the cap.
constexpr double kFastScales = 3.5;
constexpr std::int64_t kFewFast = 2;
constexpr double kShareInDoubt = 0.12;
constexpr std::int32_t kEnoughMixed = 2;
constexpr std::int32_t kEnoughRepeated = 6;

/// Whether a reading with this partner tells what the effect itself does. With one that is slow too, only the slowest
/// readings by chance would.
bool tells(const Model& model, Entry entry) {
  return !model.is_flagged(entry.other) && !explained_otherwise(model, model.point_of(entry), entry.other);
}

/// How far below its cap an effect's slow readings are, as a logarithm: the median of the lower half of all. A cap is a
/// median, and lies between fast and slow readings where about half are slow.
double depth_below_cap(const Model& model, const UnitEffect& found) {
  std::vector<float> below;
  for (const Entry entry : model.entries_of(found.effect)) {
    const Point& point = model.point_of(entry);
    const double missing = model.missing(found.effect, point);
    if (!tells(model, entry)) continue;
    if (missing < 0 && point.residual < missing) below.push_back(static_cast<float>(point.residual - missing));
  }
  return below.empty() ? 0 : static_cast<double>(median_of(below));
}

/// What a slow reading misses, so far below the cap: nothing where the way is slower still.
double level_of(const Model& model, const UnitEffect& found, double depth, const Point& point) {
  const double cap = model.cap[static_cast<std::size_t>(found.effect)];
  return std::min(0.0, cap + depth - model.centre_of(point));
}

bool is_fast(const Model& model, const UnitEffect& found, double depth, const Point& point) {
  const double level = level_of(model, found, depth, point);
  return level < model.slow && point.residual > std::max(level / 2, level + kFastScales * model.scale_of(point));
}

/// One of each list in turn.
std::vector<std::int32_t> in_turn(const std::vector<std::int32_t>& first, const std::vector<std::int32_t>& second) {
  std::vector<std::int32_t> all;
  for (std::size_t i = 0; i < std::max(first.size(), second.size()); ++i) {
    if (i < first.size()) all.push_back(first[i]);
    if (i < second.size()) all.push_back(second[i]);
  }
  return all;
}

using PartnerAndRound = std::pair<std::int32_t, std::int32_t>;

/// The meetings of hosts' blamed effects, and how many of them were slow.
FlappingHost account_of(const Model& model, std::int32_t host, const std::vector<UnitEffect>& blamed) {
  std::map<PartnerAndRound, bool> meetings;
  std::set<std::int32_t> partners;
  std::vector<float> residuals;
  std::vector<float> usual;
  FlappingHost account;
  account.host = host;
  account.sure = true;
  account.false_alarm = 1;
  for (const UnitEffect& found : blamed) {
    if (model.ids.host(found.effect) != host) continue;
    account.false_alarm = std::min(account.false_alarm, found.false_alarm);
    account.rail = static_cast<std::int16_t>(model.ids.rail(found.effect));
    const double depth = depth_below_cap(model, found);
    for (const Entry entry : model.entries_of(found.effect)) {
      const Point& point = model.point_of(entry);
      if (!tells(model, entry)) continue;
      const Reading& reading = model.reading_of(point);
      const bool shows = level_of(model, found, depth, point) < model.slow;
      const bool slow = shows && !is_fast(model, found, depth, point) && point.residual < model.slow;
      bool& known = meetings[{model.ids.host(entry.other), reading.round}];
      known = known || slow;
      if (!slow) continue;
      partners.insert(model.ids.host(entry.other));
      residuals.push_back(point.residual);
      usual.push_back(reading.rate / std::exp(point.residual));
      account.rounds.push_back(reading.round);
    }
  }
  account.meetings = static_cast<std::int64_t>(meetings.size());
  account.slow = std::count_if(meetings.begin(), meetings.end(), [](const auto& meeting) { return meeting.second; });
  account.partners = static_cast<std::int64_t>(partners.size());
  if (!residuals.empty()) account.median = median_of(residuals);
  if (!usual.empty()) account.rate = std::exp(account.median) * median_of(usual);
  std::sort(account.rounds.begin(), account.rounds.end());
  account.rounds.erase(std::unique(account.rounds.begin(), account.rounds.end()), account.rounds.end());
  return account;
}

}  // namespace

bool Steadiness::is_in_doubt() const {
  return fast >= kFewFast && static_cast<double>(fast) > kShareInDoubt * static_cast<double>(readings);
}

bool Steadiness::comes_and_goes() const { return is_in_doubt() && mixed >= kEnoughMixed; }

bool Steadiness::lasts() const { return !is_in_doubt() || (mixed < kEnoughMixed && repeated >= kEnoughRepeated); }

Steadiness steadiness_of(const Model& model, const UnitEffect& found) {
  Steadiness steadiness;
  std::vector<std::int32_t> fast_hosts;
  std::vector<std::int32_t> slow_hosts;
  std::int32_t stayed_fast = 0;
  std::int32_t stayed_slow = 0;
  const double depth = depth_below_cap(model, found);
  for_each_partner(model, found.effect, [&](std::span<const Entry> group) {
    std::set<std::int32_t> rounds;
    bool any_fast = false;
    bool any_slow = false;
    for (const Entry entry : group) {
      const Point& point = model.point_of(entry);
      if (level_of(model, found, depth, point) >= model.slow) continue;  // it would not show
      if (!tells(model, entry)) continue;
      const bool fast = is_fast(model, found, depth, point);
      any_fast = any_fast || fast;
      any_slow = any_slow || !fast;
      ++steadiness.readings;
      steadiness.fast += fast ? 1 : 0;
      rounds.insert(model.reading_of(point).round);
    }
    const std::int32_t host = model.ids.host(group.front().other);
    if (rounds.size() > 1) {
      ++steadiness.repeated;
      steadiness.mixed += any_fast && any_slow ? 1 : 0;
      stayed_fast += any_slow ? 0 : 1;
      stayed_slow += any_fast ? 0 : 1;
    } else if (rounds.size() == 1) {
      (any_fast ? fast_hosts : slow_hosts).push_back(host);
    }
  });
  // Of one host a round asks for one: behind a burst those that were fast stay so, and say nothing.
  steadiness.met_once = stayed_fast > stayed_slow ? in_turn(slow_hosts, fast_hosts) : in_turn(fast_hosts, slow_hosts);
  return steadiness;
}

std::vector<FlappingHost> take_unsteady(const Model& model, UnitEffects& units, Verdict& verdict) {
  std::set<std::int32_t> unsteady;
  for (const UnitEffect& found : units.blamed) {
    const Steadiness steadiness = steadiness_of(model, found);
    const std::int32_t host = model.ids.host(found.effect);
    if (steadiness.comes_and_goes()) unsteady.insert(host);
    if (steadiness.comes_and_goes() || steadiness.lasts()) continue;
    const auto wanted = std::min(static_cast<std::size_t>(kEnoughRepeated), steadiness.met_once.size());
    for (std::size_t i = 0; i < wanted; ++i) {
      verdict.questions.push_back({host, steadiness.met_once[i],
                                   static_cast<std::int16_t>(model.ids.rail(found.effect)), 1,
                                   "slow with some partners and not with others: with which, or when?", true});
    }
  }
  std::vector<FlappingHost> hosts;
  std::set<std::int32_t> taken;
  for (const std::int32_t host : unsteady) {
    FlappingHost account = account_of(model, host, units.blamed);
    if (account.slow >= account.meetings) continue;
    taken.insert(host);
    if (account.slow > 0) hosts.push_back(std::move(account));
  }
  std::erase_if(units.blamed, [&](const UnitEffect& found) { return taken.count(model.ids.host(found.effect)) > 0; });
  return hosts;
}

}  // namespace fabricbench::cluster
