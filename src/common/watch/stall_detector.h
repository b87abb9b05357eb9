#pragma once

#include <cstdint>

#include "common/core/units.h"

namespace fabricbench {

/// Decides what a watchdog does about a process that makes no progress. Reads no clock: its caller passes the times.
class StallDetector {
 public:
  /// The state of the process at one time.
  struct Sight {
    std::uint64_t steps = 0;
    Seconds time = 0;   ///< on any clock that goes forward
    Seconds awake = 0;  ///< total time for which its main thread has had a processor or waited for one
  };

  /// The time without progress after which a process ends the job. Others wait longer than rank 0, which knows more and
  /// should speak first.
  [[nodiscard]] static Seconds patience(int rank, Seconds timeout);

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

  /// `timeout`: rank 0 ends the job after this time without progress; above 0.
  StallDetector(int rank, Seconds timeout, const Sight& first)
      : timeout_(timeout), patience_(patience(rank, timeout)), last_(first) {}

  /// The time between two looks.
  [[nodiscard]] static Seconds interval(Seconds timeout);
  [[nodiscard]] Seconds interval() const { return interval(timeout_); }
  [[nodiscard]] Stall look(const Sight& sight);

 private:
  Seconds timeout_;
  Seconds patience_;
  Sight last_;  // the process when it last made progress
};

}  // namespace fabricbench
