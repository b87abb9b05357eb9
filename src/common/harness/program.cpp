#include "common/harness/program.h"

#include <fmt/format.h>

#include "common/harness/bench.h"
#include "common/harness/conclusion.h"
#include "common/harness/job.h"
#include "common/harness/pair_run.h"
#include "common/harness/run.h"

namespace fabricbench {
namespace {

void run_combinations(const Collective& collective, const Setup& setup, Bench& bench) {
  for (const Combination& which : setup.combinations) {
    const CaseList list = list_cases(collective, setup.options, setup.groups, which);
    for (const Row& row : list.skipped) bench.skip(row);
    bench.run(list.cases);
  }
}

void measure_rows(Run& run, Totals* totals) {
  Setup& setup = run.setup;
  const Options& options = setup.options;
  Session& session = *setup.backend.session;
  Meter meter(*setup.team, session, run.clock, options, run.heartbeat);
  Bench bench(*setup.team, options, run.collective, session, run.workspace, meter, run.wires, run.heartbeat,
              run.context.seed, setup.outputs, totals);
  for (std::int64_t cycle = 0; options.cycles == 0 || cycle < options.cycles; ++cycle) {
    run_combinations(run.collective, setup, bench);
  }
}

Ending measure(Run& run) {
  Totals totals(run.setup.options);
  measure_rows(run, &totals);
  return conclude(totals, run.context);
}

}  // namespace

int run_program(const Program& program, Collective&& collective, int argc, char** argv) {
  return run_job(program, argc, argv, [&](Job& job) {
    collective.configure(job.options);
    return is_of_pairs(collective.figure()) ? run_pairs(job, collective, measure_rows)
                                            : run_all(job, collective, measure);
  });
}

}  // namespace fabricbench
