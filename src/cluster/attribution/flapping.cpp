// Hosts that are slow or fail now and then, whoever their partner is.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "cluster/attribution/pairs.h"
#include "cluster/attribution/units.h"
#include "cluster/robust.h"
#include "cluster/sorted_unique.h"

namespace fabricbench::cluster {
namespace {

constexpr double kOutlierScales = 3.5;
constexpr std::int32_t kSlowPartners = 3;  // fewer if there are fewer hosts (partners_to_blame)
/// A host is measured until it is decided whether it is slow in this share of its meetings, or only as often as chance
/// makes hosts slow (Wald's sequential test, Sequential Analysis, 1947).
constexpr double kShareLookedFor = 0.2;
constexpr std::int64_t kMostAsked = 16;
/// With fewer meetings than this, a host is measured further while the evidence exceeds this, in nats. The more
/// meetings there are, the more evidence is demanded.
struct Bar {
  std::int64_t meetings = 0;
  double evidence = 0;
};
constexpr std::array<Bar, 2> kBars = {{{48, -4}, {60, -1}}};
/// If chance makes a larger share of meetings slow, nothing can be decided.
constexpr double kHopelessShare = 0.1;
/// Standard errors added to the usual share of slow meetings, which is imprecise if there are few readings of others.
constexpr double kErrorsToBlame = 3;
/// The prior of the usual share: so many slow ones in so many meetings of two readings, about one in fifty. It grows
/// with the readings of a meeting.
constexpr double kMeetingsBefore = 20;
constexpr double kSlowBefore = 0.28;
/// Saves time: a host with more readings than this, and a smaller share of slow ones, is not judged.
constexpr std::size_t kManyEntries = 100;
constexpr double kFewOfThem = 0.05;

using Two = std::pair<std::int32_t, std::int32_t>;

Two hosts_of(const Model& model, const PairEffect& pair) {
  return std::minmax(model.ids.host(pair.sender), model.ids.host(pair.receiver));
}

/// Whether a pair was slow once, or is slow now and then: the path explains it, unless a host has several such pairs.
bool is_of_path_or_host(const PairEffect& pair) {
  return pair.state == PairState::kNowAndThen || (pair.state == PairState::kOpen && pair.retests == 0);
}

/// By host, the number of partners with which it has such a pair.
std::vector<std::int32_t> unsteady_partners(const Model& model, const PairEffects& pairs) {
  std::set<Two> unsteady;
  for (const PairEffect& pair : pairs.pairs) {
    if (is_of_path_or_host(pair)) unsteady.insert(hosts_of(model, pair));
  }
  std::vector<std::int32_t> partners(static_cast<std::size_t>(model.ids.hosts), 0);
  for (const auto& [a, b] : unsteady) {
    ++partners[static_cast<std::size_t>(a)];
    ++partners[static_cast<std::size_t>(b)];
  }
  return partners;
}

/// Pairs of hosts whose slow readings are explained by their path, ascending: it is slow for good, or may be, or it is
/// slow once, or now and then, and no other path of the two hosts is (`or_host`: or others are).
std::vector<Two> settled_pairs(const Model& model, const PairEffects& pairs, bool or_host) {
  const std::vector<std::int32_t> unsteady = unsteady_partners(model, pairs);
  std::vector<Two> hosts;
  for (const PairEffect& pair : pairs.pairs) {
    const Two both = hosts_of(model, pair);
    const bool noise = pair.state == PairState::kNoise || pair.state == PairState::kUnclear;
    const bool may_be_a_host =
        !or_host && is_of_path_or_host(pair) &&
        unsteady[static_cast<std::size_t>(both.first)] + unsteady[static_cast<std::size_t>(both.second)] > 2;
    if (!noise && !may_be_a_host) hosts.push_back(both);
  }
  std::sort(hosts.begin(), hosts.end());
  return hosts;
}

using HostFlags = std::vector<char>;

bool is_either(const HostFlags& flags, const Reading& reading) {
  return flags[static_cast<std::size_t>(reading.from)] != 0 || flags[static_cast<std::size_t>(reading.to)] != 0;
}

/// Readings that nothing explains, and the slow ones among them.
struct Background {
  std::vector<std::int32_t> slow;  ///< readings, by place
  std::int64_t readings = 0;
};

/// The background, without readings of `unsteady` hosts.
Background find_background(const Model& model, const PairEffects& pairs, const HostFlags& unsteady,
                           bool or_host = false) {
  const std::vector<Two> settled = settled_pairs(model, pairs, or_host);
  Background background;
  for (const Point& point : model.points) {
    if (!model.is_blameless(point) || is_either(unsteady, model.reading_of(point))) continue;
    ++background.readings;
    const double residual = point.residual - model.near_limit_of(point);
    if (residual >= outlier_bound(model, point)) continue;
    const Two hosts = std::minmax(model.ids.host(point.sender), model.ids.host(point.receiver));
    const bool is_suspect = pairs.is_suspect(point.sender) || pairs.is_suspect(point.receiver);
    if (is_suspect || std::binary_search(settled.begin(), settled.end(), hosts)) continue;
    background.slow.push_back(point.reading);
  }
  return background;
}

/// A slow meeting of a host: partner, round and lowest residual, which is kFailedLevel if it failed.
struct SlowMeeting {
  Two with;
  float level = 0;
};

/// The slow and failed readings of a host.
struct Account {
  std::vector<SlowMeeting> meetings;  ///< by partner and round
  std::int64_t readings = 0;
  std::int64_t failed = 0;

