#include "common/watch/stall_detector.h"

#include <algorithm>

namespace fabricbench {

Seconds StallDetector::patience(int rank, Seconds timeout) { return rank == 0 ? timeout : timeout * 1.25 + 2; }

Seconds StallDetector::interval(Seconds timeout) { return std::clamp(timeout / 8, 0.05, 1.0); }

StallDetector::Stall StallDetector::look(const Sight& sight) {
  if (sight.steps != last_.steps) {
    last_ = sight;
    return {};
  }
  Stall stall;
  stall.stuck_s = sight.time - last_.time;
  if (stall.stuck_s < timeout_ / 2) return stall;
  stall.busy = (sight.awake - last_.awake) / stall.stuck_s;
  stall.action = stall.stuck_s < patience_ ? Action::kReport : Action::kEnd;
  return stall;
}

}  // namespace fabricbench
