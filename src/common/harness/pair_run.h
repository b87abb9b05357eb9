#pragma once

#include <functional>

#include "common/harness/collective.h"
#include "common/harness/job.h"
#include "common/harness/stage.h"
#include "common/harness/totals.h"

namespace fabricbench {

/// Measures what is set up, and hands rows to its outputs and to the totals, if there are any.
using MeasureRows = std::function<void(Run&, Totals*)>;

/// From the choice of pairs to the exit status, among all processes of the job: pairs are measured at the same time, or
/// in rounds, of which each has its own set-up. Rows of all rounds make one report.
[[nodiscard]] int run_pairs(Job& job, Collective& collective, const MeasureRows& measure);

}  // namespace fabricbench
