#pragma once

#include "common/core/units.h"

namespace fabricbench {

// Every time in the suite is read here, and every pause is made here. These are the only functions of their object
// file: a test that links its own (tests/support/scripted_clock.h) replaces the time of the whole program.

/// Seconds on this host's monotonic clock (CLOCK_MONOTONIC). The origin is arbitrary, and the same for all processes of
/// a host.
[[nodiscard]] Seconds now();

/// Sleeps for `time` or slightly longer; returns at once if `time` is not above 0.
void sleep_for(Seconds time);

}  // namespace fabricbench
