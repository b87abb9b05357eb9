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

#include "cluster/attribution/pair_residuals.h"
#include "cluster/attribution/tests_made.h"
#include "cluster/robust.h"

namespace fabricbench::cluster {
namespace {

constexpr double kOutlierScales = 3.5;
constexpr std::int32_t kSlowPartners = 3;  // of so many hosts that all but one can be slow with it: one less
/// A host is looked at until it is clear whether it is slow as often as this, or as often as chance makes hosts slow
/// (Wald's sequential test, Sequential Analysis, 1947).
constexpr double kShareLookedFor = 0.2;
constexpr std::int64_t kMostAsked = 16;
/// Up to so many meetings, a host is looked at further while the evidence exceeds so much: the longer it was looked at,
/// the surer one has to be.
struct Bar {
  std::int64_t meetings = 0;
  double evidence = 0;
};
constexpr std::array<Bar, 2> kBars = {{{48, -4}, {60, -1}}};
/// Where chance makes so many meetings slow, none of that can be told.
constexpr double kHopelessShare = 0.1;
/// The fewer readings of others there are, the less it is known how often they are slow.
constexpr double kErrorsToBlame = 3;
/// Before any is seen, about one in fifty of two readings is expected to be slow, as if it had been seen of so many,
/// and of more readings more.
constexpr double kMeetingsBefore = 20;
constexpr double kSlowBefore = 0.28;
/// Of so many readings of a host, fewer than this share being slow, it is not looked at: saves time.
constexpr std::size_t kManyEntries = 100;
constexpr double kFewOfThem = 0.05;

using Two = std::pair<std::int32_t, std::int32_t>;

Two hosts_of(const Model& model, const PairEffect& pair) {
  return std::minmax(model.ids.host(pair.sender), model.ids.host(pair.receiver));
}

/// With how many partners each host is slow now and then.
std::vector<std::int32_t> unsteady_partners(const Model& model, const PairEffects& pairs) {
  std::set<Two> unsteady;
  for (const PairEffect& pair : pairs.pairs) {
    if (pair.state == PairState::kNowAndThen) unsteady.insert(hosts_of(model, pair));
  }
  std::vector<std::int32_t> partners(static_cast<std::size_t>(model.ids.hosts), 0);
  for (const auto& [a, b] : unsteady) {
    ++partners[static_cast<std::size_t>(a)];
    ++partners[static_cast<std::size_t>(b)];
  }
  return partners;
}

/// The hosts of pairs that are slow for good or may be, or where nobody can tell, and of those that are slow now and
/// then, as no other pair of the two hosts is; sorted.
std::vector<Two> settled_pairs(const Model& model, const PairEffects& pairs) {
  const std::vector<std::int32_t> unsteady = unsteady_partners(model, pairs);
  std::vector<Two> hosts;
  for (const PairEffect& pair : pairs.pairs) {
    const Two both = hosts_of(model, pair);
    const bool noise = pair.state == PairState::kNoise || pair.state == PairState::kUnclear ||
                       (pair.state == PairState::kOpen && pair.retests == 0);
    const bool may_be_a_host =
        pair.state == PairState::kNowAndThen &&
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

/// Readings that nobody blamed explains, and those of them that are slow.
struct Background {
  std::vector<std::int32_t> slow;  ///< readings, by place
  std::int64_t readings = 0;
};

/// Without readings of `unsteady` hosts.
Background find_background(const Model& model, const PairEffects& pairs, const HostFlags& unsteady) {
  const std::vector<Two> settled = settled_pairs(model, pairs);
  Background background;
  for (const Point& point : model.points) {
    if (!model.is_clean(point) || is_either(unsteady, model.reading_of(point))) continue;
    ++background.readings;
    const double residual = point.residual - model.near_limit_of(point);
    if (residual >= outlier_bound(model, point)) continue;
    const Two hosts = std::minmax(model.ids.host(point.sender), model.ids.host(point.receiver));
    if (std::binary_search(settled.begin(), settled.end(), hosts)) continue;
    background.slow.push_back(point.reading);
  }
  return background;
}

/// A meeting of a host, by partner and round, and its lowest residual; of a failed one far below all others.
struct SlowMeeting {
  Two with;
  float level = 0;
};

/// One host's readings that were slow or failed.
struct Account {
  std::vector<SlowMeeting> meetings;  ///< by partner and round, each once
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

/// Of several readings of a meeting the lowest one counts.
void keep_lowest(std::vector<SlowMeeting>& meetings) {
  std::sort(meetings.begin(), meetings.end(), [](const SlowMeeting& a, const SlowMeeting& b) {
    return std::tie(a.with, a.level) < std::tie(b.with, b.level);
  });
  const auto end = std::unique(meetings.begin(), meetings.end(),
                               [](const SlowMeeting& a, const SlowMeeting& b) { return a.with == b.with; });
  meetings.erase(end, meetings.end());
}

/// A host's readings that nobody explains, and the meetings in which they were taken.
struct Taken {
  std::int64_t meetings = 0;
  std::int64_t readings = 0;
  std::int64_t all = 0;  ///< meetings, with those that were slow or failed altogether
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
        if (model.is_clean(point)) meetings.emplace_back(partner, model.reading_of(point).round);
      }
    }
  }
  const auto readings = static_cast<std::int64_t>(meetings.size());
  std::sort(meetings.begin(), meetings.end());
  meetings.erase(std::unique(meetings.begin(), meetings.end()), meetings.end());
  const auto more = std::count_if(account.meetings.begin(), account.meetings.end(), [&](const SlowMeeting& meeting) {
    return !std::binary_search(meetings.begin(), meetings.end(), meeting.with);
  });
  const auto different = static_cast<std::int64_t>(meetings.size());
  return {different, readings, different + more};
}

/// What is known of everybody, hosts that are unsteady left out.
struct Everybody {
  Background background;
  std::int64_t failed = 0;  ///< readings
  HostFlags unsteady;
  std::vector<Account> accounts;  ///< by host
  std::vector<float> lowest;      ///< of each slow meeting of any two, ascending
};

/// How many values, ascending, are at this level or below it.
std::int64_t at_most(const std::vector<float>& values, float level) {
  return std::upper_bound(values.begin(), values.end(), level) - values.begin();
}

/// The lowest residuals of a host's slow meetings, ascending.
std::vector<float> lowest_of(const Account& account) {
  std::vector<float> lowest;
  lowest.reserve(account.meetings.size());
  for (const SlowMeeting& meeting : account.meetings) lowest.push_back(meeting.level);
  std::sort(lowest.begin(), lowest.end());
  return lowest;
}

/// Readings of a meeting.
double per_meeting(const Taken& taken) {
  return std::max(1.0, static_cast<double>(taken.readings) / std::max(1.0, static_cast<double>(taken.meetings)));
}

/// Meetings of others, as if there had been some more.
double meetings_of_others(const Everybody& others, const Taken& taken) {
  const auto readings = static_cast<double>(others.background.readings + others.failed - taken.readings);
  return std::max(readings, 0.0) / per_meeting(taken) + kMeetingsBefore;
}

/// The chance that a meeting of a healthy host has a reading at this level or below it, from what others show: so many
/// standard errors above it.
double chance_of_meeting(const Everybody& others, const std::vector<float>& own, const Taken& taken, float level,
                         double errors) {
  const auto elsewhere = static_cast<double>(at_most(others.lowest, level) - at_most(own, level));
  const double slow = std::max(elsewhere, 0.0) + kSlowBefore * std::sqrt(per_meeting(taken));
  return std::min(1.0, (slow + errors * std::sqrt(slow)) / meetings_of_others(others, taken));
}

/// By how much, in nats, so many slow ones of so many meetings speak for a host that is slow in the share looked for,
/// and against one that is slow by chance; nothing does where chance makes as many slow.
double evidence_for(std::int64_t meetings, std::int64_t slow, double chance) {
  if (chance >= kShareLookedFor) return 0;
  const auto hits = static_cast<double>(slow);
  const auto misses = static_cast<double>(meetings - slow);
  return hits * std::log(kShareLookedFor / chance) + misses * std::log((1 - kShareLookedFor) / (1 - chance));
}

/// What the evidence has to exceed that a host is looked at further: after many meetings, what chance gives about one
/// of so many hosts (Ville's inequality).
double bar_for(std::int64_t meetings, std::int32_t hosts) {
  const auto bar = std::find_if(kBars.begin(), kBars.end(), [&](const Bar& each) { return meetings < each.meetings; });
  return bar != kBars.end() ? bar->evidence : std::log(static_cast<double>(hosts));
}

/// How many more meetings, all of them fast, would bring it below.
std::int64_t meetings_to_clear(std::int64_t meetings, std::int64_t slow, double chance, std::int32_t hosts) {
  std::int64_t more = 1;
  while (more < kMostAsked && evidence_for(meetings + more, slow, chance) > bar_for(meetings + more, hosts)) ++more;
  return more;
}

/// So many of a host's slow meetings, the slowest ones, and by how much they speak for one that comes and goes.
struct Depth {
  std::int64_t slow = 0;
  double chance = 1;  ///< that a meeting of a healthy host is as slow
  double evidence = -std::numeric_limits<double>::infinity();
};

/// The depth that says most: the slowest meetings may be slower than others ever are, and the rest be chance.
Depth deepest_evidence(const Everybody& others, const std::vector<float>& own, const Taken& taken,
                       std::int64_t meetings) {
  Depth best;
  for (const float level : own) {
    Depth depth;
    depth.slow = at_most(own, level);
    depth.chance = chance_of_meeting(others, own, taken, level, kErrorsToBlame);
    depth.evidence = evidence_for(meetings, depth.slow, depth.chance);
    if (depth.evidence > best.evidence) best = depth;
  }
  return best;
}

/// The chance that so many of a host's meetings fail, where as many do as others' do: it may have been down for a
/// while.
double chance_of_failures(const Everybody& others, const std::vector<float>& own, const Taken& taken,
                          std::int64_t meetings) {
  const std::int64_t failed = at_most(own, kFailedLevel);
  if (failed == 0) return 1;
  const auto elsewhere = static_cast<double>(std::max<std::int64_t>(at_most(others.lowest, kFailedLevel) - failed, 0));
  const double most = elsewhere + kSlowBefore + kErrorsToBlame * std::sqrt(elsewhere);
  return binomial_tail(meetings, std::min(1.0, most / meetings_of_others(others, taken)), failed);
}

/// With how many partners a host has to be slow.
std::int64_t partners_to_blame(const Model& model) { return std::clamp(model.ids.hosts - 2, 2, kSlowPartners); }

/// A host is blamed when the evidence exceeds what chance gives in a share of sweeps that is allowed, however long it
/// was looked at (Ville's inequality).
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

/// Fills in what a host's account says.
void tell(const Account& account, FlappingHost& found) {
  found.slow = static_cast<std::int64_t>(account.meetings.size());
  found.failed = account.failed;
  found.partners = account.partners();
  found.rounds.clear();
  for (const SlowMeeting& meeting : account.meetings) found.rounds.push_back(meeting.with.second);
  std::sort(found.rounds.begin(), found.rounds.end());
  found.rounds.erase(std::unique(found.rounds.begin(), found.rounds.end()), found.rounds.end());
}

/// Whether what fails with a host fails always: none of its flows that were tried twice or more, and of which some
/// attempt failed, ever worked. What comes and goes would have worked with some.
bool fails_always_where_it_fails(const Model& model, std::int32_t host) {
  constexpr std::int64_t kFlowsToTell = 3;
  struct Attempts {
    std::int64_t worked = 0;
    std::int64_t failed = 0;
  };
  std::map<std::tuple<std::int32_t, std::int32_t, std::int16_t, std::int16_t>, Attempts> flows;
  for (const Reading& reading : model.sweep->readings) {
    if (reading.from != host && reading.to != host) continue;
    if (reading.outcome == Outcome::kNotTried) continue;
    Attempts& tried = flows[{reading.from, reading.to, reading.from_rail, reading.to_rail}];
    ++(reading.outcome == Outcome::kFailed ? tried.failed : tried.worked);
  }
  std::int64_t always = 0;
  for (const auto& [flow, tried] : flows) {
    if (tried.failed > 0 && tried.worked > 0) return false;
    always += tried.failed > 1 ? 1 : 0;
  }
  return always >= kFlowsToTell;
}

/// A host is blamed for its failures alone where these are surer than what else was slow.
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
  if (found.failed > 0 && fails_always_where_it_fails(model, host)) {
    found.sure = false;
    found.wanted = 0;
  }
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

/// How many entries a host has, of all its effects.
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
        everybody.lowest.push_back(meeting.level);  // once for both
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
    // Not more than everybody else has, and few of its readings: saves counting its meetings.
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
  const Background background = find_background(model, pairs, unsteady);
  if (background.readings == 0) return 0;
  return static_cast<double>(background.slow.size()) / static_cast<double>(background.readings);
}

}  // namespace fabricbench::cluster
