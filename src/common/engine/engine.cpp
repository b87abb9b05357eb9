#include "common/engine/engine.h"

#include <algorithm>
#include <array>
#include <exception>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/engine/conclusion.h"
#include "common/mpi/environment.h"
#include "common/options/command_line.h"
#include "common/ranks/exchange.h"
#include "common/report/output_file.h"

namespace fabricbench {
namespace {

/// Reports an error that every process of `world` has found: the first one prints it. Returns the exit status. Rethrows
/// errors of other kinds.
int refuse(const mpi::Communicator& world, const std::string& program, const Error& error) {
  constexpr std::array kOfSetUp = {ExitStatus::kUsage, ExitStatus::kMissing, ExitStatus::kNotJudged};
  if (std::find(kOfSetUp.begin(), kOfSetUp.end(), error.status()) == kOfSetUp.end()) throw error;
  // If MPI did not connect the processes, each is rank 0 of its own MPI job; the launcher's variables then show the
  // first.
  const bool first = world.size() > 1 || mpi::launch_from_environment().rank == 0;
  if (world.is_root() && first) say(program, error.what());
  return static_cast<int>(error.status());
}

/// The options on the first process's command line, on every process, so that no two processes can have different ones.
CommandLine agreed_command_line(const mpi::Communicator& world, const Program& program, int argc, char** argv) {
  mpi::check_launcher(mpi::launch_from_environment(), world.size());
  return parse_command_line(program, broadcast_from_first(world, arguments_with_environment(program, argc, argv)));
}

/// Reports the ending to the outputs, and a problem on standard error too. Returns the exit status.
int report_end(const mpi::Communicator& world, const std::string& program, const Outputs& outputs, Ending ending) {
  outputs.conclude(ending);
  outputs.end(ending);
  if (world.is_root() && ending.exit_status != 0) say(program, ending.reason);
  return static_cast<int>(world.broadcast(std::int64_t{ending.exit_status}));
}

/// Runs on the processes that take part, and on no others.
int run_work(const mpi::Communicator& world, const std::string& program, Work& work, Outputs& outputs) {
  try {
    work.set_up(outputs);
  } catch (const Error& error) {
    return refuse(world, program, error);
  }
  try {
    const SystemUsage usage;
    const Context context = work.make_context();
    outputs.begin(context);
    Ending ending = work.measure(context);
    usage.add_to(ending, world);
    return report_end(world, program, outputs, std::move(ending));
  } catch (const AgreedError& error) {
    abandon(outputs, error);
    return refuse(world, program, error);
  } catch (const std::exception& error) {
    abandon(outputs, error);
    throw;
  }
}

int run_job(const Program& program, const Agree& agree, int argc, char** argv) {
  const mpi::Communicator world = mpi::Communicator::world();
  CommandLine line;
  try {
    line = agreed_command_line(world, program, argc, argv);
  } catch (const Error& error) {
    return refuse(world, program.name, error);
  }
  if (!line.text.empty()) {
    if (world.is_root()) OutputFile::standard_output().write(line.text);
    return 0;
  }
  for (const std::string& notice : line.notices) {
    if (world.is_root()) say(program.name, notice);
  }
  Job job{world, program, std::move(line.options), {argv, argv + argc}};
  Outputs outputs;
  std::unique_ptr<Work> work;
  try {
    work = agree(job);
  } catch (const Error& error) {
    return refuse(world, program.name, error);
  }
  const mpi::Communicator* members = work->members();
  const int status = members == nullptr ? 0 : run_work(*members, program.name, *work, outputs);
  return members == &world ? status : static_cast<int>(world.max_asleep(status));
}

}  // namespace

int run(const Program& program, const Agree& agree, int argc, char** argv) {
  try {
    const mpi::Environment mpi(argc, argv);
    try {
      return run_job(program, agree, argc, argv);
    } catch (const std::exception& error) {
      end_job(program.name, error);
    }
  } catch (const std::exception& error) {  // MPI itself did not start
    say(program.name, error.what());
    return static_cast<int>(ExitStatus::kFailure);
  }
}

}  // namespace fabricbench
