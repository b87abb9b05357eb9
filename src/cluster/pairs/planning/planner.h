// What to measure next: pure functions of what has been measured.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cluster/pairs/readings.h"
#include "cluster/pairs/verdict.h"
#include "common/core/schedule.h"

namespace fabricbench::cluster {

/// The plan of a sweep.
struct SweepPlan {
  SchedulePlan schedule;  ///< kCircle; its `rounds` are rounds for all hosts, 0: all pairs; ignored if `find`
  bool find = false;      ///< go on until everything is decided
  int first_rounds = 8;   ///< of --find: rounds for all hosts before the first verdict: steady faults show in them
  int least_rounds = 28;  ///< of --find: minimum number of rounds for all hosts, where nothing is slow
  int most_rounds = 28;   ///< of --find: maximum number of rounds for all hosts
  /// Of --find: minimum number of meetings of each host; with fewer pairs, all pairs are measured again. With 28
  /// meetings, 1 of 500 hosts that are slow in a fifth of their meetings is never slow.
  int least_meetings = 28;
  int most_meetings = 72;  ///< maximum number of meetings of each host, while a host may be slow now and then
  /// Of --find: maximum number of rounds for all hosts, if some pairs are much faster than others.
  int most_rounds_for_groups = 128;
  /// Of --find: maximum number of rounds for suspects, or as many as for all hosts if these are more.
  int most_extra_rounds = 40;
  /// Whether a meeting gives a reading in each direction, as with pairwise_bw. A pair with only one of them was broken
  /// off, and is measured again.
  bool both_directions = false;
  std::vector<std::int32_t> absent;  ///< places in Sweep::hosts: hosts that cannot be measured any more
  double tolerance = 0.05;           ///< see VerdictSettings; medians have to be precise enough for it

  static constexpr int kAllPairs = 1 << 30;
};

/// Limits the rounds for all hosts; 0: no change, SweepPlan::kAllPairs: all pairs. With `find`, the minimum number of
/// rounds is limited too, and is all pairs if these are demanded.
void limit_rounds(SweepPlan& plan, int rounds);

/// Pairs to be measured at the same time. No host is in two of them.
struct PlannedRound {
  std::int64_t number = 0;       ///< from 0: Reading::round of its readings
  std::vector<Pair> meetings{};  ///< empty: the sweep is over
  std::string why{};             ///< for people: the purpose of this round, or why the sweep is over
  /// Approximate number of rounds left, including this one; 0: the sweep is over. With `find` it is a lower bound:
  /// future readings may need further rounds.
  std::int64_t rounds_left = 0;
  bool keeps_order = false;  ///< which host of a pair is first matters: the round is an earlier one again
};

/// Returns judge(sweep). Called only if the next round depends on it, since judging costs far more than planning.
using Judge = std::function<Verdict()>;

/// Plans round after round. The next round is a function of the plan and the readings, so a sweep that was broken off
/// can be continued, and measures nothing twice.
///
/// Rounds for all hosts follow the circle schedule. Hosts that are idle in such a round, because their partner is left
/// out or the number of hosts is odd, are paired with each other if they have not met. A round that was broken off has
/// fewer pairs than Reading::concurrent says; it is completed under its own number.
class Planner {
 public:
  /// Throws std::invalid_argument if the schedule is not the circle schedule.
  explicit Planner(SweepPlan plan);

  /// The next round. `sweep` holds all readings of earlier rounds, in the order of PlannedRound::number. Hosts are
  /// places in Sweep::hosts, which has as many hosts as the schedule has endpoints.
  [[nodiscard]] PlannedRound next(const Sweep& sweep, const Judge& judge) const;

 private:
  SweepPlan plan_;
  Schedule schedule_;
};

}  // namespace fabricbench::cluster
