#include "common/engine/engine.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <optional>

#include <fmt/format.h>

#include "common/core/version.h"
#include "common/engine/conclusion.h"
#include "common/host/crash_message.h"
#include "common/host/identity.h"
#include "common/mpi/environment.h"
#include "common/options/command_line.h"
#include "common/ranks/agreement.h"
#include "common/report/output_file.h"
#include "common/watch/interruption.h"
#include "common/watch/watchdog.h"

namespace fabricbench {
namespace {

/// What a process has from its launcher.
struct Start {
  const Program& program;
  const MakeJudges& make_judges;
  int& argc;
  char**& argv;
  mpi::Launch launch;  ///< before MPI has started

  [[nodiscard]] std::string called() const { return argc > 0 ? called_name(argv[0], program.name) : program.name; }
};

/// Reports an error that every process of `world` has found: the first one prints it. Returns the exit status. Rethrows
/// errors of other kinds.
int refuse(const mpi::Communicator& world, const Start& start, const Error& error) {
  constexpr std::array kOfSetUp = {ExitStatus::kUsage, ExitStatus::kMissing, ExitStatus::kNotJudged};
  if (std::find(kOfSetUp.begin(), kOfSetUp.end(), error.status()) == kOfSetUp.end()) throw error;
  // If MPI did not connect the processes, each is rank 0 of its own MPI job; the launcher's variables then show the
  // first.
  const mpi::Launch& launch = start.launch;
  const bool first = world.size() > 1 || launch.rank == 0 || launch.rank == launch.first_to_know();
  if (world.is_root() && first) say(start.program.name, error.what());
  return static_cast<int>(error.status());
}

/// This process's own command line: what --help prints, or the options until all processes have agreed on them.
CommandLine own_command_line(const Start& start) {
  try {
    return parse_command_line(start.program, arguments_with_environment(start.program, start.argc, start.argv),
                              start.called());
  } catch (const Error&) {  // which is reported when all have started
    return {};
  }
}

/// Throws UsageError on every process unless all are one program of one version: others would take other steps, and
/// wait for ever.
void check_same_program(const mpi::Communicator& world, const Program& program) {
  const std::string own = fmt::format("{} {}", program.name, kVersion);
  const auto number = static_cast<std::int64_t>(std::hash<std::string>()(own) >> 1);
  if (world.max(number) == -world.max(-number)) return;
  const std::vector<std::string> all =
      world.gather(fmt::format("{} is {}", host::name_of_process(world.rank(), host::host_name()), own));
  const auto is_other = [&](const std::string& text) { return !text.ends_with(" is " + own); };
  const auto other = std::find_if(all.begin(), all.end(), is_other);
  throw UsageError(fmt::format("all processes of a job must be one program of one version: {}, and {}",
                               all.empty() ? "" : all.front(), other == all.end() ? "" : *other));
}

/// The options on the first process's command line, on every process, so that no two processes can have different ones.
CommandLine agreed_command_line(const mpi::Communicator& world, const Start& start) {
  check_same_program(world, start.program);
  return parse_command_line(
      start.program, broadcast_from_first(world, arguments_with_environment(start.program, start.argc, start.argv)));
}

/// What is left to do when MPI has ended.
struct Finished {
  int status = 0;
  std::optional<Ending> ending{};  ///< for the outputs, on the process that has them
};

/// Lets the outputs judge the run. The first process alone returns the run's status: launchers kill the others when one
/// ends with a status above 0, and it has the ending to write.
Finished conclude_run(const mpi::Communicator& world, const Outputs& outputs, Ending ending) {
  outputs.conclude(ending);
  if (!world.is_root()) return {};
  const int status = ending.exit_status;
  return {status, std::move(ending)};
}

/// Runs on the processes that take part, and on no others.
Finished run_work(const mpi::Communicator& world, const Start& start, Work& work, Outputs& outputs) {
  try {
    work.set_up(outputs);
  } catch (const Error& error) {
    return {refuse(world, start, error)};
  }
  try {
    const SystemUsage usage;
    const Context context = work.make_context();
    outputs.begin(context);
    Ending ending = work.measure(context);
    usage.add_to(ending, world);
    return conclude_run(world, outputs, std::move(ending));
  } catch (const AgreedError& error) {
    abandon(outputs, error);
    return {refuse(world, start, error)};
  } catch (const std::exception& error) {
    abandon(outputs, error);
    throw;
  }
}

Finished run_job(const Start& start, const Agree& agree, Watchdog& watchdog, Outputs& outputs) {
  const Program& program = start.program;
  const mpi::Communicator world = mpi::Communicator::world();
  Heartbeat& heartbeat = watchdog.heartbeat();
  heartbeat.enter(Phase::kAgree);
  meet(world, watchdog);
  CommandLine line;
  try {
    line = agreed_command_line(world, start);
    mpi::check_launcher(start.launch, world.size());
  } catch (const Error& error) {
    return {refuse(world, start, error)};
  }
  watchdog.set_limit(line.options.timeout, line.options.stall_action);
  for (const std::string& notice : line.notices) {
    if (world.is_root()) say(program.name, notice);
  }
  Job job{world, program, std::move(line.options), {start.argv, start.argv + start.argc}, watchdog, start.make_judges};
  std::unique_ptr<Work> work;
  try {
    work = agree(job);
  } catch (const Error& error) {
    return {refuse(world, start, error)};
  }
  if (work->has_rests()) call_roll(world, watchdog);
  heartbeat.enter(Phase::kSetUp);
  const mpi::Communicator* active = work->active();
  Finished finished;
  if (active != nullptr) finished = run_work(*active, start, *work, outputs);
  if (active != &world) {
    const std::int64_t refused = max_at_rest(world, heartbeat, finished.ending ? 0 : finished.status);
    if (!finished.ending) finished.status = static_cast<int>(refused);
  }
  meet(world, watchdog, true);
  heartbeat.enter(Phase::kRelease);
  work.reset();
  return finished;
}

/// From MPI_Init to MPI_Finalize. Ends the whole job on errors of this process alone.
Finished run_on_mpi(const Start& start, const Agree& agree, Watchdog& watchdog, Outputs& outputs) {
  mpi::Environment mpi(start.argc, start.argv);
  Finished finished;
  try {
    finished = run_job(start, agree, watchdog, outputs);
  } catch (const std::exception& error) {
    end_job(start.program.name, error);
  }
  watchdog.heartbeat().enter(Phase::kEndMpi);
  mpi.end();
  return finished;
}

/// Limits what follows MPI by other means than the watchdog's thread. `done`: what is; `why`: it has not ended then.
void limit_end(const Watchdog& watchdog, Seconds limit, const char* done, const char* why) {
  if (watchdog.timeout() <= 0) return;
  limit_exit(limit,
             fmt::format("fabricbench: {}: {}, but the process did not end for {}, the limit is --timeout {:g}: {}\n",
                         watchdog.name(), done, readable_seconds(limit), watchdog.timeout(), why));
}

constexpr const char* kLost = "the disk that the launcher writes standard output to is full: rows may be lost";

/// Reports the ending to the outputs, now that nothing can change it, and a problem on standard error too.
void report_end(const Start& start, const Outputs& outputs, const Ending& ending) {
  const auto loses = [&] {
    return start.launch.rank == 0 && !start.launch.variable.empty() && is_launchers_output_full();
  };
  if (ending.exit_status == 0 && loses()) throw Error(ExitStatus::kFailure, kLost);
  outputs.end(ending);
  if (ending.exit_status != 0) say(start.program.name, ending.reason);
  if (ending.exit_status == 0 && loses()) throw Error(ExitStatus::kFailure, kLost);  // by what was just written
}

/// For a signal that ends this process next. Of a job's processes, the one that has outputs speaks.
void break_off(const std::string& program, const Outputs& outputs, int signal, const std::string& reason) {
  constexpr int kBySignal = 128;  // as shells report it
  Ending ending;
  ending.exit_status = kBySignal + signal;
  ending.reason = reason;
  if (abandon(outputs, ending)) say(program, reason);
}

}  // namespace

int run(const Program& program, const Agree& agree, const MakeJudges& make_judges, int argc, char** argv) {
  const Start start{program, make_judges, argc, argv, mpi::launch_from_environment()};
  const auto rank = static_cast<int>(start.launch.rank);
  const std::string name = host::name_of_process(rank, host::host_name());
  set_crash_message(fmt::format("{}: {}", program.name, name));
  Outputs outputs;
  std::optional<Watchdog> watchdog;
  try {
    // Open MPI's mpirun kills all ranks once one of those that it has told to end is gone, so the others leave time to
    // the one that states the results.
    constexpr Seconds kToState = 3;
    const Interruption interruption(
        [&](int signal, const std::string& word) {
          break_off(program.name, outputs, signal, fmt::format("{} was ended by {}", name, word));
        },
        rank == 0 ? 0 : kToState);
    const CommandLine own = own_command_line(start);
    if (!own.text.empty()) {  // also where MPI does not start
      if (rank == 0) OutputFile::standard_output().write(own.text);
      return 0;
    }
    watchdog.emplace(own.options.timeout, own.options.stall_action, rank, name,
                     [&outputs](const std::string& reason) { abandon(outputs, ExitStatus::kTimeout, reason); });
    const Finished finished = run_on_mpi(start, agree, *watchdog, outputs);
    const Seconds later = 1.25 * watchdog->timeout() + 2;  // than the watchdog, if it is well, ends it
    const char* const why = "the thread that limits the time is stuck itself";
    limit_end(*watchdog, later, "MPI has ended", why);
    watchdog->leave();
    limit_end(*watchdog, later, "MPI has ended", why);
    watchdog->heartbeat().enter(Phase::kClose);
    if (finished.ending) report_end(start, outputs, *finished.ending);
    limit_end(*watchdog, watchdog->timeout(), "all results are written", "a library's exit handler is stuck");
    return finished.status;
  } catch (const std::exception& error) {  // MPI did not start or not end, or the results could not be written
    abandon(outputs, error);
    say(program.name, fmt::format("{}: {}", name, message_of(error)));
    return static_cast<int>(status_of(error));
  }
}

}  // namespace fabricbench
