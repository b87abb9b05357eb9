#pragma once

#include "common/core/units.h"

namespace fabricbench {

/// Seconds on this host's monotonic clock (CLOCK_MONOTONIC), from an arbitrary origin that all
/// processes of one host share. Every time in the suite is read here, and this is the only function of
/// its object file: a test that links a `now` of its own replaces the clock of the whole program.
[[nodiscard]] Seconds now();

}  // namespace fabricbench
