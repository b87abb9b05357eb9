#include "cluster/planning/questions.h"

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

constexpr std::size_t kMostNamed = 3;    // in a line for people
constexpr std::int32_t kMostAlone = 12;  // readings of one direction of a pair, alone: more would not settle it either
constexpr std::int32_t kMostFailures = 3;  // of a pair, alone: each costs a time limit

using Pair = std::pair<std::int32_t, std::int32_t>;

std::size_t place(std::int32_t host) { return static_cast<std::size_t>(host); }

Pair ordered(std::int32_t a, std::int32_t b) { return {std::min(a, b), std::max(a, b)}; }

bool names_suspects(Blame blame) {
  switch (blame) {
    case Blame::kHost:
    case Blame::kNic:
    case Blame::kLeaf:
    case Blame::kDevice:  // its hosts, which may still have it
    case Blame::kTransient:
    case Blame::kDead:
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

/// What was measured of a pair that there is a question about.
struct PairHistory {
  std::int32_t forth = 0;  // readings from the lower host to the higher one
  std::int32_t back = 0;
  std::int32_t alone = 0;   // of the direction and rail with most
  std::int32_t failed = 0;  // alone
  std::int32_t latest = -1;
  bool is_given_up = false;  // the latest reading was not tried: messages of an earlier one may still be under way
};

std::map<Pair, PairHistory> histories_of(const Sweep& sweep, const std::vector<Question>& questions) {
  std::map<Pair, PairHistory> histories;
  for (const Question& question : questions) {
    if (question.other >= 0 && !question.of_suspects) histories[ordered(question.host, question.other)];
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

/// From where less is known of, since a test in one direction only goes from the first to the second.
Meeting meeting_of(const Pair& pair, const PairHistory& history) {
  return history.forth <= history.back ? Meeting{pair.first, pair.second} : Meeting{pair.second, pair.first};
}

/// Picks partners for suspected hosts, one round of them.
class Partners {
 public:
  Partners(const Sweep& sweep, const Survey& survey, const Verdict& verdict)
      : hosts_(static_cast<std::int32_t>(sweep.hosts.size())),
        is_suspect_(suspects_of(verdict, sweep.hosts.size())),
        taken_(survey.left_out) {
    for (const Grouping& each : verdict.groupings) groups_.push_back(groups_of(each, sweep.hosts.size()));
    for (const Question& question : verdict.questions) {
      if (question.other < 0) met_[question.host];
    }
    for (const Reading& reading : sweep.readings) {
      note(reading.from, reading.to);
      note(reading.to, reading.from);
    }
  }

  /// The one that the question's host has met least, of its own group first where the question is of such alone, and of
  /// those the next in a turn that moves on with the rounds; both are taken then. No suspect, unless it is of such a
  /// group: then there may be few others. Below 0: none is free.
  std::int32_t take(const Question& question, std::int64_t turn) {
    const std::int32_t host = question.host;
    if (taken_[place(host)] != 0) return -1;
    const std::map<std::int32_t, std::int32_t>& met = met_[host];
    std::int32_t best = -1;
    std::pair<bool, std::int32_t> least;  // whether it is of another group, how often they met
    for (std::int32_t step = 1; step < hosts_; ++step) {
      const auto other = static_cast<std::int32_t>((host + turn + step) % hosts_);
      const bool may_be = is_suspect_[place(other)] == 0 || is_wanted(question, other);
      if (other == host || taken_[place(other)] != 0 || !may_be) continue;
      const auto found = met.find(other);
      const bool is_far = question.within_level != Question::kNoLevel && !is_wanted(question, other);
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
  /// Whether what the question is about shows with this host, and not with all.
  [[nodiscard]] bool is_wanted(const Question& question, std::int32_t other) const {
    if (question.within_level == Question::kNoLevel) return false;
    const std::vector<std::int32_t>& group_of = groups_.at(static_cast<std::size_t>(question.within_level));
    return group_of[place(other)] == group_of[place(question.host)];
  }

  void note(std::int32_t host, std::int32_t other) {
    const auto found = met_.find(host);
    if (found != met_.end()) ++found->second[other];
  }

  std::int32_t hosts_;
  std::vector<std::uint8_t> is_suspect_;           // by host
  std::vector<std::uint8_t> taken_;                // by host: takes no part, or has a partner in this round
  std::vector<std::vector<std::int32_t>> groups_;  // by level and host; -1: none
  std::map<std::int32_t, std::map<std::int32_t, std::int32_t>> met_;  // readings, by suspect and partner
};

PlannedRound round_for_hosts(const Sweep& sweep, const Survey& survey, const Verdict& verdict, std::int64_t at_once) {
  PlannedRound round;
  Partners partners(sweep, survey, verdict);
  std::vector<const Question*> asked;
  bool all_new = true;
  for (const Question& question : verdict.questions) {
    if (question.other >= 0) continue;
    if (static_cast<std::int64_t>(round.meetings.size()) >= at_once) break;
    const std::int32_t partner = partners.take(question, survey.last);
    if (partner < 0) continue;
    all_new = all_new && !partners.has_met(question.host, partner);
    // Turned round from round to round: a test in one direction only goes from the first to the second.
    round.meetings.push_back(survey.last % 2 == 0 ? Meeting{question.host, partner} : Meeting{partner, question.host});
    asked.push_back(&question);
  }
  if (asked.empty()) return round;
  const char* partner = all_new ? "with a partner that it has not met" : "with the partner it has met least";
  round.why = asked.size() == 1
                  ? fmt::format("again, {}: {}", partner, text_of_questions(sweep, asked))
                  : fmt::format("{} hosts again, each {}: {}", asked.size(), partner, text_of_questions(sweep, asked));
  return round;
}

/// Pairs that questions name, as many as can be, of those questions that `wanted` takes.
template <typename Wanted>
PlannedRound round_of_pairs(const Sweep& sweep, const std::vector<std::uint8_t>& barred, const Verdict& verdict,
                            std::int64_t at_once, std::string_view who, const Wanted& wanted) {
  PlannedRound round;
  std::set<std::int32_t> busy;
  std::vector<const Question*> asked;
  for (const Question& question : verdict.questions) {
    if (!wanted(question) || static_cast<std::int64_t>(round.meetings.size()) >= at_once) continue;
    if (barred[place(question.host)] != 0 || barred[place(question.other)] != 0) continue;
    if (busy.count(question.host) > 0 || busy.count(question.other) > 0) continue;
    busy.insert({question.host, question.other});
    round.meetings.push_back({question.host, question.other});
    asked.push_back(&question);
  }
  if (!asked.empty()) round.why = fmt::format("{} with each other: {}", who, text_of_questions(sweep, asked));
  return round;
}

/// Suspects with each other: whether they are slow with each other too, as slow hosts are, or fine, as those behind
/// slow uplinks are.
PlannedRound round_for_suspects(const Sweep& sweep, const Survey& survey, const Verdict& verdict,
                                std::int64_t at_once) {
  return round_of_pairs(sweep, survey.left_out, verdict, at_once, "slow hosts",
                        [](const Question& question) { return question.of_suspects && !question.of_dead; });
}

struct AskedPair {
  const Question* question;
  Pair pair;
  const PairHistory* history;
};

/// The pairs that are worth another reading, each once, the least recently measured first.
std::vector<AskedPair> pairs_to_ask(const Survey& survey, const Verdict& verdict,
                                    const std::map<Pair, PairHistory>& histories) {
  std::vector<AskedPair> pairs;
  std::set<Pair> seen;
  for (const Question& question : verdict.questions) {
    if (question.other < 0 || question.of_suspects) continue;
    const Pair pair = ordered(question.host, question.other);
    const PairHistory& history = histories.at(pair);
    if (is_exhausted(history) || survey.left_out[place(pair.first)] != 0 || survey.left_out[place(pair.second)] != 0) {
      continue;
    }
    if (seen.insert(pair).second) pairs.push_back({&question, pair, &history});
  }
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const AskedPair& a, const AskedPair& b) { return a.history->latest < b.history->latest; });
  return pairs;
}

/// Up to so many pairs without a host in common, nor one of `hosts`; with `apart`, without a leaf in common either.
std::vector<const AskedPair*> disjoint(const Sweep& sweep, const std::vector<AskedPair>& pairs, std::int64_t most,
                                       bool apart, std::set<std::int32_t> hosts = {}) {
  std::vector<const AskedPair*> chosen;
  std::set<std::int32_t> leaves;
  for (const AskedPair& asked : pairs) {
    if (static_cast<std::int64_t>(chosen.size()) >= most) break;
    const auto [a, b] = asked.pair;
    if (hosts.count(a) > 0 || hosts.count(b) > 0) continue;
    if (apart) {
      const std::int32_t leaf_a = sweep.leaf_of[place(a)];
      const std::int32_t leaf_b = sweep.leaf_of[place(b)];
      if (leaves.count(leaf_a) > 0 || leaves.count(leaf_b) > 0) continue;
      leaves.insert({leaf_a, leaf_b});
    }
    hosts.insert({a, b});
    chosen.push_back(&asked);
  }
  return chosen;
}

/// How many rounds pairs would take, each alone.
std::int64_t rounds_alone(const std::vector<AskedPair>& pairs) {
  std::int64_t rounds = 0;
  for (const AskedPair& asked : pairs) rounds += std::max(asked.question->readings, 1);
  return rounds;
}

/// Where pairs are too many to be measured alone, those whose hosts would be idle are measured in this round too.
void add_idle_pairs(const Sweep& sweep, const std::vector<AskedPair>& pairs, std::int64_t at_once,
                    std::int64_t rounds_left, PlannedRound& round) {
  if (rounds_alone(pairs) <= rounds_left) return;
  std::set<std::int32_t> busy;
  for (const Meeting& meeting : round.meetings) busy.insert({meeting.first, meeting.second});
  const std::int64_t most = at_once - static_cast<std::int64_t>(round.meetings.size());
  const std::vector<const AskedPair*> chosen = disjoint(sweep, pairs, most, false, std::move(busy));
  for (const AskedPair* asked : chosen) round.meetings.push_back(meeting_of(asked->pair, *asked->history));
  if (!chosen.empty()) round.why += fmt::format("; and {} of {} pairs again", chosen.size(), pairs.size());
}

PlannedRound round_for_pairs(const Sweep& sweep, const std::vector<AskedPair>& pairs, std::int64_t at_once,
                             std::int64_t rounds_left, bool among_many) {
  PlannedRound round;
  if (pairs.empty()) return round;
  const auto count = static_cast<std::int64_t>(pairs.size());
  std::vector<const AskedPair*> chosen{&pairs.front()};
  const char* how = among_many ? "again, with no host in common" : "alone";
  if (among_many) {
    chosen = disjoint(sweep, pairs, at_once, false);
  } else if (rounds_alone(pairs) > rounds_left && count > 1) {
    chosen = sweep.leaf_of.empty() ? std::vector<const AskedPair*>() : disjoint(sweep, pairs, at_once, true);
    how = "again, with no leaf in common";
    // Half of the rounds are kept for those that stay slow, which are then measured alone.
    if (static_cast<std::int64_t>(chosen.size()) * std::max<std::int64_t>(rounds_left / 2, 1) < count) {
      chosen = disjoint(sweep, pairs, at_once, false);
      how = "again, with no host in common";
    }
  }
  std::vector<const Question*> questions;
  for (const AskedPair* asked : chosen) {
    round.meetings.push_back(meeting_of(asked->pair, *asked->history));
    questions.push_back(asked->question);
  }
  round.why =
      chosen.size() == 1
          ? fmt::format("{}: {}", among_many ? "again" : "alone", text_of_questions(sweep, questions))
          : fmt::format("{} of {} pairs {}: {}", chosen.size(), count, how, text_of_questions(sweep, questions));
  return round;
}

}  // namespace

PlannedRound round_for_the_dead(const Sweep& sweep, const Survey& survey, const Verdict& verdict,
                                std::int64_t at_once) {
  return round_of_pairs(sweep, survey.absent, verdict, at_once, "dead hosts",
                        [](const Question& question) { return question.of_dead; });
}

std::vector<std::uint8_t> suspects_of(const Verdict& verdict, std::size_t hosts) {
  std::vector<std::uint8_t> suspects(hosts, 0);
  for (const Finding& finding : verdict.findings) {
    if (!names_suspects(finding.blame)) continue;
    for (const std::int32_t host : finding.hosts) suspects[place(host)] = 1;
  }
  for (const Question& question : verdict.questions) {
    if (question.other < 0) suspects[place(question.host)] = 1;
  }
  return suspects;
}

PlannedRound round_for_questions(const Sweep& sweep, const Survey& survey, const Verdict& verdict, std::int64_t at_once,
                                 std::int64_t rounds_left, bool among_many) {
  if (rounds_left <= 0) return {};
  PlannedRound round = round_for_suspects(sweep, survey, verdict, at_once);
  if (!round.meetings.empty()) return round;
  const std::map<Pair, PairHistory> histories = histories_of(sweep, verdict.questions);
  const std::vector<AskedPair> pairs = pairs_to_ask(survey, verdict, histories);
  round = round_for_hosts(sweep, survey, verdict, at_once);
  if (round.meetings.empty()) return round_for_pairs(sweep, pairs, at_once, rounds_left, among_many);
  add_idle_pairs(sweep, pairs, at_once, rounds_left, round);
  return round;
}

std::int64_t rounds_for_questions(const Verdict& verdict, std::int64_t most) {
  std::int64_t hosts = 0;
  std::int64_t pairs = 0;
  std::int64_t suspects = 0;
  for (const Question& question : verdict.questions) {
    const std::int64_t readings = std::max(question.readings, 1);
    if (question.of_suspects) {
      suspects = 2;
    } else if (question.other < 0) {
      hosts = std::max(hosts, readings);
    } else {
      pairs += readings;
    }
  }
  return std::clamp<std::int64_t>(suspects + hosts + pairs, 0, std::max<std::int64_t>(most, 0));
}

std::string text_of_questions(const Sweep& sweep, const std::vector<const Question*>& questions) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(questions.size(), kMostNamed); ++i) {
    const Question& question = *questions[i];
    const std::string& host = sweep.hosts[place(question.host)];
    const std::string who =
        question.other < 0 ? host : fmt::format("{} and {}", host, sweep.hosts[place(question.other)]);
    texts.push_back(question.why.empty() ? who : fmt::format("{} ({})", who, question.why));
  }
  const std::size_t more = questions.size() - texts.size();
  return fmt::format("{}{}", fmt::join(texts, "; "), more > 0 ? fmt::format("; and {} more", more) : "");
}

}  // namespace fabricbench::cluster
