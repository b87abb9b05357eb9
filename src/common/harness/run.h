#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/harness/collective.h"
#include "common/harness/conclusion.h"
#include "common/harness/job.h"
#include "common/harness/members.h"
#include "common/harness/stage.h"

namespace fabricbench {

/// From set-up to the exit status, among all processes of the job.
[[nodiscard]] int run_all(Job& job, Collective& collective, const Measure& measure);

/// The same among its members; the other processes sleep until the end.
[[nodiscard]] int run_members(Job& job, const Members& members, Collective& collective, const Measure& measure);

/// Reports the end of a run on every process of `world`, the first of which has the ending and the outputs. Returns the
/// exit status, the same on all. Collective.
[[nodiscard]] int report_end(const mpi::Communicator& world, const std::string& program, const Outputs& outputs,
                             const SystemUsage& usage, Ending ending);

}  // namespace fabricbench
