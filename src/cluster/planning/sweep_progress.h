// The progress of a sweep: what the planner knows from the readings without a verdict.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/planning/planner.h"
#include "cluster/readings.h"
#include "cluster/schedule.h"

namespace fabricbench::cluster {

struct SweepProgress {
  std::int64_t last = -1;          ///< the last round with readings; -1: there is none
  std::int64_t at_once = 0;        ///< planned number of pairs of the last round
  std::int64_t finished = 0;       ///< finished pairs of the last round
  std::vector<std::uint8_t> busy;  ///< by host: it is in a finished pair of the last round
  /// By host: it cannot be measured any more.
  std::vector<std::uint8_t> absent;
  /// By host: it takes no part any more, because it is absent or dead. A host is dead if, since its last success, it
  /// has failed with SweepPlan::failures different partners that work, which shows that the partners are not to blame.
  /// A partner works if it has any success; if the host itself has worked before, the partner needs one after the
  /// failure. Twice as many partners that never worked suffice as well. A host that has worked before is tried again
  /// after some rounds, less and less often, since it may fail now and then.
  std::vector<std::uint8_t> left_out;
  std::int64_t whole_done = 0;  ///< number of whole rounds of the schedule, from the first on, that are done
  /// Of `find`: the number of extra rounds, which are no rounds for all hosts. In a round for all hosts half of the
  /// pairs or more are new, or most hosts are measured again (up to SweepPlan::most_meetings).
  std::int64_t extra = 0;
  std::int64_t met = 0;  ///< median number of rounds in which a host that takes part was measured

  /// Whether the last round was broken off.
  [[nodiscard]] bool is_broken_off() const { return finished < at_once; }
  /// Whether a meeting of the schedule has still to be measured.
  [[nodiscard]] bool needs(const Schedule& schedule, const Meeting& meeting) const;
  /// The number of hosts that take part.
  [[nodiscard]] std::int64_t taking_part() const;

  bool both_directions = false;
  std::vector<std::uint8_t> measured;  ///< by slot of the schedule: bit 1 from first to second endpoint, bit 2 back
};

/// Computes the progress over `whole_rounds` whole rounds of the schedule. Takes time in proportion to the readings.
[[nodiscard]] SweepProgress progress_of(const Sweep& sweep, const SweepPlan& plan, const Schedule& schedule,
                                        std::int64_t whole_rounds);

}  // namespace fabricbench::cluster
