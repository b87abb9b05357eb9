#include "common/watch/stall_detector.h"

#include <algorithm>

namespace fabricbench {

/// A look may come a sixteenth of the timeout late: together within the promised quarter and 2 s (docs/reliability.md).
Seconds StallDetector::patience(int rank, Seconds timeout, Seconds grace) {
  return rank == 0 ? timeout + grace : timeout * 1.1875 + 2;
}

Seconds StallDetector::interval(Seconds timeout) { return std::clamp(timeout / 16, 0.05, 1.0); }

StallDetector::Stall StallDetector::look(const Sight& sight) {
  if (sight.steps != last_.steps) {
    last_ = sight;
    pause_ = std::min(2 * pause_, std::max(timeout_ / 16, interval(timeout_)));
    return {.next_look_s = pause_};
  }
  pause_ = interval(timeout_);
  Stall stall{.next_look_s = pause_};
  stall.stuck_s = sight.time - last_.time;
  if (stall.stuck_s < (timeout_ + sight.longer_s) / 2) return stall;
  stall.busy = (sight.awake - last_.awake) / stall.stuck_s;
  stall.action = stall.stuck_s < patience_ + sight.longer_s ? Action::kReport : Action::kEnd;
  return stall;
}

}  // namespace fabricbench
