#include "cluster/planning/follow_up_rounds.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/planning/group_rounds.h"

namespace fabricbench::cluster {
namespace {

constexpr std::size_t kMostNamed = 3;  // in a line for people
constexpr std::int32_t kMostAlone =
    12;  // maximum number of readings of one direction of a pair, alone: more would not decide either
constexpr std::int32_t kMostFailures = 3;  // maximum number of failures of a pair, alone: each costs a time limit

using Pair = std::pair<std::int32_t, std::int32_t>;

std::size_t place(std::int32_t host) { return static_cast<std::size_t>(host); }

Pair ordered(std::int32_t a, std::int32_t b) { return {std::min(a, b), std::max(a, b)}; }

bool names_suspects(Blame blame) {
  switch (blame) {
    case Blame::kHost:
    case Blame::kNic:
    case Blame::kLeaf:
    case Blame::kDevice:  // its hosts, which may still use it
    case Blame::kTransient:
    case Blame::kDead:
    case Blame::kWrongData:
    case Blame::kUndecided: return true;
    case Blame::kPair:
    case Blame::kLeafPair:
    case Blame::kRail:
    case Blame::kAll:
    case Blame::kCutOff:
    case Blame::kDeadPair: return false;
  }
  return false;
}

/// The readings of a pair that a follow-up is about.
struct PairHistory {
  std::int32_t forth = 0;  // readings from the lower host to the higher one
  std::int32_t back = 0;
  std::int32_t alone = 0;   // maximum over directions and rails
  std::int32_t failed = 0;  // alone
  std::int32_t latest = -1;
  bool is_given_up = false;  // the latest attempt was skipped: messages of an earlier one may still be under way
};

std::map<Pair, PairHistory> histories_of(const Sweep& sweep, const std::vector<FollowUp>& follow_ups) {
  std::map<Pair, PairHistory> histories;
  for (const FollowUp& follow_up : follow_ups) {
    if (follow_up.other >= 0 && !follow_up.of_suspects) histories[ordered(follow_up.host, follow_up.other)];
  }
  if (histories.empty()) return histories;
  using OverRails = std::tuple<std::int32_t, std::int32_t, std::int16_t, std::int16_t>;  // hosts and rails
  std::map<OverRails, std::int32_t> alone;
  for (const Reading& reading : sweep.readings) {
    const auto found = histories.find(ordered(reading.from, reading.to));
    if (found == histories.end()) continue;
    PairHistory& history = found->second;
    const bool forth = reading.from < reading.to;
    if (forth || reading.both_ways) ++history.forth;
    if (!forth || reading.both_ways) ++history.back;
    history.is_given_up = reading.outcome == Outcome::kNotTried;
    history.latest = std::max(history.latest, reading.round);
    if (reading.concurrent > 1) continue;
    if (reading.outcome == Outcome::kFailed) ++history.failed;
    history.alone =
        std::max(history.alone, ++alone[OverRails{reading.from, reading.to, reading.from_rail, reading.to_rail}]);
  }
  return histories;
}

bool is_exhausted(const PairHistory& history) {
  return history.alone >= kMostAlone || history.failed >= kMostFailures || history.is_given_up;
}

/// The direction with fewer readings first: a test in one direction goes from the first host to the second.
Meeting meeting_of(const Pair& pair, const PairHistory& history) {
  return history.forth <= history.back ? Meeting{pair.first, pair.second} : Meeting{pair.second, pair.first};
}

/// Picks partners for suspected hosts, for one round.
class Partners {
 public:
  Partners(const Sweep& sweep, const SweepProgress& progress, const Verdict& verdict)
      : hosts_(static_cast<std::int32_t>(sweep.hosts.size())),
        is_suspect_(suspects_of(verdict, sweep.hosts.size())),
        taken_(progress.left_out) {
    for (const Grouping& each : verdict.groupings) groups_.push_back(groups_of(each, sweep.hosts.size()));
    for (const FollowUp& follow_up : verdict.follow_ups) {
      if (follow_up.other < 0) met_[follow_up.host];
    }
    for (const Reading& reading : sweep.readings) {
      note(reading.from, reading.to);
      note(reading.to, reading.from);
    }
  }

