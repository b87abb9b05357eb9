#pragma once

#include <cstdint>
#include <vector>

#include "common/core/units.h"

namespace fabricbench {

/// When the thread that measures did not run.
struct IdleTime {
  Seconds elapsed = 0;  ///< 0: unknown
  Seconds stopped = 0;  ///< of this time: stopped or asleep
  Seconds waiting = 0;  ///< waiting for a processor
};

/// The measurements of one epoch of one case, reduced over the ranks of a group. Kept on the group's first process,
/// except for figures of each process's own ranks.
struct Epoch {
  std::vector<Seconds> samples;     ///< duration of one operation, the maximum over ranks unless -a says otherwise
  std::vector<int> slowest_ranks;   ///< for each sample, the rank that took longest
  std::vector<Seconds> cpu_times;   ///< pipelined: time until the operations were started, per operation, by visit
  std::vector<Seconds> host_times;  ///< the host's clock, where a device's clock counts, by visit
  std::vector<std::vector<Seconds>> own_times;  ///< medians of the times of each of this process's ranks, by visit
  std::vector<std::vector<Seconds>> own_means;  ///< the same of means
  IdleTime idle;                                ///< of this process, of one visit
  std::int64_t late = 0;                        ///< isolated: samples discarded because a rank started late
  std::int64_t preemptions = 0;                 ///< involuntary context switches, summed over all ranks
  std::int64_t most_preemptions = 0;            ///< the most of one rank in one visit
  int most_preempted_rank = 0;                  ///< that rank
  Seconds clock_error = 0;                      ///< isolated: error bound of the common clock
  bool has_directions = false;                  ///< both ways: whether each rank's times are those of one direction
  bool common_start = true;                     ///< isolated: false where the common clock could not be used
  Seconds resolution = 0;  ///< step of a device's clock, per operation; 0: of the host's clock, which is fine enough
  Seconds began = 0;       ///< rank 0's clock

  /// Adds the measurements of a later visit of the same epoch.
  void add(const Epoch& visit);
};

/// Appends each rank's values.
void append_by_rank(const std::vector<std::vector<Seconds>>& more, std::vector<std::vector<Seconds>>& by_rank);

}  // namespace fabricbench
