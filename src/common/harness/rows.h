#pragma once

#include "common/harness/stage.h"
#include "common/harness/totals.h"

namespace fabricbench {

/// Measures the cases of a run, and hands their rows to its outputs and to `totals`, on the first process; null: to the
/// outputs alone.
void measure_rows(Run& run, Totals* totals);

}  // namespace fabricbench
