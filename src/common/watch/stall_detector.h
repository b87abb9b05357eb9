#pragma once

#include <algorithm>
#include <cstdint>

#include "common/core/units.h"

namespace fabricbench {

/// The time of a clock that should not go back, and may, as where a virtual machine is moved: then it stands still for
/// one look, and goes on from there.
class ForwardTime {
 public:
  /// `time`: on that clock.
  [[nodiscard]] Seconds after(Seconds time) {
    passed_ += std::max(time - last_, 0.0);
    last_ = time;
    return passed_;
  }

 private:
  Seconds last_ = 0;
  Seconds passed_ = 0;
};

/// Decides what a watchdog does about a process that makes no progress. Reads no clock: its caller passes the times.
class StallDetector {
 public:
  /// The state of the process at one time.
  struct Sight {
    std::uint64_t steps = 0;
    Seconds time = 0;      ///< on any clock that goes forward
    Seconds awake = 0;     ///< total time for which its main thread has had a processor or waited for one
    Seconds longer_s = 0;  ///< how much more than the timeout its step may take
  };

  /// The time without progress after which a process ends the job. Others wait longer than rank 0, which knows more and
  /// should speak first. `grace`: added for rank 0.
  [[nodiscard]] static Seconds patience(int rank, Seconds timeout, Seconds grace);

  enum class Action {
    kNothing,
    kReport,  ///< to rank 0
    kEnd,     ///< the job, after a last report
  };

  struct Stall {
    Action action = Action::kNothing;
    Seconds stuck_s = 0;      ///< since the last progress
    double busy = 0;          ///< share of that time that the main thread was awake
    Seconds next_look_s = 0;  ///< until then
  };

  /// `timeout`: rank 0 ends the job after this time without progress, and `grace`; above 0.
  StallDetector(int rank, Seconds timeout, Seconds grace, const Sight& first)
      : timeout_(timeout), patience_(patience(rank, timeout, grace)), last_(first), pause_(interval(timeout)) {}

  /// The time between two looks, unless the process goes on and on: a look takes a processor from the main thread, and
  /// thousands of ranks that look hold up each other's collectives. Then it doubles, up to a sixteenth of the timeout.
  [[nodiscard]] static Seconds interval(Seconds timeout);
  [[nodiscard]] Stall look(const Sight& sight);

 private:
  Seconds timeout_;
  Seconds patience_;
  Sight last_;  // the process when it last made progress
  Seconds pause_;
};

}  // namespace fabricbench
