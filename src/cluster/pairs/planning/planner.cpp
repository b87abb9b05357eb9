#include "cluster/pairs/planning/planner.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/pairs/planning/open_questions.h"
#include "cluster/pairs/planning/sweep_progress.h"
#include "cluster/pairs/robust.h"
#include "cluster/pairs/sets.h"
#include "cluster/pairs/thresholds.h"
#include "common/core/statistics.h"
#include "common/core/wording.h"

namespace fabricbench::cluster {
namespace {

/// The number of readings of a host that its median needs: no healthy host is blamed by chance, and no slow one missed.
/// Bonferroni's correction covers all directions of all hosts.
std::int64_t readings_for_medians(double scale, const SweepPlan& plan) {
  constexpr double kMissed = 1e-3;  // the share of slow hosts that may go unnoticed
  const double directions = 2 * std::max(1.0, static_cast<double>(plan.schedule.endpoints));
  const double distance = normal_quantile(VerdictSettings().false_alarm / directions) + normal_quantile(kMissed);
  const double wanted = std::pow(kMedianOverMeanError * distance * scale / plan.tolerance, 2);
  return static_cast<std::int64_t>(std::ceil(std::min(wanted, 1e6)));
}

/// The scale of the stratum with most readings; 0: there is none.
double main_scale(const Verdict& verdict) {
  const auto most = std::ranges::max_element(verdict.strata, {}, &Stratum::readings);
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

/// Such as `node03, node07, and 2 more`.
std::string text_of(std::vector<std::string> hosts) {
  constexpr std::size_t kMostNamed = 4;
  return fmt::format("{}", fmt::join(shortened(std::move(hosts), kMostNamed, "more"), ", "));
}

/// Plans one round.
class NextRound {
 public:
  NextRound(const SweepPlan& plan, const Schedule& schedule, const Sweep& sweep)
      : plan_(plan), schedule_(schedule), sweep_(sweep), progress_(progress_of(sweep, plan, schedule)) {}

  [[nodiscard]] PlannedRound plan(const Judge& judge) {
    PlannedRound round;
    const bool any_left = progress_.taking_part() > 1;
    const std::int64_t due = progress_.is_rest ? plan_.most_rounds_for_groups : plan_.first_rounds;
    if (any_left && has_next(due)) {
      round = for_all_hosts(std::max<std::int64_t>(plan_.first_rounds, whole_round() + 1), 0, "");
    } else if (plan_.find) {
      verdict_ = judge();
      questions_.emplace(sweep_, progress_, verdict_);
      round = any_left ? for_questions() : for_dead_hosts();
    }
    if (!round.meetings.empty()) round.rounds_left = rounds_left();
    round.number = progress_.last + (any_left && progress_.is_rest ? 0 : 1);
    if (plan_.find && !round.keeps_order) order_hosts(round);
    if (round.meetings.empty()) round.why = why_over();
    return round;
  }

 private:
  /// The first of these that there is, the most urgent first. Dead hosts: a leaf that is cut off looks like many.
  [[nodiscard]] PlannedRound for_questions() const {
    using Step = PlannedRound (NextRound::*)() const;
    const std::vector<Step> steps =
        verdict_.links.are_shared
            ? std::vector<Step>{&NextRound::for_dead_hosts, &NextRound::for_leaves, &NextRound::for_near_hosts,
                                &NextRound::for_hosts_alone}
            : std::vector<Step>{&NextRound::for_dead_hosts, &NextRound::for_slow_pairs, &NextRound::for_healthy_hosts,
                                &NextRound::for_medians,    &NextRound::for_groups,     &NextRound::for_unsteady_hosts,
                                &NextRound::for_follow_ups};
    for (const Step step : steps) {
      PlannedRound round = (this->*step)();
      if (!round.meetings.empty()) return round;
    }
    return {};
  }

  [[nodiscard]] PlannedRound for_dead_hosts() const {
    return extra_left() > 0 ? questions_->dead_hosts() : PlannedRound();
  }

  [[nodiscard]] PlannedRound for_slow_pairs() const {
    if (progress_.at_once < 2 || extra_left() <= 0) return {};
    PlannedRound round = questions_->shared_links(plan_.tolerance);
    return round.meetings.size() > 1 ? beside_others(std::move(round), progress_.at_once) : round;
  }

  /// A host may be slow now and then. Many slow hosts may be another kind of hosts, which few rounds do not show.
  [[nodiscard]] PlannedRound for_healthy_hosts() const {
    if (verdict_.judged == Judged::kSlow && 4 * questions_->suspects() < std::ssize(sweep_.hosts)) return {};
    return for_all_hosts(plan_.least_rounds, plan_.least_meetings, "");
  }

  [[nodiscard]] PlannedRound for_medians() const {
    if (verdict_.groups_are_open) return {};
    if (has_next(rounds_wanted())) {
      const double percent = 100 * main_scale(verdict_);
      return for_all_hosts(plan_.most_rounds, 0, fmt::format(", because readings scatter by {:.1f} %", percent));
    }
    std::vector<std::string> hosts;
    for (const std::int32_t host : verdict_.not_judged) {
      if (progress_.left_out[at(host)] == 0) hosts.push_back(sweep_.hosts[at(host)]);
    }
    if (hosts.empty()) return {};
    return for_all_hosts(plan_.most_rounds, 0, ", because too little is known of " + text_of(std::move(hosts)));
  }

  /// Hosts of their groups, and of groups that may be one. A round of near pairs only would look like a time at which
  /// everything was faster, so other pairs are in it.
  [[nodiscard]] PlannedRound for_groups() const {
    const bool all_hosts_tell = verdict_.groups_are_open && has_next(plan_.most_rounds_for_groups);
    if (extra_left() > 0 && may_repeat()) {
      const std::int64_t partners =
          std::clamp(readings_for_medians(main_scale(verdict_), plan_) / 2, kPartners, 2 * kPartners);
      const std::int64_t most_near = std::max<std::int64_t>(progress_.at_once / 4, 1);
      PlannedRound within = questions_->within_groups(partners, 1 - plan_.tolerance, most_near);
      if (!within.meetings.empty()) return beside_others(std::move(within), progress_.at_once);
      constexpr std::int64_t kMostRounds = 8;  // for very many groups, rounds for all hosts tell more
      PlannedRound between =
          questions_->between_groups(all_hosts_tell ? std::min(kMostRounds, extra_left()) : extra_left());
      if (!between.meetings.empty()) return beside_ordinary_pairs(std::move(between));
    }
    if (!all_hosts_tell) return {};
    return for_all_hosts(plan_.most_rounds_for_groups, 0,
                         ", because some pairs are much faster than others, and more pairs may show why");
  }

  /// A round for all hosts serves for all hosts that may be slow now and then, and shows the usual rate too.
  [[nodiscard]] PlannedRound for_unsteady_hosts() const {
    const std::string hosts = questions_->text([](const FollowUp& each) { return each.by_everybody; });
    if (hosts.empty() || !may_repeat()) return {};
    return for_all_hosts(plan_.most_meetings, plan_.most_meetings, ": " + hosts);
  }

  [[nodiscard]] PlannedRound for_follow_ups() const {
    // A few pairs do not show the usual rate at their time.
    const bool among_many = verdict_.changes_with_time > 0 && may_repeat();
    PlannedRound round = questions_->follow_ups(progress_.at_once, extra_left(), among_many);
    if (round.meetings.empty()) return round;
    const bool tells_of_its_time = std::cmp_greater_equal(round.meetings.size(), kPairsOfFullLoad) && may_repeat();
    if (among_many || tells_of_its_time) round = beside_ordinary_pairs(std::move(round));
    if (among_many) round.why += "; among other pairs, because the usual bandwidth changes with time";
    return round;
  }

  /// Where links are shared, leaves are compared within rounds, and load hides a slow one, or one of its uplinks, in
  /// few. One that may be slow is worth as many again.
  [[nodiscard]] PlannedRound for_leaves() const {
    const bool are_open = !verdict_.open_leaves.empty() || !verdict_.may_stand_apart.empty();
    const bool may_be_hidden = !sweep_.leaf_of.empty() && verdict_.judged != Judged::kSlow;
    if (!are_open && !may_be_hidden) return {};
    const int times = are_open ? 2 : 1;
    return for_all_hosts(std::int64_t{times} * plan_.most_rounds, std::int64_t{times} * plan_.least_meetings,
                         ", because the uplinks of a leaf may be slow");
  }

  /// Where links are shared, readings of hosts near each other count, which hardly share any.
  [[nodiscard]] PlannedRound for_near_hosts() const {
    PlannedRound within;
    if (extra_left() > 0) {
      PlannedRound between = questions_->between_groups(extra_left());
      if (!between.meetings.empty()) return beside_others(std::move(between), progress_.at_once);
      within = questions_->within_groups(kPartners, std::numeric_limits<double>::max(), progress_.at_once);
    }
    const bool are_known = !sweep_.leaf_of.empty() || (!verdict_.groupings.empty() && verdict_.not_judged.empty());
    const bool are_few = 4 * std::ssize(within.meetings) < progress_.at_once;
    if (are_known || !are_few) return within;
    // A round for all hosts has as many near pairs, and shows more groups.
    PlannedRound all = for_all_hosts(plan_.most_rounds, 0, ", to find hosts near each other, since links are shared");
    return all.meetings.empty() ? within : all;
  }

  /// Likewise readings alone, or beside so few that they hardly meet. The more hosts are open, the more pairs at once:
  /// those that meet no other are fast, and no question any more.
  [[nodiscard]] PlannedRound for_hosts_alone() const {
    const std::int64_t most_pairs = std::max(plan_.schedule.endpoints / 32, 1);
    if (extra_left() <= 0) return {};
    constexpr std::int64_t kOpenHosts = 8;  // to a pair
    PlannedRound round = questions_->near_again();
    if (round.meetings.empty())
      round = questions_->not_judged(std::max<std::int64_t>(most_pairs, std::ssize(verdict_.not_judged) / kOpenHosts));
    return round.meetings.empty() ? questions_->follow_ups(most_pairs, extra_left(), false) : round;
  }

  /// The next one of `rounds` rounds of the schedule; after all pairs a repetition, until each host has so many
  /// `meetings`; nothing if these are over. `why`: what made it necessary, with a comma before it.
  [[nodiscard]] PlannedRound for_all_hosts(std::int64_t rounds, std::int64_t meetings, const std::string& why) const {
    PlannedRound round;
    if (progress_.next.empty() && may_repeat() && progress_.meetings < meetings) {
      round.why = fmt::format("all pairs again, meeting {} of {} of each host{}{}", progress_.meetings + 1, meetings,
                              why, left_out_text());
      return beside_others(std::move(round), progress_.at_once);
    }
    if (!has_next(rounds)) return {};
    RoundBuilder builder(progress_.met, progress_.engaged, progress_.at_once, progress_.last);
    for (const Pair& meeting : progress_.next) builder.add(meeting);
    const int parts = schedule_.parts();
    if (parts == 1) builder.add_idle_hosts(1);  // if rounds are split, some hosts always wait
    round.meetings = builder.meetings();
    const std::string part = parts > 1 ? fmt::format(", part {} of {}", progress_.place % parts + 1, parts) : "";
    const int hosts = plan_.schedule.endpoints;
    const char* all = plan_.first_rounds == hosts - 1 + hosts % 2 ? "all pairs" : "all hosts";
    round.why = fmt::format("{}round {} of {} for {}{}{}{}", progress_.is_rest ? "the rest of " : "", whole_round() + 1,
                            rounds, all, part, why, left_out_text());
    return round;
  }

  /// Fills a round up to `pairs` pairs, with those of the schedule first. Each pass over all pairs has another order,
  /// since a fault in step with the passes would look like a fault of some partners.
  [[nodiscard]] PlannedRound beside_others(PlannedRound round, std::int64_t pairs) const {
    RoundBuilder builder(progress_.met, progress_.left_out, std::min(pairs, progress_.at_once), progress_.last);
    for (const Pair& meeting : round.meetings) builder.add(meeting);
    SchedulePlan plan = schedule_of(plan_);
    const std::int64_t turn = progress_.last + 1;
    plan.seed += static_cast<std::uint64_t>(turn / schedule_.rounds());
    for (const Pair& each : Schedule(plan).round(turn % schedule_.rounds())) builder.add(each);
    builder.add_idle_hosts(std::numeric_limits<std::int64_t>::max());
    round.meetings = builder.meetings();
    return round;
  }

  /// Makes pairs a quarter of a round. They may share a property, such as being near, or crossing one uplink, and a
  /// round of such pairs only would look like a time at which everything was faster or slower.
  [[nodiscard]] PlannedRound beside_ordinary_pairs(PlannedRound round) const {
    const std::int64_t pairs = std::max(kPairsOfFullLoad, 4 * std::ssize(round.meetings));
    return beside_others(std::move(round), pairs);
  }

  /// The direction with fewer readings first, since some tests measure only from the first host to the second. Else
  /// hosts are first in turns. The schedule has the same hosts first in many rounds: where pairs are measured forth and
  /// then back, a leaf of such hosts would have a fuller uplink than others, and look slow.
  void order_hosts(PlannedRound& round) const {
    for (Pair& meeting : round.meetings) {
      const std::int64_t forth = progress_.met.readings(meeting.first, meeting.second);
      const std::int64_t back = progress_.met.readings(meeting.second, meeting.first);
      const bool is_second = forth == back ? (round.number + meeting.first) % 2 == 1 : forth > back;
      if (is_second) std::swap(meeting.first, meeting.second);
    }
  }

  /// Why nothing more is measured.
  [[nodiscard]] std::string why_over() const {
    const std::string rest = left_out_text();
    if (progress_.taking_part() < 2) return "fewer than two hosts are left to measure" + rest;
    if (!plan_.find) return "everything planned has been measured" + rest;
    std::string so_far = fmt::format("after {} rounds for all hosts", rounds_for_all());
    if (progress_.extra() > 0) so_far += fmt::format(" and {} more", progress_.extra());
    if (!verdict_.follow_ups.empty()) {
      const char* why = extra_left() > 0 ? "no further reading would settle these questions"
                                         : "the maximum, these questions are open";
      return fmt::format("{}, {}: {}{}", so_far, why, questions_->text([](const FollowUp&) { return true; }), rest);
    }
    switch (verdict_.judged) {
      case Judged::kClean: return so_far + ", nothing is slow and no question is open" + rest;
      case Judged::kSlow: return so_far + ", everything slow has been found and no question is open" + rest;
      case Judged::kUnknown: break;
    }
    return so_far + ", no further measurement would decide anything" + rest;
  }

  [[nodiscard]] std::string left_out_text() const {
    std::vector<std::string> hosts;
    for (std::size_t host = 0; host < sweep_.hosts.size(); ++host) {
      if (progress_.left_out[host] != 0) hosts.push_back(sweep_.hosts[host]);
    }
    return hosts.empty() ? "" : "; left out: " + text_of(std::move(hosts));
  }

  // What has been measured and what may be, in rounds for all hosts.
  [[nodiscard]] std::int64_t rounds_wanted() const {
    return std::clamp<std::int64_t>(readings_for_medians(main_scale(verdict_), plan_), plan_.first_rounds,
                                    plan_.most_rounds);
  }
  [[nodiscard]] std::int64_t whole_round() const { return progress_.place / schedule_.parts(); }
  [[nodiscard]] bool has_next(std::int64_t rounds) const { return !progress_.next.empty() && whole_round() < rounds; }
  [[nodiscard]] std::int64_t rounds_for_all() const {
    return schedule_.parts() > 1 ? whole_round() : progress_.for_all;
  }
  /// With more rounds for all hosts, more pairs are slow once by chance: as many others are allowed.
  [[nodiscard]] std::int64_t extra_left() const {
    const std::int64_t for_all = progress_.next.empty() ? schedule_.whole_rounds() : rounds_for_all();
    return std::max<std::int64_t>(plan_.most_extra_rounds, for_all) - progress_.extra();
  }
  /// Those for all hosts that medians need, and one for each question; before the first verdict, those up to it.
  [[nodiscard]] std::int64_t rounds_left() const {
    const std::int64_t missing = progress_.next.empty() ? 0 : rounds_wanted() * schedule_.parts() - progress_.place;
    const std::int64_t questions = std::min<std::int64_t>(std::ssize(verdict_.follow_ups), extra_left());
    return std::max<std::int64_t>(std::max<std::int64_t>(missing, 0) + questions, 1);
  }
  /// Whether all pairs of a round may be measured again at the same time. Readings of fewer than four hosts cannot tell
  /// which one is slow now and then.
  [[nodiscard]] bool may_repeat() const { return progress_.taking_part() >= 4 && schedule_.parts() == 1; }

  static constexpr std::int64_t kPartners = kFew;  // of its group raise a suspicion against a host; follow-ups decide

  const SweepPlan& plan_;
  const Schedule& schedule_;
  const Sweep& sweep_;
  const SweepProgress progress_;
  Verdict verdict_;
  std::optional<OpenQuestions> questions_;
};

}  // namespace

void limit_rounds(SweepPlan& plan, int rounds) {
  if (rounds == 0) return;
  plan.schedule.rounds = rounds == SweepPlan::kAllPairs ? 0 : rounds;
  plan.most_rounds = plan.most_rounds_for_groups = rounds;
  plan.least_rounds = rounds == SweepPlan::kAllPairs ? rounds : std::min(plan.least_rounds, rounds);
  if (rounds == SweepPlan::kAllPairs) return;
  plan.least_meetings = std::min(plan.least_meetings, rounds);
  plan.most_meetings = rounds;
}

Planner::Planner(SweepPlan plan) : plan_(std::move(plan)), schedule_(schedule_of(plan_)) {
  const auto all = static_cast<int>(schedule_.whole_rounds());
  const bool takes_all = !plan_.find || plan_.least_rounds == SweepPlan::kAllPairs;
  plan_.most_rounds = plan_.find ? std::min(plan_.most_rounds, all) : all;
  plan_.most_rounds_for_groups = std::clamp(plan_.most_rounds_for_groups, plan_.most_rounds, all);
  plan_.least_rounds = takes_all ? plan_.most_rounds : std::min(plan_.least_rounds, plan_.most_rounds);
  plan_.first_rounds = takes_all ? plan_.most_rounds : std::min(plan_.first_rounds, plan_.least_rounds);
}

PlannedRound Planner::next(const Sweep& sweep, const Judge& judge) const {
  if (sweep.hosts.size() != at(plan_.schedule.endpoints)) {
    throw std::invalid_argument(
        fmt::format("a plan for {} hosts, and a sweep of {}", plan_.schedule.endpoints, sweep.hosts.size()));
  }
  return NextRound(plan_, schedule_, sweep).plan(judge);
}

}  // namespace fabricbench::cluster
