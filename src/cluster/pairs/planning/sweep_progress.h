// The progress of a sweep: what the planner knows from the readings without a verdict.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "cluster/pairs/planning/planner.h"
#include "cluster/pairs/readings.h"
#include "cluster/pairs/sets.h"
#include "common/core/schedule.h"

namespace fabricbench::cluster {

/// Which hosts have met, and how often.
class PairsMet {
 public:
  explicit PairsMet(
      const Sweep& sweep, const std::function<bool(const Reading&)>& counts = [](const Reading&) { return true; });

  /// The number of readings from one host to another.
  [[nodiscard]] std::int64_t readings(std::int32_t from, std::int32_t to) const;
  [[nodiscard]] std::int64_t between(std::int32_t a, std::int32_t b) const { return readings(a, b) + readings(b, a); }

 private:
  std::vector<std::vector<std::int32_t>> receivers_;  // by sender, ascending: one for each reading
};

struct SweepProgress {
  PairsMet met;
  std::int64_t last = -1;              ///< the last round with readings; -1: there is none
  std::vector<std::uint8_t> absent{};  ///< by host: it cannot be measured any more
  /// By host: it takes no part any more, because it is absent or dead. A host is dead if, since its last success, it
  /// has failed with two different partners that work, which shows that the partners are not to blame. A partner works
  /// if it has any success; if the host itself has worked before, the partner needs one after the failure. Four
  /// partners that never worked suffice as well. A host that has worked before is tried again after some rounds, less
  /// and less often, since it may fail now and then.
  std::vector<std::uint8_t> left_out{};
  std::int64_t at_once = 1;  ///< the most pairs of a round

  std::vector<Pair> next{};  ///< of the next round of the schedule, those that are missing; empty: nothing is left
  std::int64_t place = 0;    ///< of that round in the schedule: the number of rounds that are done
  bool is_rest = false;      ///< the last round was that round, and was broken off
  std::vector<std::uint8_t> engaged{};  ///< by host: it is left out, or was measured in the part before that rest

  /// Rounds for all hosts: those of the schedule, and others of half as many pairs as possible or more, up to
  /// SweepPlan::most_meetings.
  std::int64_t for_all = 0;
  std::int64_t meetings = 0;  ///< of each host, on average, rounded up

  [[nodiscard]] std::int64_t extra() const { return last + 1 - for_all; }
  [[nodiscard]] std::int64_t taking_part() const;
};

/// Computes the progress, in time proportional to the number of readings. The sweep has as many hosts as the schedule.
[[nodiscard]] SweepProgress progress_of(const Sweep& sweep, const SweepPlan& plan, const Schedule& schedule);

}  // namespace fabricbench::cluster