  /// The partner that the follow-up's host has met least; `turn`, which moves on with the rounds, decides between equal
  /// ones. If the follow-up needs hosts of the host's own group, these come first, even suspects, since there may be
  /// few others. Otherwise no suspect is taken. Both hosts are taken then. Below 0: no partner is free.
  std::int32_t take(const FollowUp& follow_up, std::int64_t turn) {
    const std::int32_t host = follow_up.host;
    if (taken_[place(host)] != 0) return -1;
    const std::map<std::int32_t, std::int32_t>& met = met_[host];
    std::int32_t best = -1;
    std::pair<bool, std::int32_t> least;  // whether it is in another group, and how often they met
    for (std::int32_t step = 1; step <= hosts_; ++step) {
      const auto other = static_cast<std::int32_t>((host + turn + step) % hosts_);
      const bool may_be = is_suspect_[place(other)] == 0 || is_wanted(follow_up, other);
      if (other == host || taken_[place(other)] != 0 || !may_be) continue;
      const auto found = met.find(other);
      const bool is_far = follow_up.within_level != FollowUp::kNoLevel && !is_wanted(follow_up, other);
      const std::pair known{is_far, found == met.end() ? 0 : found->second};
      if (best >= 0 && known >= least) continue;
      best = other;
      least = known;
      if (known == std::pair{false, 0}) break;
    }
    if (best >= 0) taken_[place(host)] = taken_[place(best)] = 1;
    return best;
  }

  [[nodiscard]] bool has_met(std::int32_t host, std::int32_t other) const {
    const auto found = met_.find(host);
    return found != met_.end() && found->second.count(other) > 0;
  }

 private:
  /// Whether the follow-up needs hosts of a group, and this host is in it.
  [[nodiscard]] bool is_wanted(const FollowUp& follow_up, std::int32_t other) const {
    if (follow_up.within_level == FollowUp::kNoLevel) return false;
    const std::vector<std::int32_t>& group_of = groups_.at(static_cast<std::size_t>(follow_up.within_level));
    return group_of[place(other)] == group_of[place(follow_up.host)];
  }

  void note(std::int32_t host, std::int32_t other) {
    const auto found = met_.find(host);
    if (found != met_.end()) ++found->second[other];
  }

  std::int32_t hosts_;
  std::vector<std::uint8_t> is_suspect_;           // by host
  std::vector<std::uint8_t> taken_;                // by host: it is left out, or has a partner in this round
  std::vector<std::vector<std::int32_t>> groups_;  // by level and host; -1: none
  std::map<std::int32_t, std::map<std::int32_t, std::int32_t>> met_;  // readings, by suspect and partner
};

PlannedRound round_for_hosts(const Sweep& sweep, const SweepProgress& progress, const Verdict& verdict,
                             std::int64_t at_once) {
  PlannedRound round;
  Partners partners(sweep, progress, verdict);
  std::vector<const FollowUp*> included;
  bool all_new = true;
  for (const FollowUp& follow_up : verdict.follow_ups) {
    if (follow_up.other >= 0) continue;
    if (static_cast<std::int64_t>(round.meetings.size()) >= at_once) break;
    const std::int32_t partner = partners.take(follow_up, progress.last);
    if (partner < 0) continue;
    all_new = all_new && !partners.has_met(follow_up.host, partner);
    // The direction changes from round to round: a test in one direction goes from the first host to the second.
    round.meetings.push_back(progress.last % 2 == 0 ? Meeting{follow_up.host, partner}
                                                    : Meeting{partner, follow_up.host});
    included.push_back(&follow_up);
  }
  if (included.empty()) return round;
  const char* partner = all_new ? "with a new partner" : "with the partner it has met least";
  round.why = included.size() == 1 ? fmt::format("again, {}: {}", partner, text_of_follow_ups(sweep, included))
                                   : fmt::format("{} hosts again, each {}: {}", included.size(), partner,
                                                 text_of_follow_ups(sweep, included));
  return round;
}

/// As many pairs as possible of the follow-ups that `wanted` takes.
template <typename Wanted>
PlannedRound round_of_pairs(const Sweep& sweep, const std::vector<std::uint8_t>& barred, const Verdict& verdict,
                            std::int64_t at_once, std::string_view who, const Wanted& wanted) {
  PlannedRound round;
  std::set<std::int32_t> busy;
  std::vector<const FollowUp*> included;
  for (const FollowUp& follow_up : verdict.follow_ups) {
    if (!wanted(follow_up) || static_cast<std::int64_t>(round.meetings.size()) >= at_once) continue;
    if (barred[place(follow_up.host)] != 0 || barred[place(follow_up.other)] != 0) continue;
    if (busy.count(follow_up.host) > 0 || busy.count(follow_up.other) > 0) continue;
    busy.insert({follow_up.host, follow_up.other});
    round.meetings.push_back({follow_up.host, follow_up.other});
    included.push_back(&follow_up);
  }
  if (!included.empty()) round.why = fmt::format("{} with each other: {}", who, text_of_follow_ups(sweep, included));
  return round;
}

/// Suspects with each other: slow hosts are slow with each other too, hosts behind slow uplinks are not.
PlannedRound round_for_suspects(const Sweep& sweep, const SweepProgress& progress, const Verdict& verdict,
                                std::int64_t at_once) {
  return round_of_pairs(sweep, progress.left_out, verdict, at_once, "slow hosts",
                        [](const FollowUp& follow_up) { return follow_up.of_suspects && !follow_up.of_dead; });
}

struct FollowUpPair {
  const FollowUp* follow_up;
  Pair hosts;
  const PairHistory* history;
};

/// The pairs of follow-ups that are worth another reading, each once, the least recently measured first.
std::vector<FollowUpPair> pairs_to_follow_up(const SweepProgress& progress, const Verdict& verdict,
                                             const std::map<Pair, PairHistory>& histories) {
  std::vector<FollowUpPair> pairs;
  std::set<Pair> known;
  for (const FollowUp& follow_up : verdict.follow_ups) {
    if (follow_up.other < 0 || follow_up.of_suspects) continue;
    const Pair pair = ordered(follow_up.host, follow_up.other);
    const PairHistory& history = histories.at(pair);
    if (is_exhausted(history) || progress.left_out[place(pair.first)] != 0 ||
        progress.left_out[place(pair.second)] != 0) {
      continue;
    }
    if (known.insert(pair).second) pairs.push_back({&follow_up, pair, &history});
  }
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const FollowUpPair& a, const FollowUpPair& b) { return a.history->latest < b.history->latest; });
  return pairs;
}

