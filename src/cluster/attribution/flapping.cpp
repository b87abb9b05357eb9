// Hosts that are slow or fail now and then, whoever their partner is.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <utility>

#include "cluster/attribution/pair_residuals.h"
#include "cluster/attribution/robust.h"
#include "cluster/attribution/tests_made.h"

namespace fabricbench::cluster {
namespace {

constexpr double kOutlierScales = 3.5;
constexpr std::int64_t kSlowPartners = 3;
/// How often healthy readings are slow is known only roughly, and slow ones come in clusters: this much surer than for
/// others one has to be. In between, more readings are asked for.
constexpr double kCaution = 0.1;
constexpr double kSuspicion = 10;
constexpr std::int64_t kEnoughMeetings = 60;  // with which a host that is still not for sure slow counts as fine

using Two = std::pair<std::int32_t, std::int32_t>;

/// The hosts of pairs that are slow for good or may be, or where nobody can tell; sorted.
std::vector<Two> settled_pairs(const Model& model, const PairEffects& pairs) {
  std::vector<Two> hosts;
  for (const PairEffect& pair : pairs.pairs) {
    const bool noise = pair.state == PairState::kNoise || (pair.state == PairState::kOpen && pair.retests == 0);
    if (!noise) hosts.push_back(std::minmax(model.ids.host(pair.sender), model.ids.host(pair.receiver)));
  }
  std::sort(hosts.begin(), hosts.end());
  return hosts;
}

/// Readings that nobody blamed explains, and how many of them are slow.
struct Background {
  std::vector<std::int32_t> slow;  ///< readings, by place
  std::int64_t readings = 0;
};

Background find_background(const Model& model, const PairEffects& pairs) {
  const std::vector<Two> settled = settled_pairs(model, pairs);
  Background background;
  for (const Point& point : model.points) {
    if (!model.is_clean(point)) continue;
    ++background.readings;
    if (point.residual >= outlier_bound(model, point)) continue;
    const Two hosts = std::minmax(model.ids.host(point.sender), model.ids.host(point.receiver));
    if (!std::binary_search(settled.begin(), settled.end(), hosts)) background.slow.push_back(point.reading);
  }
  return background;
}

/// One host's readings that were slow or failed, each once for a partner and a round.
struct Account {
  std::set<Two> meetings;  ///< partner and round
  std::set<std::int32_t> partners;
  std::int64_t readings = 0;
  std::int64_t failed = 0;
};

void add(const Sweep& sweep, std::int32_t place, bool failed, std::vector<Account>& accounts) {
  const Reading& reading = sweep.readings[static_cast<std::size_t>(place)];
  for (const auto& [host, partner] : {Two{reading.from, reading.to}, Two{reading.to, reading.from}}) {
    Account& account = accounts[static_cast<std::size_t>(host)];
    account.meetings.emplace(partner, reading.round);
    account.partners.insert(partner);
    ++account.readings;
    account.failed += failed ? 1 : 0;
  }
}

/// A host's readings that nobody explains, and the meetings in which they were taken.
struct Taken {
  std::int64_t meetings = 0;
  std::int64_t readings = 0;
};

Taken taken_with(const Model& model, std::int32_t host) {
  std::vector<Two> meetings;
  const std::int32_t kinds = model.effects() / (model.ids.hosts * model.ids.rails * kRoles);
  for (std::int32_t kind = 0; kind < kinds; ++kind) {
    const std::int32_t begin = model.ids.of(kind, host, 0, Role::kSender);
    for (std::int32_t effect = begin; effect < begin + model.ids.rails * kRoles; ++effect) {
      for (const Entry entry : model.entries_of(effect)) {
        const Point& point = model.point_of(entry);
        if (model.is_clean(point)) meetings.emplace_back(model.ids.host(entry.other), model.reading_of(point).round);
      }
    }
  }
  const auto readings = static_cast<std::int64_t>(meetings.size());
  std::sort(meetings.begin(), meetings.end());
  const auto different = std::unique(meetings.begin(), meetings.end()) - meetings.begin();
  return {static_cast<std::int64_t>(different), readings};
}

FlappingHost judge_host(const Model& model, std::int32_t host, const Account& account, double everywhere,
                        std::int64_t all) {
  const Taken taken = taken_with(model, host);
  FlappingHost found;
  found.host = host;
  found.slow = static_cast<std::int64_t>(account.meetings.size());
  // Failed meetings have no points.
  found.meetings = std::max(taken.meetings, found.slow) + account.failed / 2;
  found.failed = account.failed;
  found.partners = static_cast<std::int64_t>(account.partners.size());
  const auto own = static_cast<double>(account.readings);
  // Two standard errors above what others show: the fewer readings, the less it is known how often they are slow.
  const double others = std::max(everywhere - own, 0.0) + 0.4;
  const double each = (others + 2 * std::sqrt(others)) / (static_cast<double>(all - taken.readings) + 20);
  const double per_meeting = static_cast<double>(taken.readings) / std::max(1.0, static_cast<double>(taken.meetings));
  const double chance = std::min(1.0, each * std::max(per_meeting, 1.0));
  found.false_alarm = family_wise(binomial_tail(found.meetings, chance, found.slow), model.ids.hosts);
  return found;
}

void add_rates(const Model& model, const Background& background, FlappingHost& found) {
  std::vector<float> residuals;
  std::vector<float> rates;
  for (const std::int32_t place : background.slow) {
    const Reading& reading = model.sweep->readings[static_cast<std::size_t>(place)];
    if (reading.from != found.host && reading.to != found.host) continue;
    const auto point = std::lower_bound(model.points.begin(), model.points.end(), place,
                                        [](const Point& known, std::int32_t wanted) { return known.reading < wanted; });
    residuals.push_back(point->residual);
    rates.push_back(reading.rate);
    found.rail = reading.from == found.host ? reading.from_rail : reading.to_rail;
  }
  if (residuals.empty()) return;
  found.median = median_of(residuals);
  found.rate = median_of(rates);
}

}  // namespace

double outlier_bound(const Model& model, const Point& point) {
  return std::min(model.slow, -kOutlierScales * model.scale_of(point));
}

std::vector<FlappingHost> find_flapping(const Model& model, const PairEffects& pairs,
                                        std::span<const std::int32_t> failed) {
  const Background background = find_background(model, pairs);
  std::vector<Account> accounts(static_cast<std::size_t>(model.ids.hosts));
  for (const std::int32_t place : background.slow) add(*model.sweep, place, false, accounts);
  for (const std::int32_t place : failed) add(*model.sweep, place, true, accounts);
  const auto everywhere = static_cast<double>(background.slow.size() + failed.size());
  const std::int64_t all = background.readings + static_cast<std::int64_t>(failed.size());
  std::vector<FlappingHost> flapping;
  for (std::int32_t host = 0; host < model.ids.hosts; ++host) {
    const Account& account = accounts[static_cast<std::size_t>(host)];
    if (static_cast<std::int64_t>(account.partners.size()) < kSlowPartners) continue;
    // Not more than everybody else has: saves counting its meetings.
    const auto own = static_cast<double>(account.readings);
    if (own * static_cast<double>(model.ids.hosts) <= 2 * everywhere) continue;
    FlappingHost found = judge_host(model, host, account, everywhere, all);
    found.sure = found.false_alarm < kCaution * model.settings.false_alarm;
    const bool open = found.false_alarm < kSuspicion * model.settings.false_alarm && found.meetings < kEnoughMeetings;
    if (!found.sure && !open) continue;
    add_rates(model, background, found);
    flapping.push_back(found);
  }
  return flapping;
}

double share_of_outliers(const Model& model, const PairEffects& pairs) {
  const Background background = find_background(model, pairs);
  if (background.readings == 0) return 0;
  return static_cast<double>(background.slow.size()) / static_cast<double>(background.readings);
}

}  // namespace fabricbench::cluster
