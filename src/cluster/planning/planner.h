// What to measure next: pure functions of what has been measured.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cluster/readings.h"
#include "cluster/schedule.h"
#include "cluster/verdict.h"

namespace fabricbench::cluster {

/// What a sweep is to be.
struct SweepPlan {
  SchedulePlan schedule;  ///< kCircle; its `rounds` are for everybody, 0: all pairs, and are not read of `find`
  bool find = false;      ///< go on until everything is decided, and not longer
  int least_rounds = 28;  ///< of --find, for everybody, before it may stop
  int most_rounds = 28;   ///< of --find, for everybody
  /// Of --find: how often each host is measured at least, all pairs again where they are fewer. A host that is slow in
  /// a fifth of its meetings is seen once or more in 28 of them, but for one in 500 such hosts.
  int least_meetings = 28;
  int most_meetings = 72;  ///< of each host, in rounds for everybody, while one of them may be slow now and then
  int most_rounds_for_groups = 128;  ///< of --find, for everybody, where some pairs are much faster than others
  int most_extra_rounds = 24;        ///< of --find, for suspects; where those for everybody are more, as many as these
  /// A host with which nothing works is left out after so many failures with different partners that do work; see
  /// Survey::left_out.
  int failures = 2;
  /// Whether a meeting gives a reading in either direction, as pairwise_bw's does: a pair with one of them has been
  /// broken off, and is measured again.
  bool both_directions = false;
  std::vector<std::int32_t> absent;  ///< hosts, by their place in Sweep::hosts, that nobody can measure any more
  double tolerance = 0.05;           ///< of what is judged, see VerdictSettings: how precise medians have to be
  double false_alarm = 0.01;

  static constexpr int kAllPairs = 1 << 30;
};

/// Sets how many rounds for everybody a plan may have: 0 leaves them as they are, SweepPlan::kAllPairs means all pairs.
/// A plan that finds takes no fewer than it has to before it may stop, and all where all pairs are asked for.
void limit_rounds(SweepPlan& plan, int rounds);

/// Pairs to be measured at the same time: no host is in two of them.
struct PlannedRound {
  std::int64_t number = 0;        ///< from 0: Reading::round of its readings
  std::vector<Meeting> meetings;  ///< empty: nothing is left to measure
  std::string why;                ///< for people: what this round is for, or why the sweep is over
  /// About how many rounds are left, this one too; 0 where nothing is. What readings still to come will ask for is not
  /// known, so of `find` it is a lower bound.
  std::int64_t rounds_left = 0;
};

/// What judge(sweep) says. Called only where the next round depends on it, since judging costs far more than planning.
using Judge = std::function<Verdict()>;

/// Plans round after round. Settled by the plan and what has been measured: the same readings give the same plan, so a
/// sweep that was broken off goes on where it was, and what has been measured is not measured again.
///
/// Rounds for everybody are the circle's. Hosts that are idle in one, because their partner is left out or because
/// their number is odd, are paired with each other as far as they have not met. A round that was broken off, so that it
/// has fewer pairs than Reading::concurrent says, is completed under its own number.
class Planner {
 public:
  /// Throws std::invalid_argument where the schedule is not the circle's.
  explicit Planner(SweepPlan plan);

  /// The next round, after what the sweep holds: everything of earlier rounds, in the order of PlannedRound::number.
  /// Host numbers are places in Sweep::hosts, of which there are as many as the schedule has endpoints.
  [[nodiscard]] PlannedRound next(const Sweep& sweep, const Judge& judge) const;

 private:
  struct Outlook;
  [[nodiscard]] Outlook look_at(const Sweep& sweep) const;
  [[nodiscard]] std::optional<PlannedRound> round_of_dead(const Sweep& sweep, const Verdict& verdict,
                                                          const Outlook& outlook) const;
  [[nodiscard]] PlannedRound next_to_find(const Sweep& sweep, const Verdict& verdict, const Outlook& outlook) const;
  [[nodiscard]] PlannedRound of_schedule(const Sweep& sweep, const Outlook& outlook, std::int64_t most,
                                         const std::string& why) const;
  [[nodiscard]] bool may_repeat(const Outlook& outlook) const;
  void fill_up(const Sweep& sweep, const Outlook& outlook, std::int64_t pairs, PlannedRound& round) const;
  [[nodiscard]] PlannedRound among_ordinary_pairs(const Sweep& sweep, const Outlook& outlook, PlannedRound round) const;
  [[nodiscard]] PlannedRound among_others(const Sweep& sweep, const Outlook& outlook, PlannedRound round,
                                          std::int64_t pairs) const;
  [[nodiscard]] PlannedRound again(const Sweep& sweep, const Outlook& outlook, std::int64_t most,
                                   const std::string& why) const;
  [[nodiscard]] std::optional<PlannedRound> round_for_everybody(const Sweep& sweep, const Verdict& verdict,
                                                                const Outlook& outlook) const;
  [[nodiscard]] std::optional<PlannedRound> round_to_compare(const Sweep& sweep, const Verdict& verdict,
                                                             const Outlook& outlook) const;
  [[nodiscard]] std::optional<PlannedRound> round_for_near_pairs(const Sweep& sweep, const Verdict& verdict,
                                                                 const Outlook& outlook) const;
  [[nodiscard]] static PlannedRound over(const Outlook& outlook, std::string why);
  [[nodiscard]] std::string why_over(const Sweep& sweep, const Outlook& outlook, const Verdict& verdict) const;
  [[nodiscard]] std::int64_t most_rounds() const;
  [[nodiscard]] std::int64_t most_rounds_for_groups() const;
  [[nodiscard]] std::int64_t extra_rounds_left(const Outlook& outlook) const;
  [[nodiscard]] std::int64_t rounds_before_judging() const;
  [[nodiscard]] std::int64_t rounds_wanted(const Verdict& verdict) const;
  [[nodiscard]] std::int64_t partners_wanted(const Verdict& verdict) const;
  [[nodiscard]] std::int64_t left_before_judging(const Outlook& outlook) const;
  [[nodiscard]] std::int64_t left_after_judging(const Outlook& outlook, const Verdict& verdict) const;

  SweepPlan plan_;
  Schedule schedule_;
};

}  // namespace fabricbench::cluster
