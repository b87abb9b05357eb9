#include "cluster/planning/planner.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "cluster/network_load.h"
#include "cluster/planning/follow_up_rounds.h"
#include "cluster/planning/group_rounds.h"
#include "cluster/planning/idle_hosts.h"
#include "cluster/planning/shared_link_rounds.h"
#include "cluster/planning/sweep_progress.h"
#include "common/core/distributions.h"

namespace fabricbench::cluster {
namespace {

constexpr double kMissed = 1e-3;            // the share of slow hosts that may go unnoticed
constexpr std::size_t kMostHostsNamed = 4;  // in a line for people
constexpr std::int64_t kMostRoundsBetween =
    8;  // rounds between groups that may be one, if rounds for all hosts are an alternative
constexpr std::int64_t kNearPartners = 4;  // that judge a host where links are shared
constexpr double kAnyRatio = 1e9;
constexpr std::int64_t kHostsToRepeat = 4;  // with fewer hosts, readings cannot tell which one is slow now and then

/// The number of readings of a host that its median needs: no healthy host is blamed by chance, and no slow one missed.
/// The median of k readings scatters by sqrt(pi / 2 / k) times as much as one reading. Bonferroni's correction covers
/// all directions of all hosts.
std::int64_t readings_for_medians(double scale, const SweepPlan& plan) {
  const double directions = 2 * std::max(1.0, static_cast<double>(plan.schedule.endpoints));
  const double distance = normal_quantile(plan.false_alarm / directions) + normal_quantile(kMissed);
  constexpr double kHalfPi = 1.5707963267948966;
  const double wanted = kHalfPi * std::pow(distance * scale / plan.tolerance, 2);
  return static_cast<std::int64_t>(std::ceil(std::min(wanted, 1e6)));
}

/// The scale of the stratum with most readings; 0: there is none.
double main_scale(const Verdict& verdict) {
  const auto most = std::max_element(verdict.strata.begin(), verdict.strata.end(),
                                     [](const Stratum& a, const Stratum& b) { return a.readings < b.readings; });
  return most == verdict.strata.end() ? 0 : most->scale;
}

SchedulePlan schedule_of(const SweepPlan& plan) {
  if (plan.schedule.kind != ScheduleKind::kCircle) {
    throw std::invalid_argument("rounds are planned one by one on the circle's schedule only");
  }
  SchedulePlan schedule = plan.schedule;
  if (plan.find) schedule.rounds = 0;  // decided as the sweep goes on
  return schedule;
}

/// Such as `; left out: node03, node07 and 2 more`.
std::string left_out_text(const Sweep& sweep, const SweepProgress& progress) {
  std::string text;
  std::size_t count = 0;
  for (std::size_t host = 0; host < sweep.hosts.size(); ++host) {
    if (progress.left_out[host] == 0) continue;
    if (++count <= kMostHostsNamed) text += (count == 1 ? "; left out: " : ", ") + sweep.hosts[host];
  }
  return count > kMostHostsNamed ? fmt::format("{} and {} more", text, count - kMostHostsNamed) : text;
}

/// Hosts that take part and are not judged, such as `node03, node07 and 2 more`; empty: there are none.
std::string not_judged_text(const Sweep& sweep, const SweepProgress& progress, const Verdict& verdict) {
  std::string text;
  std::size_t count = 0;
  for (const std::int32_t host : verdict.not_judged) {
    if (progress.left_out[static_cast<std::size_t>(host)] != 0) continue;
    if (++count <= kMostHostsNamed) text += (count == 1 ? "" : ", ") + sweep.hosts[static_cast<std::size_t>(host)];
  }
  return count > kMostHostsNamed ? fmt::format("{} and {} more", text, count - kMostHostsNamed) : text;
}

/// Has every other host that the schedule has first send second, and the others in the next round. The schedule has the
/// same hosts first in many rounds: where pairs are measured forth and then back, a leaf of such hosts would have a
/// fuller uplink than others, and look slow.
void alternate_order(PlannedRound& round) {
  for (Meeting& meeting : round.meetings) {
    if ((round.number + meeting.first) % 2 == 1) std::swap(meeting.first, meeting.second);
  }
}

/// Whether a quarter of the hosts are suspects: they may be another kind of hosts, which few rounds do not show.
bool are_many_slow(const Sweep& sweep, const Verdict& verdict) {
  const std::vector<std::uint8_t> suspects = suspects_of(verdict, sweep.hosts.size());
  return 4 * std::count(suspects.begin(), suspects.end(), std::uint8_t{1}) >= std::ssize(suspects);
}

}  // namespace

void limit_rounds(SweepPlan& plan, int rounds) {
  if (rounds == 0) return;
  plan.schedule.rounds = rounds == SweepPlan::kAllPairs ? 0 : rounds;
  plan.most_rounds = rounds;
  plan.most_rounds_for_groups = rounds;
  if (rounds != SweepPlan::kAllPairs) {
    plan.least_meetings = std::min(plan.least_meetings, rounds);
    plan.most_meetings = rounds;
  }
  plan.least_rounds = rounds == SweepPlan::kAllPairs ? rounds : std::min(plan.least_rounds, rounds);
}

/// What is known without a verdict.
struct Planner::Outlook {
  SweepProgress progress;
  std::int64_t at_once = 1;  // the most pairs
  OfSchedule next;
  int parts = 1;        // of a whole round
  bool is_due = false;  // the next round of the schedule is due, whatever the verdict

