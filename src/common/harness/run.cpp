#include "common/harness/run.h"

#include <exception>
#include <utility>

#include "common/core/error.h"

namespace fabricbench {
namespace {

/// Measures everything, and reports it. Returns the exit status, the same on every process.
int measure_all(const mpi::Communicator& world, const Collective& collective, Setup& setup, Context context,
                const Measure& measure) {
  const SystemUsage usage;
  context.seed = agreed_seed(world, setup.options);
  const auto begin = [&] { setup.outputs.begin(context); };
  StageEnding ending = run_stage(world, collective, setup, context, begin, measure);
  return report_end(world, context.program, setup.outputs, usage, std::move(ending).whole());
}

int run_among(const mpi::Communicator& world, Job& job, const std::vector<std::string>& notices, Collective& collective,
              const Measure& measure) {
  Setup setup;
  try {
    setup = set_up(world, job.world.rank(), collective, std::move(job.options));
    setup.outputs = open_outputs(world, collective.figure(), setup.options);
  } catch (const Error& error) {
    return refuse(world, job.program.name, error);
  }
  setup.notices.insert(setup.notices.begin(), notices.begin(), notices.end());
  try {
    return measure_all(world, collective, setup, describe_run(world, job, collective, setup), measure);
  } catch (const std::exception& error) {
    abandon(setup.outputs, error);
    throw;
  }
}

}  // namespace

int report_end(const mpi::Communicator& world, const std::string& program, const Outputs& outputs,
               const SystemUsage& usage, Ending ending) {
  usage.add_to(ending, world);
  outputs.end(ending);
  if (world.is_root() && ending.exit_status != 0) say(program, ending.reason);
  return static_cast<int>(world.broadcast(std::int64_t{ending.exit_status}));
}

int run_all(Job& job, Collective& collective, const Measure& measure) {
  return run_among(job.world, job, {}, collective, measure);
}

int run_members(Job& job, const Members& members, Collective& collective, const Measure& measure) {
  int status = 0;
  if (members.communicator) status = run_among(*members.communicator, job, members.notices, collective, measure);
  return static_cast<int>(job.world.max_patiently(status));
}

}  // namespace fabricbench
