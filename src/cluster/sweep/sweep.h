#pragma once

#include "cluster/sweep/measured.h"
#include "common/engine/stage.h"

namespace fabricbench::sweep {

/// Measures the pairs of a schedule round by round, or with --find and --measured the pairs that are planned from
/// earlier readings. Passes readings, endpoints and matrix to the outputs. The first endpoint leads: it starts each
/// step by mail, and receives every endpoint's report on it. There is no MPI collective until the end, so a pair whose
/// messages do not arrive does not stop the others. An endpoint that does not report in time ends the job: throws Error
/// (timeout) with its name. `measured` is used on the first endpoint only.
[[nodiscard]] Ending measure_pairs(Run& run, const Measured& measured);

}  // namespace fabricbench::sweep
