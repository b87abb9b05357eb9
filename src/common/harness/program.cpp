#include "common/harness/program.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <numeric>
#include <random>

#include <fmt/format.h>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/harness/backends.h"
#include "common/harness/bench.h"
#include "common/harness/command_line.h"
#include "common/harness/describe.h"
#include "common/harness/memory_plan.h"
#include "common/host/identity.h"
#include "common/host/topology.h"
#include "common/host/usage.h"
#include "common/mpi/common_clock.h"
#include "common/mpi/environment.h"
#include "common/report/csv.h"
#include "common/report/json_lines.h"
#include "common/report/nccl_tests_json.h"
#include "common/report/table.h"

namespace fabricbench {
namespace {

/// What is settled before anything is allocated. Every rank arrives at the same, or at the same Error.
struct Setup {
  Options options;
  MemoryPlan memory;
  BackendChoice backend;
  Placed placed;
  std::vector<std::string> notices;
  std::vector<std::unique_ptr<Sink>> sinks;  // rank 0
};

std::string program_name(const Collective& collective) { return fmt::format("{}_perf", collective.name()); }

void say(const std::string& program, const std::string& message) {
  fmt::print(stderr, "{}: {}\n", program, message);
  std::fflush(stderr);
}

/// Rank 0's arguments on every rank, so that no two ranks can disagree about an option.
std::vector<std::string> agreed_arguments(const mpi::Communicator& world, int argc, char** argv) {
  std::string packed;
  for (const std::string& argument : arguments_with_environment(argc, argv)) packed += argument + '\0';
  packed = world.broadcast(std::move(packed));
  std::vector<std::string> arguments;
  for (std::size_t begin = 0; begin < packed.size();) {
    const std::size_t end = packed.find('\0', begin);
    arguments.push_back(packed.substr(begin, end - begin));
    begin = end + 1;
  }
  return arguments;
}

/// Opens the outputs. Throws UsageError where one cannot be, and then leaves none behind that it made.
std::vector<std::unique_ptr<Sink>> open_own_sinks(const Options& options) {
  std::vector<std::string> made;
  const auto open = [&](const std::string& path) {
    if (std::find(made.begin(), made.end(), path) != made.end()) {
      throw UsageError(fmt::format("'{}' is to take two outputs; give each a file of its own", path));
    }
    OutputFile file(path, options.force);
    made.push_back(path);
    return file;
  };
  try {
    std::vector<std::unique_ptr<Sink>> sinks;
    sinks.push_back(std::make_unique<TableSink>(OutputFile::standard_output()));
    if (!options.json_file.empty()) sinks.push_back(std::make_unique<JsonLinesSink>(open(options.json_file)));
    if (!options.csv_file.empty()) sinks.push_back(std::make_unique<CsvSink>(open(options.csv_file)));
    if (const std::string& path = options.nccl_tests_json_file; !path.empty()) {
      sinks.push_back(std::make_unique<NcclTestsJsonSink>(open(path)));
    }
    return sinks;
  } catch (const UsageError&) {
    if (!options.force) std::for_each(made.begin(), made.end(), [](const auto& path) { std::remove(path.c_str()); });
    throw;
  }
}

/// Opens rank 0's outputs; where that fails, every rank throws rank 0's error.
std::vector<std::unique_ptr<Sink>> open_sinks(const mpi::Communicator& world, const Options& options) {
  std::vector<std::unique_ptr<Sink>> sinks;
  std::string problem;
  try {
    if (world.is_root()) sinks = open_own_sinks(options);
  } catch (const UsageError& error) {
    problem = error.what();
  }
  problem = world.broadcast(problem);
  if (!problem.empty()) throw UsageError(problem);
  return sinks;
}

/// The sizes that all datatypes together leave; throws UsageError where one of them leaves none.
void check_sizes(const Options& options, std::vector<std::string>& notices) {
  for (const DataType type : options.datatypes) {
    const SizeList list = list_sizes(options.sweep, facts(type).size);
    if (list.sizes.empty()) {
      throw UsageError(fmt::format("no size from -b {} to -e {} holds an element of {}, which takes {} bytes; raise -e",
                                   exact_bytes(options.sweep.min_bytes), exact_bytes(options.sweep.max_bytes),
                                   facts(type).name, facts(type).size));
    }
    if (list.too_small.empty()) continue;
    notices.push_back(fmt::format("Left out: {} size{} below one element of {}", list.too_small.size(),
                                  list.too_small.size() == 1 ? "" : "s", facts(type).name));
  }
}

void note_placement(const mpi::Communicator& world, const Placed& placed, std::vector<std::string>& notices) {
  if (world.size() == 1) notices.push_back("One rank: nothing crosses a network, and busbw is 0 by definition");
  const std::int64_t missing = world.max(placed.local_ranks - std::int64_t{sysconf(_SC_NPROCESSORS_ONLN)});
  if (missing > 0) {
    notices.push_back(fmt::format("A host has {} more rank{} than processors: times include waiting for a processor",
                                  missing, missing == 1 ? "" : "s"));
  }
}

Setup set_up(const mpi::Communicator& world, Options options) {
  if (options.root >= world.size()) {
    throw UsageError(
        fmt::format("-r {} is no rank: there are {} ranks, 0 to {}", options.root, world.size(), world.size() - 1));
  }
  Setup setup;
  setup.backend = choose_backend(world, options);
  const Bytes cold_pool = options.buffers == BufferPolicy::kCold ? 2 * host::topology().last_level_cache_bytes : 0;
  const auto agreed_pool = static_cast<Bytes>(world.max(static_cast<std::int64_t>(cold_pool)));
  setup.memory = plan_memory(options, memory_per_rank(world), agreed_pool);
  setup.notices = setup.memory.notices;
  options.sweep.max_bytes = setup.memory.max_bytes;
  check_sizes(options, setup.notices);
  setup.placed = describe_ranks(world);
  note_placement(world, setup.placed, setup.notices);
  setup.sinks = open_sinks(world, options);
  setup.options = std::move(options);
  return setup;
}

std::uint64_t agreed_seed(const mpi::Communicator& world, const Options& options) {
  std::random_device random;
  const auto drawn = static_cast<std::int64_t>(random());
  return options.seed ? *options.seed : static_cast<std::uint64_t>(world.broadcast(drawn));
}

Context describe(const mpi::Communicator& world, const Collective& collective, const Setup& setup, int argc,
                 char** argv) {
  Context context;
  context.program = program_name(collective);
  context.command_line.assign(argv, argv + argc);
  context.options = setup.options;
  context.option_values = option_values(setup.options);
  context.backend = setup.backend.name;
  context.backend_reason = setup.backend.reason;
  context.library = setup.backend.backend->library();
  context.launcher = mpi::launch_from_environment().variable;
  context.hosts = setup.placed.hosts;
  context.ranks = setup.placed.ranks;
  if (!setup.options.json_file.empty()) context.host_facts = describe_hosts(world, setup.placed);
  context.environment = whitelisted_environment();
  context.notices = setup.notices;
  context.timer_cost = timer_cost();
  context.started = std::time(nullptr);
  return context;
}

std::vector<Case> list_cases(const Collective& collective, const Options& options, DataType type, Reduction reduction,
                             int ranks) {
  std::vector<Case> cases;
  const std::size_t element = facts(type).size;
  for (const Bytes size : list_sizes(options.sweep, element).sizes) {
    const Layout layout = collective.layout(size / element, ranks);
    const Bytes bytes = std::max(layout.send_count, layout.recv_count) * element;
    for (const bool in_place : {false, true}) {
      if (options.placement != (in_place ? Placement::kOut : Placement::kIn)) {
        cases.push_back({bytes, layout, type, reduction, -1, in_place});
      }
    }
  }
  return cases;
}

Ending conclude(const Totals& totals, const Options& options) {
  Ending ending;
  ending.wrong_checks = totals.wrong_checks;
  ending.notes = totals.notes;
  ending.precision = precision_line(totals, options);
  if (!totals.busbws.empty()) {
    ending.average_busbw =
        std::accumulate(totals.busbws.begin(), totals.busbws.end(), 0.0) / static_cast<double>(totals.busbws.size());
  }
  if (totals.late > 0) ending.notes.push_back(fmt::format("{} samples began late and were left out", totals.late));
  if (totals.started_by_barrier > 0) {
    ending.notes.push_back(
        fmt::format("{} of {} measurements were started by a barrier, not by the common clock: ranks "
                    "came late to most starts, or the clock was not exact enough",
                    totals.started_by_barrier, totals.measurements));
  }
  const double required = options.min_average_busbw_gb_per_s * 1e9;
  if (required > 0) ending.fast_enough = ending.average_busbw >= 0.9 * required;  // the factor is nccl-tests'
  ExitStatus status = ExitStatus::kOk;
  ending.reason = "every size was measured and every check passed";
  if (options.checks == 0) ending.reason = "every size was measured; nothing was checked, as -c 0 asks";
  if (ending.fast_enough == false) {
    status = ExitStatus::kTooSlow;
    ending.reason = fmt::format("the average busbw, {:.4g} GB/s, is below 0.9 times the {:.4g} GB/s required",
                                ending.average_busbw / 1e9, required / 1e9);
  }
  if (totals.wrong_checks > 0) {
    status = ExitStatus::kWrongData;
    ending.reason = fmt::format("{} checks found wrong data", totals.wrong_checks);
  }
  ending.exit_status = static_cast<int>(status);
  return ending;
}

void abandon(const std::vector<std::unique_ptr<Sink>>& sinks, ExitStatus status, const std::string& reason) {
  Ending ending;
  ending.exit_status = static_cast<int>(status);
  ending.reason = reason;
  for (const auto& sink : sinks) sink->abandon(ending);
}

/// What the system did meanwhile; collective.
class SystemUsage {
 public:
  /// Fills in `ending` on every rank with what has happened since this was made.
  void add_to(Ending& ending, const mpi::Communicator& world) const {
    const auto processors = static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
    const auto ticks_per_s = static_cast<double>(sysconf(_SC_CLK_TCK));
    const double stolen_s = static_cast<double>(host::stolen_ticks().value_or(0) - stolen_) / ticks_per_s;
    ending.stolen_percent = world.max(100 * stolen_s / ((now() - began_) * processors));
    const auto peak = static_cast<std::int64_t>(host::peak_resident_bytes().value_or(0));
    ending.peak_memory_bytes = static_cast<std::uint64_t>(world.max(peak));
    if (ending.stolen_percent < 1) return;
    ending.notes.push_back(fmt::format("A hypervisor took {:.1f} % of a host's processor time", ending.stolen_percent));
  }

