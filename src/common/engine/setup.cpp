#include "common/engine/setup.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <limits>

#include <fmt/format.h>

#include "common/core/error.h"
#include "common/core/wording.h"
#include "common/host/files.h"
#include "common/host/identity.h"
#include "common/host/memory.h"
#include "common/host/topology.h"
#include "common/measure/workspace.h"
#include "common/mpi/environment.h"
#include "common/ranks/agreement.h"
#include "common/report/banner.h"
#include "common/report/file_sinks.h"
#include "common/report/junit.h"
#include "common/watch/progress.h"

namespace fabricbench {
namespace {

constexpr int kThreadsOnNccl = 4;

/// The fewest processors that a process may use, of those that may use too few; 0: none.
int narrowest(const mpi::Communicator& world, int on_host, int processes_here) {
  const int allowed = host::allowed_processing_units();
  const bool narrow = is_bound_too_narrowly(allowed, on_host, processes_here);
  const std::int64_t fewest = world.min(std::int64_t{narrow ? allowed : kThreadsOnNccl});
  return fewest < kThreadsOnNccl ? static_cast<int>(fewest) : 0;
}

constexpr Bytes kMostBytes = std::numeric_limits<Bytes>::max();
constexpr double kUsableShare = 0.9;  // share of the free memory; MPI and the system need the rest

Bytes share(const mpi::Communicator& world, std::uint64_t domain, Bytes free) {
  const std::vector<std::uint64_t> domains = world.all_gather(domain);
  const auto sharers = std::count(domains.begin(), domains.end(), domain);  // at least this rank
  return free / static_cast<Bytes>(std::max<std::int64_t>(sharers, 1));
}

constexpr const char* kStandardOutput = "-";  // as the name of an output file

/// Whether a file of results goes to standard output, so that the table has to go elsewhere.
bool takes_standard_output(const Options& options) {
  const auto named = {options.output.json_file, options.output.csv_file, options.output.nccl_tests_json_file,
                      options.sweep.matrix_csv_file, options.preflight.junit_file};
  return std::find(named.begin(), named.end(), kStandardOutput) != named.end();
}

std::unique_ptr<Sink> table_of(RowKind row_kind, const Options& options) {
  OutputFile output = takes_standard_output(options) ? OutputFile::standard_error() : OutputFile::standard_output();
  const bool launched = !mpi::launch_from_environment().variable.empty();
  return make_table(row_kind, options, std::move(output), wants_colour(launched));
}

void remove_made(const std::string& path) {
  if (path != kStandardOutput) std::remove(path.c_str());
}

/// Opens the outputs. Throws Error if one cannot be opened, and then removes the files that it has created.
Outputs open_own_outputs(RowKind row_kind, const Options& options, const MakeJudges& make_judges) {
  std::vector<std::string> made;
  const auto open = [&](const std::string& path) {
    if (std::find(made.begin(), made.end(), path) != made.end()) {
      throw UsageError(fmt::format("'{}' is given for two outputs; give each its own file", path));
    }
    for (const std::string& kept : {options.comparison.record_file, options.comparison.baseline_file}) {
      if (!same_file(path, kept)) continue;
      throw UsageError(fmt::format("'{}' is a baseline, which an output would overwrite; give another file", path));
    }
    OutputFile file = path == kStandardOutput ? OutputFile::standard_output() : OutputFile(path, options.output.force);
    made.push_back(path);
    return file;
  };
  try {
    Outputs outputs;
    outputs.add(table_of(row_kind, options));
    if (!options.output.csv_file.empty()) outputs.add(std::make_unique<CsvSink>(open(options.output.csv_file)));
    if (const std::string& path = options.output.nccl_tests_json_file; !path.empty()) {
      outputs.add(std::make_unique<NcclTestsJsonSink>(open(path)));
    }
    for (std::unique_ptr<Sink>& judge : make_judges(row_kind, options)) outputs.add(std::move(judge));
    if (const std::string& path = options.sweep.matrix_csv_file; !path.empty()) {
      outputs.add(std::make_unique<MatrixCsvSink>(open(path)));
    }
    if (const std::string& path = options.preflight.junit_file; !path.empty()) {
      outputs.add(std::make_unique<JunitSink>(open(path)));
    }
    // The last one, so that its end tells whether the others could be written.
    if (!options.output.json_file.empty()) outputs.add(std::make_unique<JsonLinesSink>(open(options.output.json_file)));
    return outputs;
  } catch (const Error&) {
    if (!options.output.force) std::for_each(made.begin(), made.end(), remove_made);
    throw;
  }
}

std::string read_matrix(const std::string& path) {
  const auto text = host::read_text(path);
  if (!text) throw UsageError(fmt::format("cannot read the traffic matrix '{}'; give a file that exists", path));
  return *text;
}

Traffic agreed_traffic(const mpi::Communicator& world, const TrafficOptions& options) {
  if (options.matrix_file.empty()) return Traffic(options.spread);
  const std::string matrix = on_first_process(world, [&] { return read_matrix(options.matrix_file); });
  return {world.broadcast(matrix), options.matrix_scale};
}

/// The advice if all sizes are too small. Steps may be longer than the way to the last size.
std::string way_to_larger_sizes(const SizeRange& sizes) {
  const bool steps_over = sizes.step_factor == 1 && sizes.step_bytes > sizes.max_bytes - sizes.min_bytes;
  return steps_over && sizes.max_bytes > sizes.min_bytes ? "add --step-factor 2, or raise --max-bytes"
                                                         : "raise --max-bytes";
}

/// Adds a notice for each datatype that rules out some sizes. Throws UsageError if one rules out all.
void check_sizes(const Options& options, std::vector<std::string>& notices) {
  for (const DataType type : options.datatypes) {
    const SizeList list = list_sizes(options.sizes, facts(type).size);
    if (list.sizes.empty()) {
      throw UsageError(
          fmt::format("no size from --min-bytes {} to --max-bytes {} holds an element of {}, which takes {} bytes; "
                      "{}",
                      exact_bytes(options.sizes.min_bytes), exact_bytes(options.sizes.max_bytes), facts(type).name,
                      facts(type).size, way_to_larger_sizes(options.sizes)));
    }
    if (list.too_small.empty()) continue;
    notices.push_back(fmt::format("Left out: {} size{} below one element of {}", list.too_small.size(),
                                  list.too_small.size() == 1 ? "" : "s", facts(type).name));
  }
}

/// Throws UsageError if a combination has no case.
std::vector<CaseList> list_all_cases(const Test& test, const Sessions& sessions, const Setup& setup,
                                     const std::vector<Combination>& combinations) {
  std::vector<CaseList> all;
  for (const Combination& which : combinations) {
    all.push_back(list_cases(test, sessions, setup.options, setup.groups, which));
    if (!all.back().cases.empty()) continue;
    throw UsageError(fmt::format("no size from --min-bytes {} to --max-bytes {} is enough for {}: {}; {}",
                                 exact_bytes(setup.options.sizes.min_bytes), exact_bytes(setup.options.sizes.max_bytes),
                                 test.traits().name, all.back().skipped.front().skipped,
                                 way_to_larger_sizes(setup.options.sizes)));
  }
  return all;
}

void check_ranks(const Test& test, const Options& options, const GroupSizes& groups) {
  const char* where = groups.ranks.size() > 1 ? " in the smallest group" : "";
  for (const int ranks : groups.ranks) {
    if (const std::string why = test.why_not_ranks(ranks); !why.empty()) {
      throw UsageError(fmt::format("{} cannot run on {}: {}", test.traits().name, counted(ranks, "rank"), why));
    }
  }
  if (test.traits().has_root && options.root >= groups.smallest()) {
    const std::string ranks = groups.smallest() == 1 ? "is 1 rank" : fmt::format("are {} ranks", groups.smallest());
    throw UsageError(fmt::format("-r {} is not a rank: there {}{}, and the first is 0", options.root, ranks, where));
  }
}

/// A traffic matrix determines the only size.
void take_size_of_matrix(const Test& test, Setup& setup) {
  if (setup.options.traffic.matrix_file.empty()) return;
  Bytes most = 0;
  for (const int ranks : setup.groups.ranks) {
    const Layout layout = test.layout({}, ranks);
    most = std::max({most, layout.send_count, layout.recv_count});
  }
  if (most == 0) {
    throw UsageError(
        "the traffic matrix has nothing to send, because values below 16 bytes count as 0; raise --matrix-scale");
  }
  setup.options.sizes = {most, most, 0, 1};
  setup.notices.push_back(
      fmt::format("The traffic matrix sets the size: {} at the busiest rank", readable_bytes(most)));
}

/// Limits the sizes to the largest message that the library carries.
void keep_to_most_bytes(Setup& setup) {
  const std::optional<Bytes> most = setup.backend.session->most_bytes();
  SizeRange& sizes = setup.options.sizes;
  if (!most || sizes.max_bytes <= *most) return;
  if (sizes.min_bytes > *most) {
    throw UsageError(
        fmt::format("a message of {} was asked for, but {} carries at most {} bytes; choose a smaller size",
                    exact_bytes(sizes.min_bytes), setup.backend.session->library(), *most));
  }
  setup.notices.push_back(fmt::format("Lowered: the last message size from {} to {}, the largest possible message",
                                      readable_bytes(sizes.max_bytes), readable_bytes(*most)));
  sizes.max_bytes = *most;
}

/// The bytes that operations use in turn; 0: one buffer is enough. Collective.
Bytes pool_for(const mpi::Communicator& world, const Options& options, const Session& session) {
  if (options.check_all) return pool_of_places(session.distance_of(options.sizes.max_bytes));
  const bool cold = options.buffers == BufferPolicy::kCold;
  const Bytes own = cold ? 2 * host::topology().last_level_cache_bytes : 0;
  return static_cast<Bytes>(world.max(static_cast<std::int64_t>(own)));
}

void add(std::vector<std::string>& notices, const std::vector<std::string>& more) {
  notices.insert(notices.end(), more.begin(), more.end());
}

void note_session(Setup& setup) {
  add(setup.notices, setup.backend.notices);
  const std::string why_not = setup.backend.session->why_no_choices();
  const bool wanted = setup.options.output.stats || (setup.options.keeps_records() && setup.backend.name == "nccl");
  if (wanted && !why_not.empty()) {
    setup.notices.push_back(fmt::format("Algorithm, protocol and channels are not known: {}", why_not));
  }
}

/// Shares the time of --quick among all measurements.
void share_quick_time(Setup& setup, std::int64_t steps) {
  constexpr std::int64_t kEpochs = 6;  // which an interval takes
  if (!setup.options.quick) return;
  std::int64_t measurements = 0;
  for (const CaseList& list : setup.cases) measurements += std::ssize(list.cases);
  setup.options.time_budget = kQuickTime / static_cast<double>(measurements * steps);
  setup.options.epochs = kEpochs;
  setup.notices.push_back(fmt::format("--quick: {} for each of {}; intervals are wider than by default",
                                      readable_seconds(setup.options.time_budget),
                                      counted(measurements * steps, "measurement")));
}

}  // namespace

bool is_bound_too_narrowly(int allowed, int on_host, int processes_here) {
  return allowed < kThreadsOnNccl && allowed < on_host / processes_here;
}

std::vector<std::string> binding_notices(const mpi::Communicator& world, const ProcessCounts& process) {
  std::vector<std::string> notices;
  if (process.ranks == 1) {
    const bool alone = world.size() == 1;
    notices.push_back(fmt::format("{}: nothing crosses a network, and busbw is 0 by definition{}",
                                  alone ? "One rank" : "A group has one rank",
                                  alone ? "; start more with mpirun -np N" : ""));
  }
  const auto on_host = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  const std::int64_t missing = world.max(std::int64_t{process.processes_here} - on_host);
  if (missing > 0) {
    notices.push_back(fmt::format("A host has {} more rank{} than processors: times include waiting for a processor",
                                  missing, missing == 1 ? "" : "s"));
  }
  if (!process.on_nccl) return notices;
  if (const int fewest = narrowest(world, on_host, process.processes_here); fewest > 0) {
    notices.push_back(
        fmt::format("A process may use only {} of its host, where its thread and NCCL's take turns: times can be "
                    "several times as long; {}",
                    counted(fewest, "processor"), kUnbind));
  }
  return notices;
}

/// Enough for milliseconds of any stream.
Bytes pool_of_places(Bytes distance) {
  constexpr Bytes kMost = Bytes{256} << 20;
  constexpr Bytes kMostPlaces = Bytes{1} << 20;
  return distance > kMost / kMostPlaces ? std::max(kMost, distance) : distance * kMostPlaces;
}

Bytes memory_per_rank(const mpi::Communicator& world, const Session& session) {
  if (const auto of_device = session.device_memory()) {
    return static_cast<Bytes>(world.min(static_cast<std::int64_t>(*of_device)));
  }
  const host::FreeMemory free = host::free_memory();
  Bytes own = share(world, host::memory_domain(), free.machine_bytes);
  const Bytes in_group = share(world, host::cgroup_domain(), free.cgroup_bytes.value_or(free.machine_bytes));
  own = std::min(own, in_group);
  const auto least = static_cast<Bytes>(world.min(static_cast<std::int64_t>(own)));
  return static_cast<Bytes>(static_cast<double>(least) * kUsableShare);
}

MemoryPlan plan_memory(const Options& options, Bytes per_rank, Bytes pool) {
  const Bytes buffers = options.placement == Placement::kIn ? 1 : 2;
  const Bytes besides = allocated_bytes(0, options.unalign);
  const Bytes most = per_rank / buffers > besides ? per_rank / buffers - besides : 0;
  const SizeRange& sizes = options.sizes;
  if (sizes.min_bytes > most) {
    throw Error(ExitStatus::kMissing,
                fmt::format("the smallest message, {}, needs {} per rank for {}, but only {} per rank is available; "
                            "lower --min-bytes, run fewer ranks on a host, or free memory",
                            readable_bytes(sizes.min_bytes),
                            readable_bytes(std::min(sizes.min_bytes, kMostBytes / buffers - besides) * buffers +
                                           besides * buffers),
                            counted(buffers, "buffer"), readable_bytes(per_rank)));
  }
  MemoryPlan plan{sizes.max_bytes, 0, {}};
  if (plan.max_bytes > most) {
    plan.max_bytes = std::max(most - most % 16, sizes.min_bytes);
    plan.notices.push_back(
        fmt::format("Reducing maxBytes to {} due to memory limitation: {} per rank is available for {} buffers",
                    plan.max_bytes, readable_bytes(per_rank), buffers));
  }
  plan.pool_bytes = plan.max_bytes;
  const bool takes_turns = options.check_all || options.buffers == BufferPolicy::kCold;
  if (takes_turns && pool > plan.pool_bytes) {
    plan.pool_bytes = std::min(pool, most);
    if (plan.pool_bytes < pool && !options.check_all) {
      plan.notices.push_back(fmt::format("Buffers rotate through {} instead of {}: no more memory is available",
                                         readable_bytes(plan.pool_bytes), readable_bytes(pool)));
    }
  }
  if (options.check_all) {
    plan.notices.push_back(fmt::format(
        "Every message is checked: each has a place of its own in {}, which limits the messages of a window",
        readable_bytes(plan.pool_bytes)));
  }
  return plan;
}

Outputs open_outputs(const mpi::Communicator& world, RowKind row_kind, const Options& options,
                     const MakeJudges& make_judges) {
  return on_first_process(world, [&] { return open_own_outputs(row_kind, options, make_judges); });
}

/// Ranks take the GPUs of their host in the order of the job, whatever their order in `world`.
ReservedGpus reserve_gpus(const mpi::Communicator& world, int process, const Sessions& sessions,
                          const Options& options) {
  const std::optional<mpi::Communicator> in_order = world.split(0, process);
  const Team team(*in_order, "", process);
  return sessions.reserve_gpus(team, locate_processes(*in_order), options);
}

Setup set_up(const mpi::Communicator& world, int process, Test& test, const Sessions& sessions, Options options,
             const RoundOfRun& round) {
  Setup setup;
  adapt_options(test, options, setup.notices);
  setup.options = std::move(options);
  setup.team = std::make_unique<Team>(world, setup.options.split, process, round.pairs);
  setup.location = locate_processes(world);
  setup.location.reserved_gpus = round.gpus;
  setup.backend = sessions.open(*setup.team, setup.location, setup.options, test);
  const Session& session = *setup.backend.session;
  note_session(setup);
  keep_to_most_bytes(setup);
  setup.groups = group_sizes(*setup.team, session.local_ranks());
  test.use(agreed_traffic(world, setup.options.traffic));
  check_ranks(test, setup.options, setup.groups);
  take_size_of_matrix(test, setup);
  const std::vector<Combination> combinations =
      list_combinations(test, setup.options, session, setup.groups.smallest(), setup.notices);

  setup.memory = plan_memory(setup.options, memory_per_rank(world, session), pool_for(world, setup.options, session));
  add(setup.notices, setup.memory.notices);
  setup.options.sizes.max_bytes = setup.memory.max_bytes;
  check_sizes(setup.options, setup.notices);
  setup.cases = list_all_cases(test, sessions, setup, combinations);
  share_quick_time(setup, round.steps);
  add(setup.notices, binding_notices(world, {.ranks = setup.groups.smallest(),
                                             .processes_here = setup.location.local_processes,
                                             .on_nccl = setup.backend.name == "nccl"}));
  return setup;
}

}  // namespace fabricbench
