// How far a sweep has come: what the planner reads from the readings alone.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/planning/planner.h"
#include "cluster/readings.h"
#include "cluster/schedule.h"

namespace fabricbench::cluster {

struct Survey {
  std::int64_t last = -1;          ///< the highest round that has readings; -1: there are none
  std::int64_t at_once = 0;        ///< pairs that the last round was to have
  std::int64_t finished = 0;       ///< pairs that it has
  std::vector<std::uint8_t> busy;  ///< by host: whether it is of a pair that the last round has finished
  /// By host: whether nobody can measure it any more.
  std::vector<std::uint8_t> absent;
  /// By host: whether it takes no part any more, because it is absent, or dead: since anything of it was measured, if
  /// anything ever was, it has failed with SweepPlan::failures different partners that work: that have worked at some
  /// time, or after the failure where the host itself has worked before it. Twice as many partners suffice where none
  /// of them has ever worked. A partner that works shows that it is not to blame for the failure. One that has worked
  /// is tried again after some rounds, ever more seldom: it may fail now and then.
  std::vector<std::uint8_t> left_out;
  std::int64_t whole_done = 0;  ///< whole rounds of the schedule, from the first on, with nothing left to measure
  /// Of `find`: rounds so far of which less than half was of those for the first time, but for those that measured most
  /// hosts again, as far as SweepPlan::most_meetings allows them.
  std::int64_t extra = 0;
  std::int64_t met = 0;  ///< in how many rounds the hosts that take part were measured, the median

  /// Whether something came between the beginning of the last round and its end.
  [[nodiscard]] bool is_broken_off() const { return finished < at_once; }
  /// Whether a meeting of the schedule is still to be measured.
  [[nodiscard]] bool needs(const Schedule& schedule, const Meeting& meeting) const;
  /// Hosts that take part.
  [[nodiscard]] std::int64_t taking_part() const;

  bool both_directions = false;
  std::vector<std::uint8_t> measured;  ///< by slot of the schedule: bit 1 from first to second endpoint, bit 2 back
};

/// Looks at as many whole rounds of the schedule as `whole_rounds` says. Takes time in proportion to the readings.
[[nodiscard]] Survey survey_of(const Sweep& sweep, const SweepPlan& plan, const Schedule& schedule,
                               std::int64_t whole_rounds);

}  // namespace fabricbench::cluster