/// Up to `most` pairs without a host in common, and without one of `hosts`; with `apart`, without a leaf in common
/// either.
std::vector<const FollowUpPair*> disjoint(const Sweep& sweep, const std::vector<FollowUpPair>& pairs, std::int64_t most,
                                          bool apart, std::set<std::int32_t> hosts = {}) {
  std::vector<const FollowUpPair*> chosen;
  std::set<std::int32_t> leaves;
  for (const FollowUpPair& pair : pairs) {
    if (static_cast<std::int64_t>(chosen.size()) >= most) break;
    const auto [a, b] = pair.hosts;
    if (hosts.count(a) > 0 || hosts.count(b) > 0) continue;
    if (apart) {
      const std::int32_t leaf_a = sweep.leaf_of[place(a)];
      const std::int32_t leaf_b = sweep.leaf_of[place(b)];
      if (leaves.count(leaf_a) > 0 || leaves.count(leaf_b) > 0) continue;
      leaves.insert({leaf_a, leaf_b});
    }
    hosts.insert({a, b});
    chosen.push_back(&pair);
  }
  return chosen;
}

/// The number of rounds that pairs would take, each alone.
std::int64_t rounds_alone(const std::vector<FollowUpPair>& pairs) {
  std::int64_t rounds = 0;
  for (const FollowUpPair& pair : pairs) rounds += std::max(pair.follow_up->readings, 1);
  return rounds;
}

/// If there are too many pairs to be measured alone, adds pairs of idle hosts to this round.
void add_idle_pairs(const Sweep& sweep, const std::vector<FollowUpPair>& pairs, std::int64_t at_once,
                    std::int64_t rounds_left, PlannedRound& round) {
  if (rounds_alone(pairs) <= rounds_left) return;
  std::set<std::int32_t> busy;
  for (const Meeting& meeting : round.meetings) busy.insert({meeting.first, meeting.second});
  const std::int64_t most = at_once - static_cast<std::int64_t>(round.meetings.size());
  const std::vector<const FollowUpPair*> chosen = disjoint(sweep, pairs, most, false, std::move(busy));
  for (const FollowUpPair* pair : chosen) round.meetings.push_back(meeting_of(pair->hosts, *pair->history));
  if (!chosen.empty()) round.why += fmt::format("; and {} of {} pairs again", chosen.size(), pairs.size());
}

