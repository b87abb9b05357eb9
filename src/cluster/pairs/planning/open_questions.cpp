#include "cluster/pairs/planning/open_questions.h"

#include <algorithm>
#include <random>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/pairs/robust.h"
#include "cluster/pairs/sets.h"
#include "cluster/pairs/thresholds.h"
#include "common/core/random.h"
#include "common/core/wording.h"

namespace fabricbench::cluster {
namespace {

constexpr std::int64_t kPairsCompared = 6;  // alone and beside others: a few differ by chance, and each takes a round

std::vector<std::int32_t> groups_of(const Grouping& grouping, std::size_t hosts) {
  std::vector<std::int32_t> group_of(hosts, -1);
  for (std::size_t group = 0; group < grouping.groups.size(); ++group) {
    for (const std::int32_t host : grouping.groups[group].hosts) group_of[at(host)] = static_cast<std::int32_t>(group);
  }
  return group_of;
}

std::span<const std::int32_t> one(const std::int32_t& host) { return {&host, 1}; }

/// By host, how many hosts of its own group it has met. `group_of`: by host; -1: none.
std::vector<std::int64_t> met_within(const Sweep& sweep, const std::vector<std::int32_t>& group_of) {
  std::vector<HostPair> pairs;
  for (const Reading& each : sweep.readings) {
    const bool are_mates = group_of[at(each.from)] >= 0 && group_of[at(each.from)] == group_of[at(each.to)];
    if (are_mates && each.from != each.to) pairs.push_back(std::minmax(each.from, each.to));
  }
  std::vector<std::int64_t> met(sweep.hosts.size(), 0);
  for (const auto& [host, other] : sorted_unique(std::move(pairs))) {
    ++met[at(host)];
    ++met[at(other)];
  }
  return met;
}

/// Host and follow-up in a few words each, as many as fit into a line.
std::string text_of_follow_ups(const Sweep& sweep, const std::vector<const FollowUp*>& follow_ups) {
  constexpr std::size_t kMostNamed = 3;
  std::vector<std::string> texts;
  for (const FollowUp* follow_up : follow_ups) {
    std::string who = sweep.hosts[at(follow_up->host)];
    if (follow_up->other >= 0) who += " and " + sweep.hosts[at(follow_up->other)];
    texts.push_back(follow_up->why.empty() ? who : fmt::format("{} ({})", who, follow_up->why));
  }
  return fmt::format("{}", fmt::join(shortened(std::move(texts), kMostNamed, "more"), "; "));
}

/// Adds as many as fit. Returns their follow-ups as text.
std::string add_all(const Sweep& sweep, const std::vector<WantedPair>& wanted, RoundBuilder& round) {
  std::vector<const FollowUp*> added;
  for (const WantedPair& pair : wanted) {
    if (round.add(pair)) added.push_back(pair.follow_up);
  }
  return text_of_follow_ups(sweep, added);
}

/// What comparable readings reach at best, whatever the distance of their hosts: the upper part of their rates, and the
/// centre of their fastest stratum, which may have few of them.
std::map<Setting, double> fastest_rates(const Sweep& sweep, const Verdict& verdict, double tolerance) {
  std::map<Setting, std::vector<float>> rates;
  for (const Reading& reading : sweep.readings) {
    if (has_rate(reading)) rates[setting_of(reading)].push_back(reading.rate);
  }
  std::map<Setting, double> fastest;
  for (auto& [key, own] : rates) fastest[key] = (1 - tolerance) * quantile(own, kFastest);
  for (const Stratum& stratum : verdict.strata) {
    double& rate = fastest[setting_of(stratum)];
    if (stratum.pairs >= Stratum::kPairsOfNorm) rate = std::max(rate, stratum.centre);
  }
  return fastest;
}

}  // namespace

std::vector<std::int32_t> hosts_without_suspicion(const Verdict& verdict, std::size_t hosts) {
  std::set<std::int32_t> suspects;
  for (const Finding& finding : verdict.findings) {
    const bool is_path_alone = is_path(finding) && !is_open(finding);
    if (!is_path_alone && !is(finding, kLostOthers)) suspects.insert(finding.hosts.begin(), finding.hosts.end());
  }
  for (const FollowUp& each : verdict.follow_ups) {
    if (each.other < 0) suspects.insert(each.host);
  }
  std::vector<std::int32_t> others;
  for (std::int32_t host = 0; std::cmp_less(host, hosts); ++host) {
    if (!suspects.contains(host)) others.push_back(host);
  }
  return others;
}

OpenQuestions::OpenQuestions(const Sweep& sweep, const SweepProgress& progress, const Verdict& verdict)
    : sweep_(sweep),
      progress_(progress),
      verdict_(verdict),
      no_suspects_(hosts_without_suspicion(verdict, sweep.hosts.size())),
      histories_(histories()) {
  for (const Grouping& each : verdict.groupings) group_of_.push_back(groups_of(each, sweep.hosts.size()));
}

std::string OpenQuestions::text(bool (*is_asked)(const FollowUp&)) const {
  std::vector<const FollowUp*> asked;
  for (const FollowUp& each : verdict_.follow_ups) {
    if (is_asked(each)) asked.push_back(&each);
  }
  return text_of_follow_ups(sweep_, asked);
}

std::map<HostPair, OpenQuestions::History> OpenQuestions::histories() const {
  std::map<HostPair, History> histories;
  for (const FollowUp& follow_up : verdict_.follow_ups) histories[std::minmax(follow_up.host, follow_up.other)];
  for (const Reading& reading : sweep_.readings) {
    const HostPair pair = std::minmax(reading.from, reading.to);
    if (reading.concurrent != 1 && !histories.contains(pair)) continue;
    History& history = histories[pair];
    history.is_given_up = reading.outcome == Outcome::kNotTried;
    if (reading.concurrent == 1) history.alone.insert(reading.round);
    if (reading.concurrent == 1 && reading.outcome == Outcome::kFailed) history.failed.insert(reading.round);
    if (reading.concurrent != 1 && !history.alone.empty()) history.beside.insert(reading.round);
  }
  return histories;
}

const OpenQuestions::History& OpenQuestions::history_of(std::int32_t host, std::int32_t other) const {
  static const History none;
  const auto own = histories_.find(std::minmax(host, other));
  return own == histories_.end() ? none : own->second;
}

RoundBuilder OpenQuestions::empty_round(std::int64_t most_pairs) const {
  return {progress_.met, progress_.left_out, most_pairs, progress_.last};
}

PlannedRound OpenQuestions::dead_hosts() const {
  RoundBuilder round(progress_.met, progress_.absent, progress_.at_once, progress_.last);
  const std::string why = add_all(sweep_, wanted([](const FollowUp& each) { return each.of_dead; }), round);
  return {.meetings = round.meetings(), .why = "dead hosts with each other: " + why};
}

PlannedRound OpenQuestions::shared_links(double tolerance) const {
  constexpr std::size_t kPasses = 2;
  if (verdict_.usual.size() != sweep_.readings.size()) return {};
  const PlannedRound slow = slow_pairs(tolerance);
  for (std::size_t pass = 1; pass <= kPasses; ++pass) {
    if (pass > 1 && verdict_.links.readings > 0 && verdict_.links.slowed == 0) break;
    bool all_beside = true;
    for (const Pair& pair : slow.meetings) {
      const History& history = history_of(pair.first, pair.second);
      if (history.alone.size() < pass) {
        return {.meetings = {pair},
                .why = fmt::format("alone, one of {} slow pairs that no host explains: do pairs share links?",
                                   slow.meetings.size())};
      }
      all_beside = all_beside && history.beside.size() >= pass;
    }
    if (all_beside) continue;
    RoundBuilder again = empty_round(progress_.at_once);
    for (const Reading& reading : sweep_.readings) {
      if (reading.round == slow.number) again.add({reading.from, reading.to});
    }
    return {.meetings = again.meetings(),
            .why = fmt::format("the pairs of round {} again, of which {} were slow, to see whether pairs share links",
                               slow.number + 1, slow.meetings.size()),
            .keeps_order = true};
  }
  return {};
}

/// The round in which most was lost, and its slowest pairs; out of readings beside others from before their pair was
/// alone. A shared link slows two pairs of a round or more. None, if slow readings are few and no two paths are slow,
/// or are all of one host that is slow with most partners.
PlannedRound OpenQuestions::slow_pairs(double tolerance) const {
  const std::map<Setting, double> fastest = fastest_rates(sweep_, verdict_, tolerance);
  using SlowReading = std::tuple<double, std::int32_t, std::int32_t>;  // share of the fastest rate at its time, hosts
  std::map<std::int32_t, std::vector<SlowReading>> slow;               // by round
  std::vector<std::int64_t> balance(sweep_.hosts.size(), 0);           // slow readings of a host less the others
  std::int64_t all = 0;
  std::int64_t all_slow = 0;
  for (std::size_t i = 0; i < sweep_.readings.size(); ++i) {
    const Reading& reading = sweep_.readings[i];
    if (!has_rate(reading) || reading.concurrent < 2 || verdict_.usual[i] <= 0) continue;
    const History& history = history_of(reading.from, reading.to);
    if (history.beside.contains(reading.round)) continue;
    const Stratum& stratum = verdict_.strata[at(verdict_.stratum_of[i])];
    const double ratio = reading.rate / (fastest.at(setting_of(reading)) * verdict_.usual[i] / stratum.centre);
    const bool is_slow = ratio < 1 - std::clamp(kErrors * stratum.scale, tolerance, 2 * kLeastLoad);
    ++all;
    for (const std::int32_t host : {reading.from, reading.to}) balance[at(host)] += is_slow ? 1 : -1;
    if (!is_slow) continue;
    slow[reading.round].emplace_back(ratio, reading.from, reading.to);
    ++all_slow;
  }
  const bool of_one_host = std::ranges::count_if(balance, [](auto each) { return each > 0; }) == 1;
  const auto paths = std::ranges::count_if(verdict_.findings,
                                           [](const Finding& finding) { return is_path(finding) && finding.rate > 0; });
  if (static_cast<double>(all_slow) < kMostFailing * static_cast<double>(all) && paths < 2) return {};
  PlannedRound chosen;
  std::pair<std::int64_t, double> most{0, 0};  // pairs that were alone, so that the choice stays; and what was lost
  for (auto& [round, readings] : slow) {
    std::ranges::sort(readings);
    RoundBuilder pairs = empty_round(kPairsCompared);
    std::pair<std::int64_t, double> own{0, 0};
    for (const auto& [ratio, from, to] : readings) {
      const bool is_of_it = of_one_host && (balance[at(from)] > 0 || balance[at(to)] > 0);
      if (is_of_it || !pairs.add(Pair{from, to})) continue;
      own.first += history_of(from, to).alone.empty() ? 0 : 1;
      own.second += 1 - ratio;
    }
    if (pairs.meetings().size() < 2 || own <= most) continue;
    most = own;
    chosen = {.number = round, .meetings = pairs.meetings()};
  }
  return chosen;
}

PlannedRound OpenQuestions::between_groups(std::int64_t most_rounds) const {
  std::int64_t pairs = 0;
  RoundBuilder round = empty_round(progress_.at_once);
  for (const OpenGroups& open : verdict_.open_groups) {
    std::map<std::int32_t, std::vector<std::int32_t>> hosts;  // by group
    for (std::int32_t host = 0; std::cmp_less(host, open.group_of.size()); ++host) {
      hosts[open.group_of[at(host)]].push_back(host);
    }
    pairs += std::ssize(open.groups);
    for (const auto& [first, second] : open.groups) {
      round.add({.hosts = hosts[first], .partners = hosts[second], .fewer_than = 1});
    }
  }
  if (pairs > most_rounds * progress_.at_once) return {};
  return {.meetings = round.meetings(),
          .why = counted(round.meetings().size(), "pair") + " of hosts that may be near each other, to find groups"};
}

PlannedRound OpenQuestions::within_groups(std::int64_t partners, double most_across, std::int64_t most_pairs) const {
  if (verdict_.groups_are_open) return {};
  const std::set<std::int32_t> not_judged(verdict_.not_judged.begin(), verdict_.not_judged.end());
  RoundBuilder round = empty_round(most_pairs);
  for (std::size_t level = 0; level < group_of_.size(); ++level) {
    if (verdict_.groupings[level].across >= most_across) continue;
    const std::vector<std::int64_t> met = met_within(sweep_, group_of_[level]);
    std::vector<WantedPair> wanted;
    for (const Group& group : verdict_.groupings[level].groups) {
      for (const std::int32_t& host : group.hosts) {
        if (met[at(host)] < partners) wanted.push_back({one(host), group.hosts, not_judged.contains(host) ? kFew : 1});
      }
    }
    std::ranges::stable_sort(wanted, {}, [&](const WantedPair& pair) { return met[at(pair.hosts[0])]; });
    for (const WantedPair& pair : wanted) round.add(pair);
  }
  return {.meetings = round.meetings(),
          .why = counted(round.meetings().size(), "pair") +
                 " within groups, because paths between groups hide the bandwidth of hosts"};
}

std::span<const std::int32_t> OpenQuestions::members(std::size_t level, const std::int32_t& host) const {
  const std::int32_t group = group_of_[level][at(host)];
  return group < 0 ? one(host) : verdict_.groupings[level].groups[at(group)].hosts;
}

PlannedRound OpenQuestions::near_again() const {
  if (verdict_.groupings.empty() || !verdict_.groupings.front().is_given) return {};
  RoundBuilder round = empty_round(progress_.at_once);
  std::vector<WantedPair> asked;
  for (const FollowUp& each : verdict_.follow_ups) {
    const std::span<const std::int32_t> mates = members(0, each.host);
    if (each.other < 0) {
      asked.push_back({one(each.host), mates, each.by_everybody ? WantedPair::kAny : kFew, &each});
    } else if (std::ranges::count(mates, each.other) > 0) {
      asked.push_back({one(each.host), one(each.other), WantedPair::kAny, &each});
    }
  }
  const std::string why = add_all(sweep_, asked, round);
  return {.meetings = round.meetings(), .why = "again, with hosts of the same leaf, which share no links: " + why};
}

PlannedRound OpenQuestions::not_judged(std::int64_t most_pairs) const {
  std::vector<std::int32_t> hosts = verdict_.not_judged;
  std::vector<std::int32_t> partners = verdict_.not_judged;
  partners.insert(partners.end(), no_suspects_.begin(), no_suspects_.end());
  // Hosts that follow each other are near each other, and would share the same few links.
  std::mt19937_64 random(static_cast<std::uint64_t>(progress_.last));
  shuffle(hosts, random);
  shuffle(partners, random);
  const PairsMet alone(sweep_, [&](const Reading& reading) { return reading.concurrent <= most_pairs; });
  RoundBuilder round(alone, progress_.left_out, most_pairs, progress_.last);
  for (const std::int32_t& host : hosts) round.add({.hosts = one(host), .partners = partners});
  return {.meetings = round.meetings(),
          .why = counted(verdict_.not_judged.size(), "host") + " alone or beside few, because links are shared"};
}

/// The follow-ups that `is_asked` takes. If they are on one host, the partner is no suspect. Those that show within a
/// group only are for its hosts first, even suspects, since there may be few others.
template <typename Asked>
std::vector<WantedPair> OpenQuestions::wanted(const Asked& is_asked) const {
  std::vector<WantedPair> wanted;
  for (const FollowUp& each : verdict_.follow_ups) {
    if (!is_asked(each)) continue;
    if (each.within_level != FollowUp::kNoLevel) {
      const std::span<const std::int32_t> mates = members(at(each.within_level), each.host);
      wanted.push_back({.hosts = one(each.host), .partners = mates, .follow_up = &each});
    }
    const std::span<const std::int32_t> others = each.other < 0 ? no_suspects_ : one(each.other);
    wanted.push_back({.hosts = one(each.host), .partners = others, .follow_up = &each});
  }
  return wanted;
}

/// Pairs that are worth another reading, each once, those first that were alone least often.
std::vector<WantedPair> OpenQuestions::pairs_again() const {
  std::set<HostPair> known;
  std::vector<WantedPair> pairs = wanted([&](const FollowUp& each) {
    if (each.other < 0 || each.of_suspects) return false;
    if (progress_.left_out[at(each.host)] != 0 || progress_.left_out[at(each.other)] != 0) return false;
    const History& history = history_of(each.host, each.other);
    if (history.is_given_up || history.failed.size() >= kMoreThanOne) return false;
    return known.insert(std::minmax(each.host, each.other)).second;
  });
  const auto alone = [&](const WantedPair& pair) { return history_of(pair.hosts[0], pair.partners[0]).alone.size(); };
  std::ranges::stable_sort(pairs, {}, alone);
  return pairs;
}

PlannedRound OpenQuestions::follow_ups(std::int64_t most_pairs, std::int64_t rounds_left, bool among_many) const {
  if (rounds_left <= 0) return {};
  RoundBuilder round = empty_round(most_pairs);
  std::vector<std::string> whys;
  const auto is_of_suspects = [](const FollowUp& each) { return each.of_suspects && !each.of_dead; };
  if (const std::string suspects = add_all(sweep_, wanted(is_of_suspects), round); !suspects.empty())
    whys.push_back("slow hosts with each other: " + suspects);
  const auto first = std::ssize(round.meetings());
  std::vector<WantedPair> of_hosts = wanted([](const FollowUp& each) { return each.other < 0; });
  // Where they are too many, each comes in turn.
  if (std::ssize(of_hosts) > most_pairs) {
    std::rotate(of_hosts.begin(), of_hosts.begin() + progress_.last % std::ssize(of_hosts), of_hosts.end());
  }
  if (const std::string hosts = add_all(sweep_, of_hosts, round); !hosts.empty()) {
    const auto number = std::ssize(round.meetings()) - first;
    const bool all_new = std::all_of(round.meetings().begin() + first, round.meetings().end(), [&](const Pair& each) {
      return progress_.met.between(each.first, each.second) == 0;
    });
    const std::string who = number == 1 ? "again," : fmt::format("{} hosts again, each", number);
    whys.push_back(
        fmt::format("{} {}: {}", who, all_new ? "with a new partner" : "with the partner it has met least", hosts));
  }
  const std::string pairs = add_pairs(rounds_left, among_many, round);
  if (!pairs.empty()) whys.push_back(pairs);
  return {.meetings = round.meetings(), .why = fmt::format("{}", fmt::join(whys, "; and "))};
}

/// Adds pairs to a round, which may have others in it. Returns its purpose; empty: none was added.
std::string OpenQuestions::add_pairs(std::int64_t rounds_left, bool among_many, RoundBuilder& round) const {
  std::vector<WantedPair> pairs = pairs_again();
  const std::size_t all = pairs.size();
  std::int64_t rounds_alone = 0;
  for (const WantedPair& pair : pairs) rounds_alone += std::max(pair.follow_up->readings, 1);
  const bool may_be_alone = round.meetings().empty() && !among_many;
  if (pairs.empty() || (rounds_alone <= rounds_left && !may_be_alone && !among_many)) return "";
  const std::size_t others = round.meetings().size();
  const char* apart = "host";
  std::string text;
  if (may_be_alone && rounds_alone <= rounds_left) {
    pairs.resize(1);
  } else if (may_be_alone && !sweep_.leaf_of.empty()) {
    RoundBuilder by_leaf = round;
    by_leaf.keep_apart(sweep_.leaf_of);
    const std::string added = add_all(sweep_, pairs, by_leaf);
    // Half of the rounds are kept for pairs that stay slow, which are then measured alone.
    if (std::ssize(by_leaf.meetings()) * std::max<std::int64_t>(rounds_left / 2, 1) >= std::ssize(pairs)) {
      text = added;
      round = by_leaf;
      apart = "leaf";
    }
  }
  if (text.empty()) text = add_all(sweep_, pairs, round);
  if (text.empty()) return "";
  if (round.meetings().size() == 1) return fmt::format("{}: {}", among_many ? "again" : "alone", text);
  return fmt::format("{} of {} pairs again, with no {} in common: {}", round.meetings().size() - others, all, apart,
                     text);
}

}  // namespace fabricbench::cluster