  [[nodiscard]] std::int64_t whole_round() const { return next.place / parts; }
  /// The number of rounds for all hosts, including those in which pairs met again. If the schedule is split, whole
  /// rounds are counted, and none is repeated.
  [[nodiscard]] std::int64_t everybody() const {
    return parts > 1 ? progress.whole_done : progress.last + 1 - progress.extra;
  }
};

Planner::Planner(SweepPlan plan) : plan_(std::move(plan)), schedule_(schedule_of(plan_)) {}

std::int64_t Planner::most_rounds() const {
  const std::int64_t most = plan_.find ? plan_.most_rounds : SweepPlan::kAllPairs;
  return std::min(most, schedule_.whole_rounds());
}

std::int64_t Planner::most_rounds_for_groups() const {
  if (!plan_.find) return most_rounds();
  return std::max(most_rounds(), std::min<std::int64_t>(plan_.most_rounds_for_groups, schedule_.whole_rounds()));
}

/// The extra rounds left. As many as rounds for all hosts are allowed: with more pairs, more of them are slow once by
/// chance.
std::int64_t Planner::extra_rounds_left(const Outlook& outlook) const {
  // If all pairs were measured, rounds in which they met again served for suspects as well.
  const std::int64_t for_all = outlook.next.meetings.empty() ? outlook.progress.whole_done : outlook.everybody();
  return std::max<std::int64_t>(plan_.most_extra_rounds, for_all) - outlook.progress.extra;
}

/// The rounds for all hosts before the first verdict.
std::int64_t Planner::rounds_before_judging() const {
  if (!plan_.find || plan_.least_rounds == SweepPlan::kAllPairs) return most_rounds();
  return std::min<std::int64_t>(plan_.first_rounds, least_rounds());
}

/// The rounds for all hosts before a verdict that nothing is slow.
std::int64_t Planner::least_rounds() const {
  return plan_.find ? std::min<std::int64_t>(plan_.least_rounds, most_rounds()) : most_rounds();
}

std::int64_t Planner::rounds_wanted(const Verdict& verdict) const {
  return std::clamp(readings_for_medians(main_scale(verdict), plan_), rounds_before_judging(), most_rounds());
}

/// How many hosts of its own group each host meets: enough to raise a suspicion, which follow-ups decide.
std::int64_t Planner::partners_wanted(const Verdict& verdict) const {
  constexpr std::int64_t kFewest = 4;
  constexpr std::int64_t kMost = 8;
  return std::clamp(readings_for_medians(main_scale(verdict), plan_) / 2, kFewest, kMost);
}

Planner::Outlook Planner::look_at(const Sweep& sweep) const {
  if (sweep.hosts.size() != static_cast<std::size_t>(plan_.schedule.endpoints)) {
    throw std::invalid_argument(
        fmt::format("a plan for {} hosts, and a sweep of {}", plan_.schedule.endpoints, sweep.hosts.size()));
  }
  const std::int64_t all_at_once = plan_.schedule.endpoints / 2;
  const std::int64_t limit = plan_.schedule.concurrent;
  SweepProgress progress = progress_of(sweep, plan_, schedule_, most_rounds_for_groups());
  const std::int64_t at_once = std::max<std::int64_t>(limit > 0 ? std::min(limit, all_at_once) : all_at_once, 1);
  OfSchedule next;
  if (progress.taking_part() > 1) {
    next = next_of_schedule(sweep, progress, schedule_, static_cast<std::size_t>(at_once));
  }
  Outlook outlook{std::move(progress), at_once, std::move(next), schedule_.parts(), false};
  outlook.is_due =
      !outlook.next.meetings.empty() &&
      outlook.whole_round() < (outlook.next.is_completed ? most_rounds_for_groups() : rounds_before_judging());
  return outlook;
}

PlannedRound Planner::next(const Sweep& sweep, const Judge& judge) const {
  const Outlook outlook = look_at(sweep);
  if (outlook.progress.taking_part() < 2) {
    if (plan_.find) {
      if (auto dead = round_of_dead(sweep, judge(), outlook)) return *dead;
    }
    return over(outlook, "fewer than two hosts are left to measure" + left_out_text(sweep, outlook.progress));
  }
  if (outlook.is_due) {
    PlannedRound round = of_schedule(sweep, outlook, rounds_before_judging(), "");
    round.rounds_left = left_before_judging(outlook);
    return round;
  }
  if (!plan_.find)
    return over(outlook, fmt::format("everything planned has been measured{}", left_out_text(sweep, outlook.progress)));
  const Verdict verdict = judge();
  PlannedRound round = next_to_find(sweep, verdict, outlook);
  if (!round.meetings.empty()) round.rounds_left = left_after_judging(outlook, verdict);
  return round;
}

/// A round for all hosts, until there are enough to say that nothing is slow now and then.
std::optional<PlannedRound> Planner::round_of_the_least(const Sweep& sweep, const Outlook& outlook) const {
  if (!outlook.next.meetings.empty() && outlook.whole_round() < least_rounds()) {
    return of_schedule(sweep, outlook, least_rounds(), "");
  }
  const bool again_is_due =
      may_repeat(outlook) && outlook.next.meetings.empty() && outlook.progress.met < plan_.least_meetings;
  if (again_is_due) return again(sweep, outlook, plan_.least_meetings, "");
  return std::nullopt;
}

/// The next round that the verdict needs.
PlannedRound Planner::next_to_find(const Sweep& sweep, const Verdict& verdict, const Outlook& outlook) const {
  const std::int64_t extra_left = extra_rounds_left(outlook);
  const std::int64_t at_once = outlook.at_once;
  if (auto dead = round_of_dead(sweep, verdict, outlook)) return *dead;
  if (verdict.links.are_shared) return next_with_shared_links(sweep, verdict, outlook);
  if (auto probe = round_to_probe(sweep, verdict, outlook)) return *probe;
  if (verdict.judged != Judged::kSlow || are_many_slow(sweep, verdict)) {
    if (auto round = round_of_the_least(sweep, outlook)) return *round;
  }
  const bool may_tell_groups = extra_left > 0 && may_repeat(outlook);
  const bool any_left = !outlook.next.meetings.empty();
  const bool everybody_tells = any_left && verdict.groups_are_open && outlook.whole_round() < most_rounds_for_groups();
  if (may_tell_groups && verdict.groups_are_open) {
    // With very many open groups, rounds for all hosts show more, as long as there are any.
    const std::int64_t most = everybody_tells ? std::min(kMostRoundsBetween, extra_left) : extra_left;
    if (auto between = round_between_groups(sweep, outlook.progress, verdict, at_once, most)) {
      return among_ordinary_pairs(sweep, outlook, std::move(*between));
    }
  }
  if (everybody_tells) {
    return of_schedule(sweep, outlook, most_rounds_for_groups(),
                       ", because some pairs are much faster than others, and more pairs may show why");
  }
  const bool has_next = any_left && outlook.whole_round() < most_rounds();
  if (has_next && outlook.whole_round() < rounds_wanted(verdict)) {
    return of_schedule(sweep, outlook, most_rounds(),
                       fmt::format(", because readings scatter by {:.1f} %", 100 * main_scale(verdict)));
  }
  if (const std::string hosts = not_judged_text(sweep, outlook.progress, verdict); has_next && !hosts.empty()) {
    return of_schedule(sweep, outlook, most_rounds(), fmt::format(", because too little is known of {}", hosts));
  }
  if (may_tell_groups) {
    if (std::optional<PlannedRound> near = round_for_near_pairs(sweep, verdict, outlook)) return *near;
  }
  if (std::optional<PlannedRound> everybody = round_for_everybody(sweep, verdict, outlook)) return *everybody;
  // A few pairs do not show the usual rate at their time.
  const bool among_many = verdict.changes_with_time > 0 && may_repeat(outlook);
  PlannedRound follow_up_round = round_of_follow_ups(sweep, outlook.progress, verdict, at_once, extra_left, among_many);
  if (follow_up_round.meetings.empty()) return over(outlook, why_over(sweep, outlook, verdict));
  follow_up_round.number = outlook.progress.last + 1;
  const bool tells_of_its_time =
      std::cmp_greater_equal(follow_up_round.meetings.size(), kPairsOfFullLoad) && may_repeat(outlook);
  if (among_many || tells_of_its_time)
    follow_up_round = among_ordinary_pairs(sweep, outlook, std::move(follow_up_round));
  if (among_many) follow_up_round.why += "; among other pairs, because the usual bandwidth changes with time";
  return follow_up_round;
}

/// Dead hosts come first: a leaf that is cut off looks like many dead hosts.
std::optional<PlannedRound> Planner::round_of_dead(const Sweep& sweep, const Verdict& verdict,
                                                   const Outlook& outlook) const {
  if (extra_rounds_left(outlook) <= 0) return std::nullopt;
  PlannedRound round = round_for_the_dead(sweep, outlook.progress, verdict, outlook.at_once);
  if (round.meetings.empty()) return std::nullopt;
  round.number = outlook.progress.last + 1;
  return round;
}

/// The next round of the comparison of pairs alone and among others.
std::optional<PlannedRound> Planner::round_to_probe(const Sweep& sweep, const Verdict& verdict,
                                                    const Outlook& outlook) const {
  if (outlook.at_once < 2 || extra_rounds_left(outlook) <= 0) return std::nullopt;
  const ProbeStep step = next_probe(sweep, outlook.progress, verdict, plan_.tolerance);
  if (step.meetings.empty()) return std::nullopt;
  PlannedRound round;
  round.number = outlook.progress.last + 1;
  round.meetings = step.meetings;
  if (step.among_others) {
    fill_up(sweep, outlook, outlook.at_once, round);
    round.why = fmt::format("{} slow pairs again, among all others, to see whether pairs share links", step.pairs);
  } else {
    round.why = fmt::format("alone, one of {} slow pairs that no host explains: do pairs share links?", step.pairs);
  }
  return round;
}

/// Where links are shared, hosts are judged by readings near each other, and alone where these are missing.
PlannedRound Planner::next_with_shared_links(const Sweep& sweep, const Verdict& verdict, const Outlook& outlook) const {
  constexpr std::int64_t kHostsOfLightLoad = 32;  // one pair of so many hosts hardly meets another one
  const std::int64_t extra_left = extra_rounds_left(outlook);
  if (extra_left > 0) {
    if (auto between = round_between_groups(sweep, outlook.progress, verdict, outlook.at_once, extra_left)) {
      return among_others(sweep, outlook, std::move(*between), outlook.at_once);
    }
    if (auto near = round_within_groups(sweep, outlook.progress, verdict, outlook.at_once, kNearPartners, kAnyRatio)) {
      near->number = outlook.progress.last + 1;
      return *near;
    }
  }
  const bool groups_are_known = !sweep.leaf_of.empty() || (!verdict.groupings.empty() && verdict.not_judged.empty());
  if (!groups_are_known && !outlook.next.meetings.empty() && outlook.whole_round() < most_rounds()) {
    return of_schedule(sweep, outlook, most_rounds(), ", to find hosts near each other, since links are shared");
  }
  const std::int64_t at_once = std::max<std::int64_t>(plan_.schedule.endpoints / kHostsOfLightLoad, 1);
  PlannedRound round;
  if (extra_left > 0) {
    round.meetings = pairs_to_judge(sweep, outlook.progress, verdict, static_cast<std::size_t>(at_once));
    round.why = fmt::format("{} hosts near each other or alone, because links are shared", verdict.not_judged.size());
  }
  if (round.meetings.empty()) {
    Verdict open = verdict;  // each question in turn
    if (!open.follow_ups.empty()) {
      const auto turn = outlook.progress.last % static_cast<std::int64_t>(open.follow_ups.size());
      std::rotate(open.follow_ups.begin(), open.follow_ups.begin() + turn, open.follow_ups.end());
    }
    round = round_of_follow_ups(sweep, outlook.progress, open, at_once, extra_left, false);
  }
  if (round.meetings.empty()) return over(outlook, why_over(sweep, outlook, verdict));
  round.number = outlook.progress.last + 1;
  return round;
}

/// Hosts of one group with each other; then hosts that may be in another leaf than the locality says, with hosts of
/// that leaf.
std::optional<PlannedRound> Planner::round_for_near_pairs(const Sweep& sweep, const Verdict& verdict,
                                                          const Outlook& outlook) const {
  // A round of near pairs only would look like a time at which everything was faster.
  const std::int64_t at_once = outlook.at_once;
  const std::int64_t most = std::max<std::int64_t>(at_once / 4, 1);
  const std::int64_t partners = partners_wanted(verdict);
  if (auto within = round_within_groups(sweep, outlook.progress, verdict, most, partners, 1 - plan_.tolerance)) {
    return among_others(sweep, outlook, std::move(*within), at_once);
  }
  if (auto between = round_between_groups(sweep, outlook.progress, verdict, at_once, extra_rounds_left(outlook))) {
    return among_ordinary_pairs(sweep, outlook, std::move(*between));
  }
  return std::nullopt;
}

/// The next round of the schedule, out of `most`. `why`: what made it necessary, with a comma before it.
PlannedRound Planner::of_schedule(const Sweep& sweep, const Outlook& outlook, std::int64_t most,
                                  const std::string& why) const {
  PlannedRound round;
  round.number = outlook.progress.last + (outlook.next.is_completed ? 0 : 1);
  round.meetings = outlook.next.meetings;
  if (plan_.find) alternate_order(round);
  const std::int64_t whole = outlook.whole_round();
  const int parts = outlook.parts;
  const std::string part = parts > 1 ? fmt::format(", part {} of {}", outlook.next.place % parts + 1, parts) : "";
  const std::string of = fmt::format("{} of {}", whole + 1, std::max(most, whole + 1));
  const int hosts = plan_.schedule.endpoints;
  const bool all_pairs = rounds_before_judging() == hosts - (hosts % 2 == 0 ? 1 : 0);
  round.why = fmt::format("{}{} for {}{}{}{}", outlook.next.is_completed ? "the rest of round " : "round ", of,
                          all_pairs ? "all pairs" : "all hosts", part, why, left_out_text(sweep, outlook.progress));
  return round;
}

/// Whether all pairs of a round may be measured again at the same time, without slowing each other.
bool Planner::may_repeat(const Outlook& outlook) const {
  return plan_.find && outlook.progress.taking_part() >= kHostsToRepeat && outlook.parts == 1;
}

/// Fills a round up to `pairs` meetings, with meetings of the schedule between idle hosts. Each pass over all pairs has
/// another order, since a fault in step with the passes would look like a fault of some partners.
void Planner::fill_up(const Sweep& sweep, const Outlook& outlook, std::int64_t pairs, PlannedRound& round) const {
  const auto at_once = static_cast<std::size_t>(std::min(pairs, outlook.at_once));
  std::vector<std::uint8_t> is_free(sweep.hosts.size(), 0);
  for (const std::int32_t host : idle_hosts(outlook.progress, false, round.meetings)) {
    is_free[static_cast<std::size_t>(host)] = 1;
  }
  const std::int64_t pass = round.number / schedule_.rounds();
  SchedulePlan plan = schedule_of(plan_);
  plan.seed += static_cast<std::uint64_t>(pass);
  const Schedule schedule(plan);
  // If hosts are left out, pairs of their partners are in other rounds of the schedule.
  const bool any_left_out = outlook.progress.taking_part() < static_cast<std::int64_t>(sweep.hosts.size());
  const std::int64_t looked_at = any_left_out ? schedule_.rounds() : 1;
  for (std::int64_t i = 0; i < looked_at && round.meetings.size() < at_once; ++i) {
    for (const Meeting& meeting : schedule.round((round.number + i) % schedule_.rounds())) {
      std::uint8_t& first = is_free[static_cast<std::size_t>(meeting.first)];
      std::uint8_t& second = is_free[static_cast<std::size_t>(meeting.second)];
      if (first == 0 || second == 0 || round.meetings.size() >= at_once) continue;
      round.meetings.push_back(meeting);
      first = second = 0;
    }
  }
  pair_idle_hosts(sweep, idle_hosts(outlook.progress, false, round.meetings), at_once, round.meetings);
  alternate_order(round);
}

/// Gives a round its number, and fills it up to `pairs` meetings.
PlannedRound Planner::among_others(const Sweep& sweep, const Outlook& outlook, PlannedRound round,
                                   std::int64_t pairs) const {
  round.number = outlook.progress.last + 1;
  fill_up(sweep, outlook, pairs, round);
  return round;
}

/// Makes pairs a quarter of a round. They may share a property, such as being near, or crossing one uplink, and a round
/// of such pairs only would look like a time at which everything was faster or slower.
PlannedRound Planner::among_ordinary_pairs(const Sweep& sweep, const Outlook& outlook, PlannedRound round) const {
  const std::int64_t wanted = std::max(kPairsOfFullLoad, 4 * static_cast<std::int64_t>(round.meetings.size()));
  return among_others(sweep, outlook, std::move(round), std::min(wanted, outlook.at_once));
}

/// Repeats a round for all hosts, out of `most` meetings of each host.
PlannedRound Planner::again(const Sweep& sweep, const Outlook& outlook, std::int64_t most,
                            const std::string& why) const {
  const SweepProgress& progress = outlook.progress;
  PlannedRound round;
  round.number = progress.last + 1;
  fill_up(sweep, outlook, outlook.at_once, round);
  round.why = fmt::format("all pairs again, meeting {} of {} of each host{}{}", progress.met + 1,
                          std::max(most, progress.met + 1), why, left_out_text(sweep, progress));
  round.rounds_left = std::max<std::int64_t>(plan_.least_meetings - progress.met, 1);
  return round;
}

/// A round for all hosts, if a host may be slow now and then: it serves for all such hosts, and shows the usual rate
/// too.
std::optional<PlannedRound> Planner::round_for_everybody(const Sweep& sweep, const Verdict& verdict,
                                                         const Outlook& outlook) const {
  std::vector<const FollowUp*> for_everybody;
  for (const FollowUp& follow_up : verdict.follow_ups) {
    if (follow_up.by_everybody) for_everybody.push_back(&follow_up);
  }
  if (for_everybody.empty() || outlook.progress.met >= plan_.most_meetings || !may_repeat(outlook)) return std::nullopt;
  const std::string why = ": " + text_of_follow_ups(sweep, for_everybody);
  if (outlook.next.meetings.empty()) return again(sweep, outlook, plan_.most_meetings, why);
  return of_schedule(sweep, outlook, plan_.most_meetings, why);
}

PlannedRound Planner::over(const Outlook& outlook, std::string why) {
  PlannedRound round;
  round.number = outlook.progress.last + 1;
  round.why = std::move(why);
  return round;
}

/// Why nothing more is measured.
std::string Planner::why_over(const Sweep& sweep, const Outlook& outlook, const Verdict& verdict) const {
  std::vector<const FollowUp*> open;
  for (const FollowUp& follow_up : verdict.follow_ups) open.push_back(&follow_up);
  std::string so_far = fmt::format("{} rounds for all hosts", outlook.everybody());
  if (outlook.progress.extra > 0) so_far += fmt::format(" and {} more", outlook.progress.extra);
  const std::string rest = left_out_text(sweep, outlook.progress);
  if (!open.empty()) {
    const bool spent = extra_rounds_left(outlook) <= 0;
    return fmt::format(
        "after {}, {}: {}{}", so_far,
        spent ? "the maximum, these questions are open" : "no further reading would settle these questions",
        text_of_follow_ups(sweep, open), rest);
  }
  switch (verdict.judged) {
    case Judged::kClean: return fmt::format("after {}, nothing is slow and no question is open{}", so_far, rest);
    case Judged::kSlow:
      return fmt::format("after {}, everything slow has been found and no question is open{}", so_far, rest);
    case Judged::kUnknown: break;
  }
  return fmt::format("after {}, no further measurement would decide anything{}", so_far, rest);
}

std::int64_t Planner::left_before_judging(const Outlook& outlook) const {
  const std::int64_t left = rounds_before_judging() * outlook.parts - outlook.next.place;
  return std::max<std::int64_t>(left, 1);
}

std::int64_t Planner::left_after_judging(const Outlook& outlook, const Verdict& verdict) const {
  const std::int64_t wanted = rounds_wanted(verdict) * outlook.parts;
  const std::int64_t left = outlook.next.meetings.empty() ? 0 : std::max<std::int64_t>(wanted - outlook.next.place, 0);
  const std::int64_t extra_left = extra_rounds_left(outlook);
  return std::max<std::int64_t>(left + rounds_of_follow_ups(verdict, extra_left), 1);
}

}  // namespace fabricbench::cluster
