#pragma once

#include <cstdint>
#include <vector>

#include "common/core/units.h"

namespace fabricbench {

/// What one epoch of one case measured, reduced over the ranks of a group. Lives on the group's first process, but for
/// what is of each process's own ranks.
struct Epoch {
  std::vector<Seconds> samples;     ///< duration of one operation, the maximum over ranks unless -a says otherwise
  std::vector<int> slowest_ranks;   ///< for each sample, the rank that took longest
  std::vector<Seconds> cpu_times;   ///< pipelined: until the operations were started, for one of them, by visit
  std::vector<Seconds> host_times;  ///< by the host's clock where a device's is the one that counts, by visit
  std::vector<std::vector<Seconds>> own_times;  ///< for each of this process's ranks: medians of its times, by visit
  std::vector<Seconds> receive_times;           ///< until this process's rank had received all of a message, by visit
  std::int64_t late = 0;                        ///< isolated: samples discarded because a rank started late
  std::int64_t preemptions = 0;                 ///< involuntary context switches over all ranks
  std::int64_t most_preemptions = 0;            ///< of one rank in one visit
  int most_preempted_rank = 0;                  ///< that rank
  Seconds clock_error = 0;                      ///< isolated: bound of the error of the common clock
  bool common_start = true;                     ///< isolated: false where the common clock could not be used
  Seconds began = 0;                            ///< rank 0's clock

  /// Adds what a later visit of the same epoch measured.
  void add(const Epoch& visit);
};

}  // namespace fabricbench
