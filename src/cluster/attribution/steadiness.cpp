#include "cluster/attribution/pairs.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "cluster/attribution/units.h"
#include "cluster/robust.h"
#include "cluster/sorted_unique.h"

namespace fabricbench::cluster {
namespace {

/// A reading is fast if its deficit is below this share of that of slow readings, and if it is so many scales above the
/// cap. The share is below a half, since a host may be slow by as much as the path to other groups is.
constexpr double kFastShare = 0.4;
constexpr double kFastScales = 3.5;
constexpr std::int64_t kFewFast = 2;
constexpr double kShareInDoubt = 0.12;
constexpr std::int32_t kEnoughMixed = 2;
constexpr std::int32_t kEnoughRepeated = 6;

/// Whether a reading is evidence on the effect itself. If the partner is slow too, the readings that it does not
/// explain are the slowest by chance.
bool tells(const Model& model, Entry entry) {
  return !model.is_flagged(entry.other) && !explained_otherwise(model, model.point_of(entry), entry.other);
}

/// The level of an effect's slow readings, as logarithms: medians of the readings below the cap. The cap itself is a
/// median, and lies between fast and slow readings if half of them are slow.
struct SlowReadings {
  double below_cap = 0;  ///< how far
  double missing = 0;    ///< the deficit
};

SlowReadings slow_readings_of(const Model& model, const UnitEffect& found) {
  std::vector<float> below;
  std::vector<float> residuals;
  for (const Entry entry : model.entries_of(found.effect)) {
    const Point& point = model.point_of(entry);
    const double missing = model.missing(found.effect, point);
    if (!tells(model, entry) || missing >= 0 || point.residual >= missing) continue;
    below.push_back(static_cast<float>(point.residual - missing));
    residuals.push_back(point.residual);
  }
  if (below.empty()) return {};
  return {static_cast<double>(median_of(below)), static_cast<double>(median_of(residuals))};
}

/// The deficit of a slow reading with this partner; 0 if the path is slower than the cap.
double level_of(const Model& model, const UnitEffect& found, const SlowReadings& slow, const Point& point) {
  const double cap = model.cap[static_cast<std::size_t>(found.effect)];
  return std::min(0.0, cap + slow.below_cap - model.centre_of(point));
}

/// Whether a reading is fast. A host that is slower by the same share everywhere has no cap, and no fast readings.
bool is_fast(const Model& model, const UnitEffect& found, const SlowReadings& slow, const Point& point) {
  const double level = level_of(model, found, slow, point);
  const double little = kFastShare * std::max(level, slow.missing);
  return level < model.slow && point.residual > std::max(little, level + kFastScales * model.scale_of(point));
}

/// The elements of two lists in turn.
std::vector<std::int32_t> in_turn(const std::vector<std::int32_t>& first, const std::vector<std::int32_t>& second) {
  std::vector<std::int32_t> all;
  for (std::size_t i = 0; i < std::max(first.size(), second.size()); ++i) {
    if (i < first.size()) all.push_back(first[i]);
    if (i < second.size()) all.push_back(second[i]);
  }
  return all;
}

using PartnerAndRound = std::pair<std::int32_t, std::int32_t>;

/// The meetings of a host's blamed effects, and how many of them were slow.
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
    const SlowReadings slow_readings = slow_readings_of(model, found);
    for (const Entry entry : model.entries_of(found.effect)) {
      const Point& point = model.point_of(entry);
      if (!tells(model, entry)) continue;
      const Reading& reading = model.reading_of(point);
      const bool shows = level_of(model, found, slow_readings, point) < model.slow;
      const bool slow = shows && !is_fast(model, found, slow_readings, point) && point.residual < model.slow;
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
  account.rounds = sorted_unique(std::move(account.rounds));
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
  const SlowReadings slow_readings = slow_readings_of(model, found);
  for_each_partner(model, found.effect, [&](std::span<const Entry> group) {
    std::set<std::int32_t> rounds;
    bool any_fast = false;
    bool any_slow = false;
    for (const Entry entry : group) {
      const Point& point = model.point_of(entry);
      if (level_of(model, found, slow_readings, point) >= model.slow) continue;  // it would not show
      if (!tells(model, entry)) continue;
      const bool fast = is_fast(model, found, slow_readings, point);
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
  // A round has one partner of a host. After a burst of slow readings the fast partners stay fast and decide nothing,
  // so slow ones come first.
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
      verdict.follow_ups.push_back(
          {host, steadiness.met_once[i], static_cast<std::int16_t>(model.ids.rail(found.effect)), 1,
           "slow with some partners and not with others: does it depend on the partner or on the time?", true});
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