PlannedRound round_for_pairs(const Sweep& sweep, const std::vector<FollowUpPair>& pairs, std::int64_t at_once,
                             std::int64_t rounds_left, bool among_many) {
  PlannedRound round;
  if (pairs.empty()) return round;
  const auto count = static_cast<std::int64_t>(pairs.size());
  std::vector<const FollowUpPair*> chosen{&pairs.front()};
  const char* how = among_many ? "again, with no host in common" : "alone";
  if (among_many) {
    chosen = disjoint(sweep, pairs, at_once, false);
  } else if (rounds_alone(pairs) > rounds_left && count > 1) {
    chosen = sweep.leaf_of.empty() ? std::vector<const FollowUpPair*>() : disjoint(sweep, pairs, at_once, true);
    how = "again, with no leaf in common";
    // Half of the rounds are kept for pairs that stay slow, which are then measured alone.
    if (static_cast<std::int64_t>(chosen.size()) * std::max<std::int64_t>(rounds_left / 2, 1) < count) {
      chosen = disjoint(sweep, pairs, at_once, false);
      how = "again, with no host in common";
    }
  }
  std::vector<const FollowUp*> follow_ups;
  for (const FollowUpPair* pair : chosen) {
    round.meetings.push_back(meeting_of(pair->hosts, *pair->history));
    follow_ups.push_back(pair->follow_up);
  }
  round.why =
      chosen.size() == 1
          ? fmt::format("{}: {}", among_many ? "again" : "alone", text_of_follow_ups(sweep, follow_ups))
          : fmt::format("{} of {} pairs {}: {}", chosen.size(), count, how, text_of_follow_ups(sweep, follow_ups));
  return round;
}

}  // namespace

PlannedRound round_for_the_dead(const Sweep& sweep, const SweepProgress& progress, const Verdict& verdict,
                                std::int64_t at_once) {
  return round_of_pairs(sweep, progress.absent, verdict, at_once, "dead hosts",
                        [](const FollowUp& follow_up) { return follow_up.of_dead; });
}

std::vector<std::uint8_t> suspects_of(const Verdict& verdict, std::size_t hosts) {
  std::vector<std::uint8_t> suspects(hosts, 0);
  for (const Finding& finding : verdict.findings) {
    if (!names_suspects(finding.blame)) continue;
    for (const std::int32_t host : finding.hosts) suspects[place(host)] = 1;
  }
  for (const FollowUp& follow_up : verdict.follow_ups) {
    if (follow_up.other < 0) suspects[place(follow_up.host)] = 1;
  }
  return suspects;
}

PlannedRound round_of_follow_ups(const Sweep& sweep, const SweepProgress& progress, const Verdict& verdict,
                                 std::int64_t at_once, std::int64_t rounds_left, bool among_many) {
  if (rounds_left <= 0) return {};
  PlannedRound round = round_for_suspects(sweep, progress, verdict, at_once);
  if (!round.meetings.empty()) return round;
  const std::map<Pair, PairHistory> histories = histories_of(sweep, verdict.follow_ups);
  const std::vector<FollowUpPair> pairs = pairs_to_follow_up(progress, verdict, histories);
  round = round_for_hosts(sweep, progress, verdict, at_once);
  if (round.meetings.empty()) return round_for_pairs(sweep, pairs, at_once, rounds_left, among_many);
  add_idle_pairs(sweep, pairs, at_once, rounds_left, round);
  return round;
}

std::int64_t rounds_of_follow_ups(const Verdict& verdict, std::int64_t most) {
  std::int64_t hosts = 0;
  std::int64_t pairs = 0;
  std::int64_t suspects = 0;
  for (const FollowUp& follow_up : verdict.follow_ups) {
    const std::int64_t readings = std::max(follow_up.readings, 1);
    if (follow_up.of_suspects) {
      suspects = 2;
    } else if (follow_up.other < 0) {
      hosts = std::max(hosts, readings);
    } else {
      pairs += readings;
    }
  }
  return std::clamp<std::int64_t>(suspects + hosts + pairs, 0, std::max<std::int64_t>(most, 0));
}

std::string text_of_follow_ups(const Sweep& sweep, const std::vector<const FollowUp*>& follow_ups) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(follow_ups.size(), kMostNamed); ++i) {
    const FollowUp& follow_up = *follow_ups[i];
    const std::string& host = sweep.hosts[place(follow_up.host)];
    const std::string who =
        follow_up.other < 0 ? host : fmt::format("{} and {}", host, sweep.hosts[place(follow_up.other)]);
    texts.push_back(follow_up.why.empty() ? who : fmt::format("{} ({})", who, follow_up.why));
  }
  const std::size_t more = follow_ups.size() - texts.size();
  return fmt::format("{}{}", fmt::join(texts, "; "), more > 0 ? fmt::format("; and {} more", more) : "");
}

}  // namespace fabricbench::cluster
