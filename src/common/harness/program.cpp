#include "common/harness/program.h"

#include <cstdio>
#include <exception>
#include <random>

#include <fmt/format.h>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/harness/bench.h"
#include "common/harness/command_line.h"
#include "common/harness/conclusion.h"
#include "common/harness/members.h"
#include "common/harness/setup.h"
#include "common/host/identity.h"
#include "common/mpi/common_clock.h"
#include "common/mpi/environment.h"
#include "common/report/output_file.h"

namespace fabricbench {
namespace {

ProgramFacts facts_of(const Collective& collective) {
  const bool pairs = collective.figure() != Figure::kCollective;
  return {fmt::format("{}{}", collective.name(), pairs ? "" : "_perf"), pairs, collective.windowed(),
          collective.sockets()};
}

void say(const std::string& program, const std::string& message) {
  fmt::print(stderr, "{}: {}\n", program, message);
  std::fflush(stderr);
}

/// The first process's arguments on every process, so that no two can disagree about an option.
std::vector<std::string> agreed_arguments(const mpi::Communicator& world, const ProgramFacts& program, int argc,
                                          char** argv) {
  std::string packed;
  for (const std::string& argument : arguments_with_environment(program, argc, argv)) packed += argument + '\0';
  packed = world.broadcast(std::move(packed));
  std::vector<std::string> arguments;
  for (std::size_t begin = 0; begin < packed.size();) {
    const std::size_t end = packed.find('\0', begin);
    arguments.push_back(packed.substr(begin, end - begin));
    begin = end + 1;
  }
  return arguments;
}

std::uint64_t agreed_seed(const mpi::Communicator& world, const Options& options) {
  std::random_device random;
  const auto drawn = static_cast<std::int64_t>(random());
  return options.seed ? *options.seed : static_cast<std::uint64_t>(world.broadcast(drawn));
}

Context describe(const mpi::Communicator& world, const Collective& collective, const Setup& setup, int argc,
                 char** argv) {
  Context context;
  const ProgramFacts program = facts_of(collective);
  context.program = program.name;
  context.figure = collective.figure();
  context.command_line.assign(argv, argv + argc);
  context.options = setup.options;
  context.option_values = option_values(program, setup.options);
  context.backend = setup.backend.name;
  context.backend_reason = setup.backend.reason;
  context.library = setup.backend.session->library();
  context.nccl_version = setup.backend.session->nccl_version();
  context.launcher = mpi::launch_from_environment().variable;
  context.hosts = setup.placed.hosts;
  context.ranks = describe_ranks(*setup.team, setup.placed, *setup.backend.session);
  context.groups = program.pairs ? describe_pairs(context.ranks) : describe_groups(context.ranks);
  if (!setup.options.json_file.empty()) context.host_facts = describe_hosts(world, setup.placed);
  context.environment = whitelisted_environment();
  context.notices = setup.notices;
  context.timer_cost = timer_cost();
  context.started = std::time(nullptr);
  return context;
}

/// Every process as the watchdog's report names it: by its first rank.
std::vector<std::string> process_names(const Context& context, int local_ranks) {
  std::vector<std::string> names;
  for (std::size_t rank = 0; rank < context.ranks.size(); rank += static_cast<std::size_t>(local_ranks)) {
    names.push_back(fmt::format("rank {} on {}", context.ranks[rank].rank, context.ranks[rank].host));
  }
  return names;
}

/// Gives up what the session has under way unless the run got to its end: an operation that hangs must not keep the
/// job from ending.
class AbandonOnFailure {
 public:
  explicit AbandonOnFailure(Session& session) : session_(session) {}
  AbandonOnFailure(const AbandonOnFailure&) = delete;
  AbandonOnFailure& operator=(const AbandonOnFailure&) = delete;
  ~AbandonOnFailure() {
    if (std::uncaught_exceptions() > 0) session_.abandon();
  }

