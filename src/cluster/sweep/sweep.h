#pragma once

#include "cluster/sweep/measured.h"
#include "common/engine/stage.h"

namespace fabricbench::sweep {

/// Measures every pair that the schedule has, or that is planned from what was found (--find) and from what earlier
/// jobs have measured, round by round, and hands readings, endpoints and matrix to the outputs. The first endpoint
/// leads: it starts each step by mail, and takes in what all report of it. No collective of MPI's is used until the
/// end, so that one pair whose messages do not get through leaves the others alone. An endpoint that does not report in
/// time ends the job: throws Error (timeout), which names it. `measured` is read on the first endpoint only.
[[nodiscard]] Ending measure(Run& run, const Measured& measured);

}  // namespace fabricbench::sweep
