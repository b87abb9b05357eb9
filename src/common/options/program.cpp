#include "common/options/program.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/core/error.h"
#include "common/options/option_sets.h"

namespace fabricbench {
namespace {

using namespace option_sets;

constexpr Seconds kMessageTimeBudget = 0.3;  // per size, of which there are two dozen by default
constexpr Seconds kSweepTimeBudget = 0.2;    // per direction of a pair, of which there are thousands
constexpr Seconds kCopyTimeBudget = 0.2;     // per copy, of which a host with eight GPUs has about a hundred

/// A key as typed.
std::string dashed(std::string key) {
  std::replace(key.begin(), key.end(), '_', '-');
  return "--" + key;
}

void check_graphs(const Options& options) {
  if (options.nccl.graph_launches == 0) return;
  if (options.per_iteration || options.timing == Timing::kIsolated || options.blocking != Blocking::kNone) {
    throw UsageError(
        "-G launches many iterations at once, and -I, -z and --timing isolated time them separately; leave out one");
  }
  if (options.nccl.null_stream) {
    throw UsageError("-G records streams, and CUDA cannot record the null stream that -y 1 asks for; leave out one");
  }
}

void check_blocking(const Options& options) {
  if (options.timing == Timing::kIsolated && options.blocking != Blocking::kNone) {
    throw UsageError(
        "-z is for operations back to back, and --timing isolated times each one separately; leave out one");
  }
}

/// Rounds are planned one by one with --find and --measured.
void check_planning(const Options& options) {
  const bool planned = options.sweep.find || !options.sweep.measured_file.empty();
  if (planned && options.sweep.schedule != ScheduleKind::kCircle) {
    throw UsageError(fmt::format("{} plans rounds of disjoint pairs, and --schedule {} asks for others; leave out one",
                                 options.sweep.find ? "--find" : "--measured", name(options.sweep.schedule)));
  }
  if (options.has_given({"tolerance"}) && !options.sweep.find) {
    throw UsageError("--tolerance belongs to --find; add --find, or leave it out");
  }
}

void check_preflight(const Options& options) {
  if (options.preflight.accept_as_is && options.preflight.site_file.empty()) {
    throw UsageError("--accept-as-is needs a file to write to; add --site FILE");
  }
}

void check_sweep(const Options& options) {
  if (options.sizes.max_bytes == 0) throw UsageError("-b 0 carries nothing that could be measured; give 1 or more");
  const Seconds least = 2 * options.sweep.pair_timeout + 10;  // the first endpoint must end the job, with the reason
  if (options.timeout > 0 && options.timeout < least) {
    throw UsageError(
        fmt::format("--pair-timeout {}: -T {} would end the job first; lower --pair-timeout, or raise -T to {} or more",
                    options.sweep.pair_timeout, options.timeout, least));
  }
  if (options.sweep.level == EndpointLevel::kGpu && options.backend == "mpi" && options.memory != MemoryKind::kCuda) {
    throw UsageError("--level gpu pairs GPUs, and --backend mpi measures host memory; add --memory cuda");
  }
}

/// GPUs are NCCL's, unless MPI is to carry their memory.
void complete_level(Options& options) {
  if (options.sweep.level != EndpointLevel::kGpu || options.backend != "auto" || options.memory == MemoryKind::kCuda)
    return;
  options.backend = "nccl";
}

/// Messages are bytes, and lie in buffers of their own.
Options defaults_of_messages() {
  Options options;
  options.sizes = {1, Bytes{4} << 20, Bytes{1} << 20, 2};
  options.time_budget = kMessageTimeBudget;
  options.datatypes = {DataType::kInt8};
  options.placement = Placement::kOut;
  return options;
}

OptionSet options_of_rows(const OptionSet& checked, std::string_view budgeted = "size") {
  return join({repeats(), epochs(budgeted), quick(), precision(), seed(), timeout(), checked});
}

OptionSet output_of_rows() { return join({json(), csv(), of_rows(), quiet(), progress()}); }

Options defaults_of_sweeps() {
  Options options = defaults_of_messages();
  options.sizes = {Bytes{1} << 20, Bytes{1} << 20, Bytes{1} << 20, 1};
  options.time_budget = kSweepTimeBudget;
  return options;
}

Options defaults_of_copies() {
  Options options;
  options.sizes = {Bytes{256} << 20, Bytes{256} << 20, Bytes{1} << 20, 2};
  options.datatypes = {DataType::kInt8};
  options.placement = Placement::kOut;
  options.warmup = 1;
  options.time_budget = kCopyTimeBudget;
  return options;
}

Program program_of_messages(const std::string& name, const std::string& summary, OptionSet options) {
  return {.name = name,
          .summary = summary,
          .examples = {{fmt::format("mpirun -np 2 --map-by node {} -b 8 -e 16M", name), "between two hosts"},
                       {fmt::format("mpirun -np 16 {} --pairs halves", name), "eight pairs at the same time"},
                       {fmt::format("mpirun -np 2 {} -n 1000 --json run.jsonl", name),
                        "1000 iterations a size, with a record"}},
          .options = std::move(options),
          .defaults = defaults_of_messages(),
          .checks = {check_sizes, check_iterations}};
}

std::string first_above_last(const SizeRange& sizes) {
  return fmt::format(
      "the first size, --min-bytes {}, is above the last, --max-bytes {}; raise --max-bytes or lower --min-bytes",
      exact_bytes(sizes.min_bytes), exact_bytes(sizes.max_bytes));
}

}  // namespace

std::vector<std::pair<std::string, std::string>> option_values(const Program& program, const Options& options) {
  std::vector<std::pair<std::string, std::string>> values;
  for (const Option& spec : program.options) {
    if (std::string value = spec.get(options); !value.empty()) values.emplace_back(spec.key(), std::move(value));
  }
  return values;
}

void check_sizes(const Options& options) {
  const SizeRange& sizes = options.sizes;
  if (sizes.min_bytes > sizes.max_bytes) throw UsageError(first_above_last(sizes));
  if (sizes.step_factor == 1 && sizes.step_bytes == 0 && sizes.min_bytes < sizes.max_bytes) {
    throw UsageError(
        "--step-bytes 0 would repeat the first size for ever; give a step such as --step-bytes 1M, or a factor such as "
        "--step-factor 2");
  }
}

/// A first size alone above the usual last one may be a bitrate, which -b is in iperf3.
void check_first_size(const Options& options) {
  const SizeRange& sizes = options.sizes;
  if (sizes.min_bytes <= sizes.max_bytes || options.has_given({"maxbytes"})) return;
  throw UsageError(first_above_last(sizes) +
                   " (-b of iperf3 is a bitrate, and there is none here: messages are sent as fast as TCP takes them)");
}

/// The defaults of nccl-tests 2.19; what the user gives counts more.
void take_conventions(Options& options) {
  if (options.like != ReferenceTool::kNcclTests) return;
  if (options.timing == Timing::kIsolated) {
    throw UsageError(
        "--like nccl-tests times operations back to back, and --timing isolated one by one; leave out one");
  }
  if (!options.iterations) options.iterations = 20;
  if (!options.has_given({"warmup_iters"})) options.warmup = 1;
  if (!options.has_given({"stepfactor"})) options.sizes.step_factor = 1;
  if (!options.has_given({"average"})) options.average = RankAggregate::kMean;
  if (!options.has_given({"buffers"})) options.buffers = BufferPolicy::kRotate;
}

/// What is checked after each operation cannot run back to back.
void take_each(Options& options) {
  if (!options.check_each) return;
  const bool asked_for_other = options.has_given({"timing"}) && options.timing != Timing::kIsolated;
  if (asked_for_other || options.like == ReferenceTool::kNcclTests) {
    throw UsageError(
        "--check all times operations one by one, with a check after each, and not back to back; leave out one");
  }
  if (options.aggregated > 1 || options.buffers != BufferPolicy::kSame) {
    throw UsageError("--check all checks each operation in the same buffers; leave out -m and --buffers");
  }
  options.timing = Timing::kIsolated;
}

/// A shared queue gives a message the next receive, whichever queue pair it came over.
void check_places(const Options& options) {
  if (!options.check_all || !options.rdma.shared_receives || options.rdma.queue_pairs == 1) return;
  throw UsageError(
      "--check all: with --use-srq and several queue pairs the place of a message is not known before it arrives; "
      "leave "
      "out --use-srq, or use -q 1");
}

void check_quick(const Options& options) {
  if (!options.quick) return;
  for (const char* const key : {"iters", "epochs", "target_precision", "time_budget", "duration"}) {
    if (!options.has_given({key})) continue;
    throw UsageError(fmt::format("--quick says how long everything is measured, and so does {}; leave out one",
                                 key == std::string_view("iters") ? "-n" : dashed(key)));
  }
  if (options.like == ReferenceTool::kNcclTests) {
    throw UsageError("--like nccl-tests takes 20 iterations, and --quick as many as fit in its time; leave out one");
  }
}

void check_iterations(const Options& options) {
  check_quick(options);
  if (!options.iterations) return;
  for (const GivenOption& option : options.given) {
    const std::string& key = option.key;
    if (key == "epochs" || key == "target_precision" || key == "time_budget" || key == "duration") {
      throw UsageError(fmt::format("{} asks for exactly {} iterations, and {} for as many as needed; leave out one",
                                   options.has_given({"iters"}) ? "-n" : "--like nccl-tests", *options.iterations,
                                   dashed(key)));
    }
  }
  if (options.order == Order::kInterleaved) {
    throw UsageError("-n measures the sizes in order, and --order interleaved asks for the opposite; leave out one");
  }
}

Program collective_program(const std::string& name, const std::string& summary, const OptionSet& own) {
  return {
      .name = name,
      .summary = summary,
      .examples = {{fmt::format("mpirun -np 16 {} -b 32M -e 1G -f 2", name), "sizes from 32 MiB to 1 GiB"},
                   {fmt::format("mpirun -np 2 {} -g 4 -n 20", name), "eight GPUs of two processes, 20 iterations"},
                   {fmt::format("mpirun -np 16 {} --split 'DIV 8' --json run.jsonl", name),
                    "two groups at the same time, with a record"}},
      .options = join({sizes(), data(), own, options_of_rows(checks_or_each(), "size and placement"), operation_times(),
                       repeatability(), buffers(), placement(), library(), split(), gpus_of_process(), device(), nccl(),
                       output_of_rows(), nccl_tests_json(), least_average_busbw(), expectation(), preset()}),
      .completions = {take_conventions, take_each},
      .checks = {check_sizes, check_iterations, check_graphs, check_blocking},
      .has_split_mask = true};
}

Program message_program(const std::string& name, const std::string& summary, bool windowed, const std::string& pairs) {
  const OptionSet pairing = pairs.empty() ? option_sets::pairs() : option_sets::pairs("");
  Program program = program_of_messages(
      name, summary,
      join({sizes(), options_of_rows(checks_or_all()), windowed ? window() : OptionSet(), buffers(), library(), pairing,
            concurrent(), gpus_of_process(), device(), one_sided(), output_of_rows(),
            windowed ? least_bandwidth() : OptionSet(), expectation(), preset()}));
  program.defaults.pairs = pairs;
  return program;
}

Program tcp_program(const std::string& name, const std::string& summary, bool windowed) {
  Program program =
      program_of_messages(name, summary,
                          join({sizes(), options_of_rows(checks_or_all()), windowed ? window() : OptionSet(), buffers(),
                                pairs(), concurrent(), sockets(), output_of_rows(),
                                windowed ? least_bandwidth() : OptionSet(), expectation(), preset()}));
  program.checks.insert(program.checks.begin(), check_first_size);
  return program;
}

Program sweep_program(const std::string& name, const std::string& summary) {
  return {.name = name,
          .summary = summary,
          .examples = {{fmt::format("mpirun -np 64 --map-by node {}", name), "every pair of 64 hosts, once"},
                       {fmt::format("mpirun -np 64 --map-by node {} --find --json run.jsonl", name),
                        "until the slow hosts are known; find_slow_links reads the record"},
                       {fmt::format("mpirun -np 8 {} --level gpu", name), "every pair of eight GPUs"}},
          .options = join({sweep(), quick(), seed(), timeout(), buffers(), library(), window(), concurrent(), device(),
                           json(), csv(), quiet(), least_reading(), progress()}),
          .defaults = defaults_of_sweeps(),
          .completions = {complete_level},
          .checks = {check_iterations, check_sweep, check_planning}};
}

Program preflight_program(const std::string& name, const std::string& summary) {
  return {.name = name,
          .summary = summary,
          .examples = {{name, "this host"},
                       {fmt::format("mpirun --hostfile hosts --map-by ppr:1:node {}", name), "all hosts of a list"},
                       {fmt::format("mpirun --hostfile hosts --map-by ppr:1:node {} --site site.jsonl", name),
                        "and what is meant to be so is no fault"},
                       {fmt::format("{} --recorded trees", name), "copies of /sys and /proc of other hosts"}},
          .options = join({of_preflight(), timeout(), json_file(), quiet()}),
          .checks = {check_preflight}};
}

Program copy_program(const std::string& name, const std::string& summary) {
  return {.name = name,
          .summary = summary,
          .examples = {{name, "all GPUs of this host"},
                       {fmt::format("mpirun -np 16 --map-by ppr:1:node {} --csv copies.csv", name), "16 hosts"},
                       {fmt::format("{} --device 0 -b 4K -e 1G -f 4", name), "one GPU, several sizes"}},
          .options = join({sizes(), repeats(), epochs("copy"), quick(), seed(), timeout(), checks(),
                           device("the only GPU to measure; default: all"), json(), csv(), quiet()}),
          .defaults = defaults_of_copies(),
          .checks = {check_sizes, check_iterations}};
}

}  // namespace fabricbench
