// The next round of the schedule, and hosts that a round leaves without a partner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cluster/planning/sweep_progress.h"
#include "cluster/readings.h"
#include "cluster/schedule.h"

namespace fabricbench::cluster {

/// Hosts that take part and have no meeting. `is_completed`: the meetings complete the last round, so hosts that were
/// measured in it are not idle either.
[[nodiscard]] std::vector<std::int32_t> idle_hosts(const SweepProgress& progress, bool is_completed,
                                                   const std::vector<Meeting>& meetings);

/// Adds pairs of idle hosts, each with the first one that it has not met, up to `at_once` meetings in total.
void pair_idle_hosts(const Sweep& sweep, std::vector<std::int32_t> idle, std::size_t at_once,
                     std::vector<Meeting>& meetings);

/// The next round of the schedule, or the rest of it.
struct OfSchedule {
  std::vector<Meeting> meetings;  // empty: nothing of the schedule is left
  std::int64_t place = 0;         // in the schedule
  bool is_completed = false;      // the rest of a round that was broken off
};

/// Takes the next round of the schedule that is not done, and pairs hosts that it leaves idle, up to `at_once` pairs.
[[nodiscard]] OfSchedule next_of_schedule(const Sweep& sweep, const SweepProgress& progress, const Schedule& schedule,
                                          std::size_t at_once);

}  // namespace fabricbench::cluster
