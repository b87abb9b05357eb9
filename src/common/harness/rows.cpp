#include "common/harness/rows.h"

#include <cstdint>

#include "common/harness/bench.h"

namespace fabricbench {

void measure_rows(Run& run, Totals* totals) {
  const Options& options = run.setup.options;
  Session& session = *run.setup.backend.session;
  Meter meter(*run.setup.team, session, run.clock, options, run.heartbeat);
  Bench bench(*run.setup.team, options, run.test, session, run.workspace, meter, run.wires, run.heartbeat,
              run.context.seed, run.outputs, totals);
  for (std::int64_t cycle = 0; options.cycles == 0 || cycle < options.cycles; ++cycle) {
    for (const CaseList& list : run.setup.cases) {
      for (const Row& row : list.skipped) bench.skip(row);
      bench.run(list.cases);
    }
  }
}

}  // namespace fabricbench