  [[nodiscard]] std::int64_t partners() const {
    std::int64_t different = 0;
    std::int32_t last = -1;
    for (const SlowMeeting& meeting : meetings) {
      if (std::exchange(last, meeting.with.first) != meeting.with.first) ++different;
    }
    return different;
  }
};

constexpr float kFailedLevel = -100;

void add(const Sweep& sweep, std::int32_t place, float level, std::vector<Account>& accounts) {
  const Reading& reading = sweep.readings[static_cast<std::size_t>(place)];
  for (const auto& [host, partner] : {Two{reading.from, reading.to}, Two{reading.to, reading.from}}) {
    Account& account = accounts[static_cast<std::size_t>(host)];
    account.meetings.push_back({{partner, reading.round}, level});
    ++account.readings;
    account.failed += level == kFailedLevel ? 1 : 0;
  }
}

/// Keeps one entry for each meeting, the lowest.
void keep_lowest(std::vector<SlowMeeting>& meetings) {
  std::sort(meetings.begin(), meetings.end(), [](const SlowMeeting& a, const SlowMeeting& b) {
    return std::tie(a.with, a.level) < std::tie(b.with, b.level);
  });
  const auto end = std::unique(meetings.begin(), meetings.end(),
                               [](const SlowMeeting& a, const SlowMeeting& b) { return a.with == b.with; });
  meetings.erase(end, meetings.end());
}

/// Numbers of a host's readings that nothing explains, and of its meetings.
struct Taken {
  std::int64_t meetings = 0;
  std::int64_t readings = 0;
  std::int64_t all = 0;  ///< meetings, including those without a reading that counts
};

Taken taken_with(const Model& model, std::int32_t host, const Account& account, const HostFlags& unsteady) {
  std::vector<Two> meetings;
  const std::int32_t kinds = model.effects() / (model.ids.hosts * model.ids.rails * kRoles);
  for (std::int32_t kind = 0; kind < kinds; ++kind) {
    const std::int32_t begin = model.ids.of(kind, host, 0, Role::kSender);
    for (std::int32_t effect = begin; effect < begin + model.ids.rails * kRoles; ++effect) {
      for (const Entry entry : model.entries_of(effect)) {
        const Point& point = model.point_of(entry);
        const std::int32_t partner = model.ids.host(entry.other);
        if (unsteady[static_cast<std::size_t>(partner)] != 0) continue;
        if (model.is_blameless(point)) meetings.emplace_back(partner, model.reading_of(point).round);
      }
    }
  }
  const auto readings = static_cast<std::int64_t>(meetings.size());
  meetings = sorted_unique(std::move(meetings));
  const auto more = std::count_if(account.meetings.begin(), account.meetings.end(), [&](const SlowMeeting& meeting) {
    return !std::binary_search(meetings.begin(), meetings.end(), meeting.with);
  });
  const auto different = static_cast<std::int64_t>(meetings.size());
  return {different, readings, different + more};
}

/// The accounts of all hosts, without readings of unsteady hosts.
struct Everybody {
  Background background;
  std::int64_t failed = 0;  ///< readings
  HostFlags unsteady;
  std::vector<Account> accounts;  ///< by host
  std::vector<float> lowest;      ///< the level of each slow meeting of two hosts, ascending
};

/// The number of values, ascending, at this level or below.
std::int64_t count_up_to(const std::vector<float>& values, float level) {
  return std::upper_bound(values.begin(), values.end(), level) - values.begin();
}

/// The levels of a host's slow meetings, ascending.
std::vector<float> lowest_of(const Account& account) {
  std::vector<float> lowest;
  lowest.reserve(account.meetings.size());
  for (const SlowMeeting& meeting : account.meetings) lowest.push_back(meeting.level);
  std::sort(lowest.begin(), lowest.end());
  return lowest;
}

/// The mean number of readings in a meeting, at least 1.
double per_meeting(const Taken& taken) {
  return std::max(1.0, static_cast<double>(taken.readings) / std::max(1.0, static_cast<double>(taken.meetings)));
}

/// The number of meetings of other hosts, plus those of the prior.
double meetings_of_others(const Everybody& others, const Taken& taken) {
  const auto readings = static_cast<double>(others.background.readings + others.failed - taken.readings);
  return std::max(readings, 0.0) / per_meeting(taken) + kMeetingsBefore;
}

/// The probability that a meeting of a healthy host is at this level or below, estimated from other hosts, plus
/// `errors` standard errors.
double chance_of_meeting(const Everybody& others, const std::vector<float>& own, const Taken& taken, float level,
                         double errors) {
  const auto elsewhere = static_cast<double>(count_up_to(others.lowest, level) - count_up_to(own, level));
  const double slow = std::max(elsewhere, 0.0) + kSlowBefore * std::sqrt(per_meeting(taken));
  return std::min(1.0, (slow + errors * std::sqrt(slow)) / meetings_of_others(others, taken));
}

/// The evidence, in nats, that a host with so many slow meetings is slow in kShareLookedFor of them, and not with the
/// probability `chance`. 0 if `chance` is not lower.
double evidence_for(std::int64_t meetings, std::int64_t slow, double chance) {
  if (chance >= kShareLookedFor) return 0;
  const auto hits = static_cast<double>(slow);
  const auto misses = static_cast<double>(meetings - slow);
  return hits * std::log(kShareLookedFor / chance) + misses * std::log((1 - kShareLookedFor) / (1 - chance));
}

/// The evidence above which a host is measured further. After many meetings: what chance gives about one of so many
/// hosts (Ville's inequality).
double bar_for(std::int64_t meetings, std::int32_t hosts) {
  const auto bar = std::find_if(kBars.begin(), kBars.end(), [&](const Bar& each) { return meetings < each.meetings; });
  return bar != kBars.end() ? bar->evidence : std::log(static_cast<double>(hosts));
}

/// How many more meetings, all of them fast, would bring the evidence below the bar.
std::int64_t meetings_to_clear(std::int64_t meetings, std::int64_t slow, double chance, std::int32_t hosts) {
  std::int64_t more = 1;
  while (more < kMostAsked && evidence_for(meetings + more, slow, chance) > bar_for(meetings + more, hosts)) ++more;
  return more;
}

/// The evidence from the slowest meetings of a host, down to some depth.
struct Depth {
  std::int64_t slow = 0;
  double chance = 1;  ///< the probability that a meeting of a healthy host is as slow
  double evidence = -std::numeric_limits<double>::infinity();
};

/// The depth with most evidence: the slowest meetings may be slower than those of other hosts, and the rest chance.
Depth deepest_evidence(const Everybody& others, const std::vector<float>& own, const Taken& taken,
                       std::int64_t meetings) {
  Depth best;
  for (const float level : own) {
    Depth depth;
    depth.slow = count_up_to(own, level);
    depth.chance = chance_of_meeting(others, own, taken, level, kErrorsToBlame);
    depth.evidence = evidence_for(meetings, depth.slow, depth.chance);
    if (depth.evidence > best.evidence) best = depth;
  }
  return best;
}

/// The probability that so many meetings of a healthy host fail. Failures need not be spread over time: the host may
/// have been down for a while.
double chance_of_failures(const Everybody& others, const std::vector<float>& own, const Taken& taken,
                          std::int64_t meetings) {
  const std::int64_t failed = count_up_to(own, kFailedLevel);
  if (failed == 0) return 1;
  const auto elsewhere =
      static_cast<double>(std::max<std::int64_t>(count_up_to(others.lowest, kFailedLevel) - failed, 0));
  const double most = elsewhere + kSlowBefore + kErrorsToBlame * std::sqrt(elsewhere);
  return binomial_tail(meetings, std::min(1.0, most / meetings_of_others(others, taken)), failed);
}

/// The number of partners with which a host has to be slow.
std::int64_t partners_to_blame(const Model& model) { return std::clamp(model.ids.hosts - 2, 2, kSlowPartners); }

/// Blames a host if chance reaches its evidence in fewer sweeps than the settings allow, however long it was measured
/// (Ville's inequality).
void judge_account(const Model& model, const Account& account, const Everybody& others, const Taken& taken,
                   FlappingHost& found) {
  const std::vector<float> own = lowest_of(account);
  const double usual = chance_of_meeting(others, own, taken, own.back(), kErrorsToBlame);
  const Depth deepest = deepest_evidence(others, own, taken, found.meetings);
  const auto depths = static_cast<double>(own.size());
  found.false_alarm = family_wise(depths * std::exp(-std::max(deepest.evidence, 0.0)), model.ids.hosts);
  found.sure = found.false_alarm < model.settings.false_alarm && found.partners >= partners_to_blame(model);
  if (found.sure) return;
  const bool hopeless = chance_of_meeting(others, own, taken, own.back(), 0) >= kHopelessShare;
  if (!hopeless && evidence_for(found.meetings, found.slow, usual) > bar_for(found.meetings, model.ids.hosts)) {
    found.wanted = meetings_to_clear(found.meetings, found.slow, usual, model.ids.hosts);
  } else if (deepest.evidence > std::max(bar_for(found.meetings, model.ids.hosts), 0.0) + std::log(depths)) {
    found.wanted = meetings_to_clear(found.meetings, deepest.slow, deepest.chance, model.ids.hosts);
  }
}

/// Fills in the numbers of a host's account.
void tell(const Account& account, FlappingHost& found) {
  found.slow = static_cast<std::int64_t>(account.meetings.size());
  found.failed = account.failed;
  found.partners = account.partners();
  std::vector<std::int32_t> rounds;
  for (const SlowMeeting& meeting : account.meetings) rounds.push_back(meeting.with.second);
  found.rounds = sorted_unique(std::move(rounds));
}

/// Blames a host for its failures alone, if the evidence from these is stronger.
void judge_failures(const Model& model, Account account, const Everybody& others, const Taken& taken,
                    FlappingHost& found) {
  const double chance = chance_of_failures(others, lowest_of(account), taken, found.meetings);
  const double false_alarm = family_wise(chance, model.ids.hosts);
  if (false_alarm >= std::min(found.false_alarm, model.settings.false_alarm)) return;
  std::erase_if(account.meetings, [](const SlowMeeting& meeting) { return meeting.level != kFailedLevel; });
  if (account.partners() < partners_to_blame(model)) return;
  tell(account, found);
  found.false_alarm = false_alarm;
  found.sure = found.only_fails = true;
  found.wanted = 0;
}

FlappingHost judge_host(const Model& model, std::int32_t host, const Everybody& others) {
  const Account& account = others.accounts[static_cast<std::size_t>(host)];
  const Taken taken = taken_with(model, host, account, others.unsteady);
  FlappingHost found;
  found.host = host;
  found.meetings = taken.all;
  tell(account, found);
  judge_account(model, account, others, taken, found);
  judge_failures(model, account, others, taken, found);
  return found;
}

float residual_of(const Model& model, std::int32_t place) {
  const auto point = std::lower_bound(model.points.begin(), model.points.end(), place,
                                      [](const Point& known, std::int32_t wanted) { return known.reading < wanted; });
  return point->residual;
}

void add_rates(const Model& model, const Background& background, FlappingHost& found) {
  std::vector<float> residuals;
  std::vector<float> usual;
  for (const std::int32_t place : background.slow) {
    const Reading& reading = model.sweep->readings[static_cast<std::size_t>(place)];
    if (reading.from != found.host && reading.to != found.host) continue;
    residuals.push_back(residual_of(model, place));
    usual.push_back(reading.rate / std::exp(residuals.back()));
    found.rail = reading.from == found.host ? reading.from_rail : reading.to_rail;
  }
  if (residuals.empty()) return;
  found.median = median_of(residuals);
  found.rate = std::exp(found.median) * median_of(usual);
}

/// The number of entries of all effects of a host.
std::size_t entries_of_host(const Model& model, std::int32_t host) {
  const std::int32_t kinds = model.effects() / (model.ids.hosts * model.ids.rails * kRoles);
  std::size_t entries = 0;
  for (std::int32_t kind = 0; kind < kinds; ++kind) {
    const std::int32_t begin = model.ids.of(kind, host, 0, Role::kSender);
    const auto first = static_cast<std::size_t>(begin);
    entries += model.offset[first + static_cast<std::size_t>(model.ids.rails * kRoles)] - model.offset[first];
  }
  return entries;
}

Everybody look_at_everybody(const Model& model, const PairEffects& pairs, std::span<const std::int32_t> failed,
                            const HostFlags& unsteady) {
  Everybody everybody;
  everybody.background = find_background(model, pairs, unsteady);
  everybody.unsteady = unsteady;
  everybody.accounts.resize(unsteady.size());
  for (const std::int32_t place : everybody.background.slow) {
    add(*model.sweep, place, residual_of(model, place), everybody.accounts);
  }
  for (const std::int32_t place : failed) {
    if (is_either(unsteady, model.sweep->readings[static_cast<std::size_t>(place)])) continue;
    add(*model.sweep, place, kFailedLevel, everybody.accounts);
    ++everybody.failed;
  }
  for (std::size_t host = 0; host < everybody.accounts.size(); ++host) {
    keep_lowest(everybody.accounts[host].meetings);
    for (const SlowMeeting& meeting : everybody.accounts[host].meetings) {
      if (static_cast<std::size_t>(meeting.with.first) > host)
        everybody.lowest.push_back(meeting.level);  // once for both hosts
    }
  }
  std::sort(everybody.lowest.begin(), everybody.lowest.end());
  return everybody;
}

/// Hosts that are slow now and then, or may be.
std::vector<FlappingHost> judge_hosts(const Model& model, const Everybody& everybody) {
  const auto slow = static_cast<double>(everybody.background.slow.size()) + static_cast<double>(everybody.failed);
  std::vector<FlappingHost> flapping;
  for (std::int32_t host = 0; host < model.ids.hosts; ++host) {
    const Account& account = everybody.accounts[static_cast<std::size_t>(host)];
    if (account.meetings.empty()) continue;
    // Saves counting meetings: few of its readings are slow, and no more than twice the mean of all hosts.
    const auto own = static_cast<double>(account.readings);
    const std::size_t entries = entries_of_host(model, host);
    if (entries > kManyEntries && own < kFewOfThem * static_cast<double>(entries) &&
        own * static_cast<double>(model.ids.hosts) <= 2 * slow) {
      continue;
    }
    FlappingHost found = judge_host(model, host, everybody);
    if (!found.sure && found.wanted == 0) continue;
    if (!found.only_fails) add_rates(model, everybody.background, found);
    flapping.push_back(std::move(found));
  }
  return flapping;
}

}  // namespace

double outlier_bound(const Model& model, const Point& point) {
  return std::min(model.slow, -kOutlierScales * model.scale_of(point));
}

std::vector<FlappingHost> find_flapping(const Model& model, const PairEffects& pairs,
                                        std::span<const std::int32_t> failed, std::vector<FlappingHost> known) {
  HostFlags unsteady(static_cast<std::size_t>(model.ids.hosts), 0);
  for (const FlappingHost& host : known) unsteady[static_cast<std::size_t>(host.host)] = 1;
  for (;;) {
    const Everybody everybody = look_at_everybody(model, pairs, failed, unsteady);
    std::vector<FlappingHost> found = judge_hosts(model, everybody);
    const auto surest = std::min_element(found.begin(), found.end(), [](const FlappingHost& a, const FlappingHost& b) {
      return std::tuple(!a.sure, a.false_alarm) < std::tuple(!b.sure, b.false_alarm);
    });
    if (surest == found.end() || !surest->sure) {
      std::move(found.begin(), found.end(), std::back_inserter(known));
      return known;
    }
    unsteady[static_cast<std::size_t>(surest->host)] = 1;
    known.push_back(std::move(*surest));
  }
}

double share_of_outliers(const Model& model, const PairEffects& pairs, const std::vector<char>& unsteady) {
  const Background background = find_background(model, pairs, unsteady, !pairs.too_many);
  if (background.readings == 0) return 0;
  return static_cast<double>(background.slow.size()) / static_cast<double>(background.readings);
}

}  // namespace fabricbench::cluster