 private:
  std::uint64_t stolen_ = host::stolen_ticks().value_or(0);
  Seconds began_ = now();
};

/// Measures everything, and reports it. Returns the exit status, the same on every rank.
int measure_all(const mpi::Communicator& world, const Collective& collective, Setup& setup, Context context) {
  Options& options = setup.options;
  const SystemUsage usage;
  Heartbeat heartbeat;
  std::vector<std::string> hosts;
  for (const RankFacts& rank : context.ranks) hosts.push_back(rank.host);
  const Watchdog watchdog(world, heartbeat, options.timeout, std::move(hosts),
                          [&](const std::string& reason) { abandon(setup.sinks, ExitStatus::kTimeout, reason); });
  mpi::CommonClock clock(world, host::clock_domain(), now);
  context.clock_error = world.max(clock.error());
  context.seed = agreed_seed(world, options);
  for (const auto& sink : setup.sinks) sink->begin(context);
  Workspace workspace(setup.memory.pool_bytes, options.placement != Placement::kIn, options.unalign, world.rank(),
                      world.size());
  Meter meter(world, clock, options, heartbeat);
  Bench bench(world, options, collective, *setup.backend.backend, workspace, meter, heartbeat, context.seed,
              setup.sinks);
  for (std::int64_t cycle = 0; options.cycles == 0 || cycle < options.cycles; ++cycle) {
    for (const DataType type : options.datatypes) {
      for (const Reduction reduction : options.reductions) {
        bench.run(list_cases(collective, options, type, reduction, world.size()));
      }
    }
  }
  Ending ending = conclude(bench.totals(), options);
  usage.add_to(ending, world);
  for (const auto& sink : setup.sinks) sink->end(ending);
  if (world.is_root() && ending.exit_status != 0) say(context.program, ending.reason);
  return static_cast<int>(world.broadcast(std::int64_t{ending.exit_status}));
}

/// From the arguments to the exit status. Errors of set-up are the same on every rank, and rank 0 speaks;
/// those of the measurement may be one rank's alone, and end the job.
int run(const Collective& collective, int argc, char** argv) {
  const mpi::Communicator world = mpi::Communicator::world();
  const std::string program = program_name(collective);
  Setup setup;
  try {
    mpi::check_launcher(mpi::launch_from_environment(), world.size());
    CommandLine line = parse_command_line(program, agreed_arguments(world, argc, argv));
    if (!line.text.empty()) {
      if (world.is_root()) OutputFile::standard_output().write(line.text);
      return 0;
    }
    setup = set_up(world, std::move(line.options));
  } catch (const Error& error) {
    if (error.status() != ExitStatus::kUsage && error.status() != ExitStatus::kMissing) throw;
    // Processes that are each alone in their MPI are all rank 0 there; the launcher knows the first of them.
    const bool first = world.size() > 1 || mpi::launch_from_environment().rank == 0;
    if (world.is_root() && first) say(program, error.what());
    return static_cast<int>(error.status());
  }
  try {
    return measure_all(world, collective, setup, describe(world, collective, setup, argc, argv));
  } catch (const std::exception& error) {
    abandon(setup.sinks, ExitStatus::kFailure, error.what());
    throw;
  }
}

[[noreturn]] void end_job(const std::string& program, ExitStatus status, const char* message) {
  const mpi::Launch launch = mpi::launch_from_environment();
  say(program, fmt::format("rank {} on {}: {}", launch.rank, host::host_name(), message));
  mpi::abort(status);
}

}  // namespace

int run_collective(const Collective& collective, int argc, char** argv) {
  const std::string program = program_name(collective);
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