 private:
  Session& session_;
};

void run_combinations(const Collective& collective, const Setup& setup, Bench& bench) {
  for (const Combination& which : setup.combinations) {
    const CaseList list = list_cases(collective, setup.options, setup.groups, which);
    for (const Row& row : list.skipped) bench.skip(row);
    bench.run(list.cases);
  }
}

/// What each process's session has to remark on, by its first rank.
void add_remarks(const Team& team, const Session& session, Ending& ending) {
  const std::string remark = session.remark();
  const std::string own = remark.empty()
                              ? ""
                              : fmt::format("Rank {} of host {} {}", team.process_in_job() * session.local_ranks(),
                                            host::host_name(), remark);
  for (const std::string& text : team.world().gather(own)) {
    if (!text.empty()) ending.notes.push_back(text);
  }
}

/// Measures everything, and reports it. Returns the exit status, the same on every process.
int measure_all(const mpi::Communicator& world, const Collective& collective, Setup& setup, Context context) {
  Options& options = setup.options;
  Session& session = *setup.backend.session;
  const SystemUsage usage;
  Heartbeat heartbeat;
  const Watchdog watchdog(
      world, heartbeat, options.timeout, process_names(context, session.local_ranks()),
      [&session] { return session.state(); },
      [&](const std::string& reason) { abandon(setup.sinks, ExitStatus::kTimeout, reason); });
  mpi::CommonClock clock(world, host::clock_domain(), now);
  context.clock_error = world.max(clock.error());
  context.seed = agreed_seed(world, options);
  for (const auto& sink : setup.sinks) sink->begin(context);
  const int local = session.local_ranks();
  const Ranks ranks{setup.team->group().rank() * local, local, setup.team->group().size() * local};
  Workspace workspace(session, setup.memory.pool_bytes, options.placement != Placement::kIn, options.unalign, ranks);
  const AbandonOnFailure abandon_on_failure(session);  // before the buffers are given back that operations work on
  Meter meter(*setup.team, session, clock, options, heartbeat);
  WireMeter wires(*setup.team, setup.placed, setup.backend.name);
  Bench bench(*setup.team, options, collective, session, workspace, meter, wires, heartbeat, context.seed, setup.sinks);
  for (std::int64_t cycle = 0; options.cycles == 0 || cycle < options.cycles; ++cycle) {
    run_combinations(collective, setup, bench);
  }
  Ending ending = conclude(bench.totals(), context);
  ending.memory_usage = session.memory_usage();
  wires.report(ending);
  add_remarks(*setup.team, session, ending);
  usage.add_to(ending, world);
  for (const auto& sink : setup.sinks) sink->end(ending);
  if (world.is_root() && ending.exit_status != 0) say(context.program, ending.reason);
  return static_cast<int>(world.broadcast(std::int64_t{ending.exit_status}));
}

/// The exit status of an error of set-up, which is the same on every process; the first one speaks.
int refuse(const mpi::Communicator& world, const std::string& program, const Error& error) {
  if (error.status() != ExitStatus::kUsage && error.status() != ExitStatus::kMissing) throw error;
  // Processes that are each alone in their MPI are all rank 0 there; the launcher knows the first of them.
  const bool first = world.size() > 1 || mpi::launch_from_environment().rank == 0;
  if (world.is_root() && first) say(program, error.what());
  return static_cast<int>(error.status());
}

/// Sets up and measures among the processes of `world`. `process`: this one's number in the job.
int run_among(const mpi::Communicator& world, int process, Collective& collective, Options options,
              std::vector<std::string> notices, char** argv, int argc) {
  Setup setup;
  try {
    setup = set_up(world, process, collective, std::move(options));
  } catch (const Error& error) {
    return refuse(world, facts_of(collective).name, error);
  }
  setup.notices.insert(setup.notices.begin(), notices.begin(), notices.end());
  try {
    return measure_all(world, collective, setup, describe(world, collective, setup, argc, argv));
  } catch (const std::exception& error) {
    abandon(setup.sinks, ExitStatus::kFailure, error.what());
    throw;
  }
}

/// From the arguments to the exit status. Errors of the measurement may be one process's alone, and end the job.
int run(Collective& collective, int argc, char** argv) {
  const mpi::Communicator job = mpi::Communicator::world();
  const ProgramFacts program = facts_of(collective);
  CommandLine line;
  Members members;
  try {
    mpi::check_launcher(mpi::launch_from_environment(), job.size());
    line = parse_command_line(program, agreed_arguments(job, program, argc, argv));
    if (!line.text.empty()) {
      if (job.is_root()) OutputFile::standard_output().write(line.text);
      return 0;
    }
    if (program.pairs) members = choose_members(job, collective, line.options);
  } catch (const Error& error) {
    return refuse(job, program.name, error);
  }
  if (!program.pairs) return run_among(job, job.rank(), collective, std::move(line.options), {}, argv, argc);
  const auto& taking_part = members.communicator;
  const int status = !taking_part ? 0
                                  : run_among(*taking_part, job.rank(), collective, std::move(line.options),
                                              members.notices, argv, argc);
  return static_cast<int>(job.max_patiently(status));
}

[[noreturn]] void end_job(const std::string& program, ExitStatus status, const char* message) {
  const mpi::Launch launch = mpi::launch_from_environment();
  say(program, fmt::format("rank {} on {}: {}", launch.rank, host::host_name(), message));
  mpi::abort(status);
}

}  // namespace

int run_collective(Collective&& collective, int argc, char** argv) {
  const std::string program = facts_of(collective).name;
  try {
    const mpi::Environment mpi(argc, argv);
    try {
      return run(collective, argc, argv);
    } catch (const Error& error) {
      end_job(program, error.status(), error.what());
    } catch (const std::exception& error) {
      end_job(program, ExitStatus::kFailure, error.what());
    }
  } catch (const std::exception& error) {  // MPI itself did not start
    say(program, error.what());
    return static_cast<int>(ExitStatus::kFailure);
  }
}

}  // namespace fabricbench
