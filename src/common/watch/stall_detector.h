#pragma once

#include <cstdint>

#include "common/core/units.h"

namespace fabricbench {

/// Decides what a watchdog does about a process that makes no progress. Reads no clock: times are given.
class StallDetector {
 public:
  /// The process at one moment.
  struct Sight {
    std::uint64_t steps = 0;
    Seconds time = 0;   ///< on any clock that goes forward
    Seconds awake = 0;  ///< for so long its main thread has had a processor or waited for one
  };

  enum class Action {
    kNothing,
    kReport,  ///< to rank 0
    kEnd,     ///< the job, after a last report
  };

  struct Stall {
    Action action = Action::kNothing;
    Seconds stuck_s = 0;  ///< since the last progress
    double busy = 0;      ///< share of that time that the main thread was awake
  };

  /// `timeout`: without progress for so long, rank 0 ends the job; above 0.
  StallDetector(int rank, Seconds timeout, const Sight& first)
      : timeout_(timeout), patience_(patience(rank, timeout)), last_(first) {}

  /// How often to look.
  [[nodiscard]] Seconds interval() const;
  [[nodiscard]] Stall look(const Sight& sight);

 private:
  [[nodiscard]] static Seconds patience(int rank, Seconds timeout);

  Seconds timeout_;
  Seconds patience_;
  Sight last_;  // when it was last seen to have made progress
};

}  // namespace fabricbench
