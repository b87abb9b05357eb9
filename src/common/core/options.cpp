#include "common/core/options.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/core/error.h"
#include "common/core/split.h"

namespace fabricbench {
namespace {

constexpr std::int64_t kMostInt = std::numeric_limits<std::int32_t>::max();

template <typename Value, std::size_t N>
using Choices = std::array<std::pair<std::string_view, Value>, N>;

constexpr Choices<Timing, 2> kTimings = {{{"pipelined", Timing::kPipelined}, {"isolated", Timing::kIsolated}}};
constexpr Choices<Order, 2> kOrders = {{{"interleaved", Order::kInterleaved}, {"sequential", Order::kSequential}}};
constexpr Choices<BufferPolicy, 3> kPolicies = {
    {{"same", BufferPolicy::kSame}, {"rotate", BufferPolicy::kRotate}, {"cold", BufferPolicy::kCold}}};
constexpr Choices<Placement, 3> kPlacements = {
    {{"out", Placement::kOut}, {"in", Placement::kIn}, {"both", Placement::kBoth}}};
constexpr Choices<MemoryKind, 3> kMemories = {
    {{"auto", MemoryKind::kAuto}, {"host", MemoryKind::kHost}, {"cuda", MemoryKind::kCuda}}};
constexpr Choices<std::string_view, 3> kBackends = {{{"auto", "auto"}, {"mpi", "mpi"}, {"nccl", "nccl"}}};

template <typename Value, std::size_t N>
Value choose(std::string_view text, std::string_view what, const Choices<Value, N>& choices) {
  std::vector<std::string_view> known;
  for (const auto& [word, value] : choices) {
    if (word == text) return value;
    known.push_back(word);
  }
  throw UsageError(fmt::format("'{}' is not a {}; choose one of {}", text, what, fmt::join(known, ", ")));
}

template <typename Value, std::size_t N>
std::string_view word_for(Value value, const Choices<Value, N>& choices) {
  for (const auto& [word, candidate] : choices) {
    if (candidate == value) return word;
  }
  return "";
}

std::vector<DataType> parse_datatypes(std::string_view text) {
  std::vector<DataType> all;
  std::vector<std::string_view> known;
  for (const DataTypeFacts& type : kDataTypes) {
    if (type.name == text) return {type.type};
    all.push_back(type.type);
    known.push_back(type.name);
  }
  if (text == "all") return all;
  throw UsageError(fmt::format("'{}' is not a datatype; choose all or one of {}", text, fmt::join(known, ", ")));
}

std::vector<Reduction> parse_reductions(std::string_view text) {
  std::vector<Reduction> all;
  for (const Reduction reduction :
       {Reduction::kSum, Reduction::kProd, Reduction::kMin, Reduction::kMax, Reduction::kAvg, Reduction::kMulSum}) {
    if (name(reduction) == text) return {reduction};
    all.push_back(reduction);
  }
  if (text == "all") return all;
  throw UsageError(fmt::format("'{}' is not a reduction; choose all, sum, prod, min, max, avg or mulsum", text));
}

std::string datatypes_text(const Options& options) {
  return options.datatypes.size() > 1 ? "all" : std::string(facts(options.datatypes.front()).name);
}

std::string reductions_text(const Options& options) {
  return options.reductions.size() > 1 ? "all" : std::string(name(options.reductions.front()));
}

/// Kinds of option that several share. Each returns the pair of functions an OptionSpec needs.
struct Accessors {
  std::function<void(Options&, std::string_view)> set;
  std::function<std::string(const Options&)> get;
};

Accessors size_of_sweep(Bytes Sweep::*member) {
  return {[=](Options& options, std::string_view text) { options.sweep.*member = parse_bytes(text); },
          [=](const Options& options) { return exact_bytes(options.sweep.*member); }};
}

Accessors integer(std::int64_t Options::*member, std::string_view what, std::int64_t least,
                  std::int64_t most = kMostInt) {
  return {[=](Options& options, std::string_view text) { options.*member = parse_integer(text, what, least, most); },
          [=](const Options& options) { return fmt::format("{}", options.*member); }};
}

Accessors number(double Options::*member, std::string_view what, double least, double most) {
  return {[=](Options& options, std::string_view text) { options.*member = parse_number(text, what, least, most); },
          [=](const Options& options) { return fmt::format("{}", options.*member); }};
}

Accessors flag(bool Options::*member) {
  return {[=](Options& options, std::string_view) { options.*member = true; },
          [=](const Options& options) { return options.*member ? "true" : ""; }};
}

Accessors text_of(std::string Options::*member, std::string_view what) {
  return {[=](Options& options, std::string_view text) {
            if (text.empty()) throw UsageError(fmt::format("{} wants a file name, and was given none", what));
            options.*member = text;
          },
          [=](const Options& options) { return options.*member; }};
}

template <typename Value, std::size_t N>
Accessors choice(Value Options::*member, std::string_view what, const Choices<Value, N>& choices) {
  return {[=, &choices](Options& options, std::string_view text) { options.*member = choose(text, what, choices); },
          [=, &choices](const Options& options) { return std::string(word_for(options.*member, choices)); }};
}

Accessors zero_or_one(bool Options::*member, std::string_view what) {
  return {[=](Options& options, std::string_view text) { options.*member = parse_integer(text, what, 0, 1) == 1; },
          [=](const Options& options) { return options.*member ? "1" : "0"; }};
}

OptionSpec spec(OptionGroup group, std::string names, std::string value_name, std::string help, Accessors accessors,
                std::string environment = "") {
  return {group,
          std::move(names),
          std::move(value_name),
          std::move(help),
          std::move(accessors.set),
          std::move(accessors.get),
          std::move(environment)};
}

OptionSpec offered_by(OfferedBy programs, OptionSpec made) {
  made.offered_by = programs;
  return made;
}

OptionSpec for_libraries(OptionSpec made) { return offered_by(OfferedBy::kLibraries, std::move(made)); }
OptionSpec for_collectives(OptionSpec made) { return offered_by(OfferedBy::kCollectives, std::move(made)); }

OptionSpec for_gpus(std::string names, std::string value_name, std::string help, Accessors accessors) {
  OptionSpec made =
      spec(OptionGroup::kGpus, std::move(names), std::move(value_name), std::move(help), std::move(accessors));
  made.gpus_only = true;
  return for_collectives(std::move(made));
}

std::vector<OptionSpec> size_options() {
  using enum OptionGroup;
  return {
      spec(kSizes, "-b,--minbytes,--min-bytes", "SIZE", "first message size, in bytes or with K, M, G, T",
           size_of_sweep(&Sweep::min_bytes)),
      spec(kSizes, "-e,--maxbytes,--max-bytes", "SIZE", "last message size; lowered to what fits in memory",
           size_of_sweep(&Sweep::max_bytes)),
      spec(kSizes, "-i,--stepbytes,--step-bytes", "SIZE", "added from size to size; used where -f is 1",
           size_of_sweep(&Sweep::step_bytes)),
      spec(kSizes, "-f,--stepfactor,--step-factor", "N", "multiplied from size to size; 1: add -i instead",
           {[](Options& options, std::string_view text) {
              options.sweep.step_factor =
                  static_cast<std::uint64_t>(parse_integer(text, "-f (step factor)", 1, kMostInt));
            },
            [](const Options& options) { return fmt::format("{}", options.sweep.step_factor); }}),
      for_collectives(
          spec(kData, "-d,--datatype", "TYPE",
               "all, int8, uint8, int32, uint32, int64, uint64, half, float, double, bfloat16, f8e4m3 or f8e5m2",
               {[](Options& options, std::string_view text) { options.datatypes = parse_datatypes(text); },
                datatypes_text})),
      for_collectives(
          spec(kData, "-o,--op", "OP", "reduction: all, sum, prod, min, max, avg or mulsum",
               {[](Options& options, std::string_view text) { options.reductions = parse_reductions(text); },
                reductions_text})),
      for_collectives(spec(kData, "-r,--root", "RANK", "root of operations that have one, or all",
                           {[](Options& options, std::string_view text) {
                              options.root =
                                  text == "all"
                                      ? kAllRoots
                                      : static_cast<int>(parse_integer(text, "-r (root)", kAllRoots, kMostInt));
                            },
                            [](const Options& options) {
                              return options.root == kAllRoots ? "all" : fmt::format("{}", options.root);
                            }})),
  };
}

OptionSpec for_alltoallv(OptionSpec made) {
  made.only_for = "alltoallv_perf";
  return made;
}

std::vector<OptionSpec> traffic_options() {
  using enum OptionGroup;
  return {
      for_alltoallv(
          spec(kData, "--spread", "SHARE",
               "0: every rank gets as much; 1: the more, the further it is from the sender; between: a mixture",
               number(&Options::spread, "--spread", 0, 1), "NCCL_TESTS_ALLTOALLV_SPREAD")),
      for_alltoallv(spec(kData, "--matrix", "FILE", "bytes from each rank (row) to each rank (column)",
                         text_of(&Options::matrix_file, "--matrix"), "NCCL_TESTS_ALLTOALLV_MATRIX_FILE")),
      for_alltoallv(spec(kData, "--matrix-scale", "N", "multiplies the matrix",
                         number(&Options::matrix_scale, "--matrix-scale", 0, 1e12),
                         "NCCL_TESTS_ALLTOALLV_MATRIX_SCALE")),
      for_alltoallv(spec(kData, "--traffic-summary", "0|1", "what each rank sends and receives, below every row",
                         zero_or_one(&Options::traffic_summary, "--traffic-summary"),
                         "NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY")),
  };
}

std::vector<OptionSpec> measuring_options() {
  using enum OptionGroup;
  return {
      spec(kMeasuring, "-n,--iters", "N", "exactly N iterations a size, sizes in order, rows as they come, no interval",
           {[](Options& options, std::string_view text) {
              options.iterations = parse_integer(text, "-n (iterations)", 1, kMostInt);
            },
            [](const Options& options) {
              return options.iterations ? fmt::format("{}", *options.iterations) : std::string();
            }}),
      spec(kMeasuring, "-w,--warmup_iters,--warmup-iters", "N", "untimed iterations before each epoch of a size",
           integer(&Options::warmup, "-w (warm-up iterations)", 0)),
      for_collectives(spec(kMeasuring, "-m,--agg_iters,--agg-iters", "N",
                           "operations in an iteration, started together",
                           integer(&Options::aggregated, "-m (operations in an iteration)", 1))),
      spec(kMeasuring, "-N,--run_cycles,--run-cycles", "N", "run the whole sweep N times; 0: until stopped",
           integer(&Options::cycles, "-N (cycles)", 0)),
      for_collectives(spec(kMeasuring, "--timing", "MODE",
                           "pipelined: operations back to back; isolated: each by itself, started together",
                           choice(&Options::timing, "timing mode", kTimings))),
      spec(kMeasuring, "--epochs", "N", "epochs of each size at least; 6 or more give an interval",
           integer(&Options::epochs, "--epochs", 1, 1000)),
      spec(kMeasuring, "--target-precision", "PERCENT", "add epochs until the interval's half-width is at most this",
           number(&Options::target_precision_percent, "--target-precision", 0.001, 100)),
      spec(kMeasuring, "--time-budget", "SECONDS", "time to spend on a size and placement, about",
           number(&Options::time_budget, "--time-budget", 0.001, 1e6)),
      spec(kMeasuring, "--order", "ORDER",
           "interleaved: sizes at random in each epoch; sequential: one size after the other",
           {[](Options& options, std::string_view text) { options.order = choose(text, "order", kOrders); },
            [](const Options& options) {
              return options.order ? std::string(word_for(*options.order, kOrders)) : std::string();
            }}),
      spec(kMeasuring, "--seed", "N", "of the random order; without it, one is drawn and printed",
           {[](Options& options, std::string_view text) {
              options.seed = static_cast<std::uint64_t>(
                  parse_integer(text, "--seed", 0, std::numeric_limits<std::int64_t>::max()));
            },
            [](const Options& options) { return options.seed ? fmt::format("{}", *options.seed) : std::string(); }}),
      for_collectives(
          spec(kMeasuring, "-a,--average", "N", "time over ranks: 0 rank 0's, 1 mean, 2 minimum, 3 maximum",
               {[](Options& options, std::string_view text) {
                  options.average = static_cast<RankAggregate>(parse_integer(text, "-a (average)", 0, 3));
                },
                [](const Options& options) { return fmt::format("{}", static_cast<int>(options.average)); }})),
      for_collectives(
          spec(kMeasuring, "-z,--blocking", "N",
               "after each operation: 0 nothing, 1 wait and barrier (timed), 2 wait, 3 wait and barrier (not timed)",
               {[](Options& options, std::string_view text) {
                  options.blocking = static_cast<Blocking>(parse_integer(text, "-z (blocking)", 0, 3));
                },
                [](const Options& options) { return fmt::format("{}", static_cast<int>(options.blocking)); }})),
      for_collectives(spec(kMeasuring, "-C,--report_cputime,--report-cputime", "0|1",
                           "report the time until the operations were started, not completed",
                           {[](Options& options, std::string_view text) {
                              options.report_cpu_time = parse_integer(text, "-C (report cputime)", 0, 1) == 1;
                            },
                            [](const Options& options) { return options.report_cpu_time ? "1" : "0"; }})),
      spec(kMeasuring, "-T,--timeout", "SECONDS", "end the job when a rank has made no progress for so long; 0: never",
           number(&Options::timeout, "-T (timeout)", 0, 1e6)),
  };
}

std::vector<OptionSpec> buffer_options() {
  using enum OptionGroup;
  return {
      spec(kBuffers, "--buffers", "POLICY",
           "same: one buffer over and over; rotate: through the largest buffer; cold: through twice the last-level "
           "cache",
           choice(&Options::buffers, "buffer policy", kPolicies)),
      for_collectives(spec(kBuffers, "--placement", "WHERE",
                           "out, in or both: separate buffers, the same one, or each in turn",
                           choice(&Options::placement, "placement", kPlacements))),
      spec(kBuffers, "-u,--unalign", "N", "shift the buffers by N elements",
           integer(&Options::unalign, "-u (unalign)", 0, 1 << 20)),
      spec(kBuffers, "-c,--check", "N", "extra checked operations a size; 0: check nothing",
           integer(&Options::checks, "-c (check)", 0)),
  };
}

/// nccl-tests' -M 0|1 and the memory to work on have the same long name there and here, and unlike values.
void set_memory(Options& options, std::string_view text) {
  if (text == "0" || text == "1") {
    options.memory_report = text == "1";
  } else {
    options.memory = choose(text, "memory", kMemories);
  }
}

std::vector<OptionSpec> backend_options() {
  using enum OptionGroup;
  return {
      for_libraries(
          spec(kBackend, "--backend", "NAME", "auto, mpi or nccl (GPUs)",
               {[](Options& options, std::string_view text) { options.backend = choose(text, "backend", kBackends); },
                [](const Options& options) { return options.backend; }})),
      for_libraries(
          spec(kBackend, "--memory", "KIND", "host or cuda: where the buffers lie; 1: as -M 1",
               {set_memory, [](const Options& options) { return std::string(word_for(options.memory, kMemories)); }})),
      for_collectives(spec(
          kBackend, "--split", "RULE",
          "groups that run at the same time, by the process's number: AND, OR, MOD or DIV and a number, such as MOD 2",
          {[](Options& options, std::string_view text) { options.split = parse_split(text).text(); },
           [](const Options& options) { return options.split; }},
          "NCCL_TESTS_SPLIT")),
  };
}

std::vector<OptionSpec> pair_options() {
  using enum OptionGroup;
  return {
      offered_by(OfferedBy::kPairs,
                 spec(kBackend, "--pairs", "RULE",
                      "ranks that exchange messages: adjacent, halves, hosts, such as 0-4,1-5, or a file; without it, "
                      "multi_pair_bw takes adjacent ones, and others one rank each of two hosts",
                      text_of(&Options::pairs, "--pairs"))),
      offered_by(OfferedBy::kWindows,
                 spec(kMeasuring, "--window", "N", "messages under way at once, before they are waited for",
                      integer(&Options::window, "--window", 1, 1 << 20))),
      offered_by(OfferedBy::kSockets, spec(kBackend, "--streams", "N", "TCP connections between two ranks",
                                           integer(&Options::streams, "--streams", 1, 64))),
      offered_by(OfferedBy::kSockets,
                 spec(kBackend, "--interface", "NAME", "the interface to use, or an address of it or of its network",
                      text_of(&Options::interface, "--interface"))),
  };
}

std::vector<OptionSpec> gpu_options() {
  return {
      for_gpus("-g,--ngpus", "N", "GPUs of each thread", integer(&Options::gpus, "-g (GPUs)", 1, 1024)),
      for_gpus("-t,--nthreads", "N", "threads of a process; one thread drives all their GPUs, by group calls",
               integer(&Options::threads, "-t (threads)", 1, 1024)),
      for_libraries(spec(
          OptionGroup::kGpus, "--device", "N", "CUDA's number of every process's first GPU",
          {[](Options& options, std::string_view text) { options.device = parse_integer(text, "--device", 0, 1023); },
           [](const Options& options) { return options.device ? fmt::format("{}", *options.device) : std::string(); }},
          "NCCL_TESTS_DEVICE")),
      for_collectives(spec(OptionGroup::kGpus, "-M,--memory_report,--memory-report", "0|1",
                           "report the GPU memory used, at the end",
                           zero_or_one(&Options::memory_report, "-M (memory report)"))),
      for_gpus("-G,--cudagraph", "N", "record the iterations as a CUDA graph and launch it N times",
               integer(&Options::graph_launches, "-G (graph launches)", 0)),
      for_gpus("-R,--local_register,--local-register", "0|1|2", "register buffers: 1 locally, 2 as symmetric windows",
               {[](Options& options, std::string_view text) {
                  options.registration = static_cast<Registration>(parse_integer(text, "-R (registration)", 0, 2));
                },
                [](const Options& options) { return fmt::format("{}", static_cast<int>(options.registration)); }}),
      for_gpus("-x,--cta_policy,--cta-policy", "0|1|2", "NCCL's CTA policy; -1: its own choice",
               integer(&Options::cta_policy, "-x (CTA policy)", -1, 2)),
      for_gpus("-p,--parallel_init,--parallel-init", "0|1", "set up a process's GPUs at the same time",
               zero_or_one(&Options::parallel_init, "-p (parallel init)")),
      for_gpus("-y,--stream_null,--stream-null", "0|1", "use the null stream",
               zero_or_one(&Options::null_stream, "-y (null stream)")),
      for_gpus("-D,--device_implementation,--device-implementation", "N", "kernels on NCCL's device interface",
               integer(&Options::device_implementation, "-D (device implementation)", 0, 4)),
      for_gpus("-V,--device_cta_count,--device-cta-count", "N", "CTAs of the kernels of -D",
               integer(&Options::device_ctas, "-V (CTAs)", 1, 128)),
      for_gpus("-I,--per_iter_timing,--per-iter-timing", "0|1", "columns for the GPU's time of each iteration",
               zero_or_one(&Options::per_iteration, "-I (time of each iteration)")),
      for_gpus("-K,--per_iter_skip,--per-iter-skip", "N", "leave the first N iterations out of -I's columns",
               integer(&Options::per_iteration_skip, "-K (iterations to skip)", 0)),
  };
}

std::vector<OptionSpec> output_options() {
  using enum OptionGroup;
  return {
      spec(kOutput, "--json", "FILE", "write JSON Lines: context, epochs, rows, end",
           text_of(&Options::json_file, "--json")),
      spec(kOutput, "--csv", "FILE", "write CSV, one line a row and placement", text_of(&Options::csv_file, "--csv")),
      for_collectives(spec(kOutput, "-J,--output_file,--output-file", "FILE",
                           "write JSON in nccl-tests' own layout (version 3)",
                           text_of(&Options::nccl_tests_json_file, "-J"))),
      spec(kOutput, "--force", "", "overwrite output files that exist", flag(&Options::force)),
      spec(kOutput, "--samples", "", "put every sample into --json", flag(&Options::samples)),
      spec(kOutput, "--stats", "", "print the statistics of every row below the table", flag(&Options::stats)),
      spec(kOutput, "-S,--report_timestamps,--report-timestamps", "0|1", "append date and time to each row",
           {[](Options& options, std::string_view text) {
              options.timestamps = parse_integer(text, "-S (timestamps)", 0, 1) == 1;
            },
            [](const Options& options) { return options.timestamps ? "1" : "0"; }}),
      spec(kOutput, "--quiet", "", "print only the table and its two closing lines", flag(&Options::quiet)),
      spec(kOutput, "--progress", "", "show progress on stderr even where that is no terminal",
           flag(&Options::progress)),
      for_collectives(spec(kOutput, "--min-bw", "GB/S", "exit 6 where the average bus bandwidth is below 0.9 of this",
                           number(&Options::min_average_busbw_gb_per_s, "--min-bw", 0, 1e9), "NCCL_TESTS_MIN_BW")),
  };
}

}  // namespace

std::string OptionSpec::key() const {
  const std::size_t start = names.find("--") + 2;
  std::string key = names.substr(start, names.find(',', start) - start);
  for (char& character : key) {
    if (character == '-') character = '_';
  }
  return key;
}

bool OptionSpec::is_of(const ProgramFacts& program) const {
  if (!only_for.empty()) return only_for == program.name;
  switch (offered_by) {
    case OfferedBy::kAll: return true;
    case OfferedBy::kLibraries: return !program.sockets;
    case OfferedBy::kSockets: return program.sockets;
    case OfferedBy::kCollectives: return !program.pairs;
    case OfferedBy::kPairs: return program.pairs;
    case OfferedBy::kWindows: return program.windowed;
  }
  return false;
}

Options default_options(const ProgramFacts& program) {
  Options options;
  if (!program.pairs) return options;
  options.sweep = {1, Bytes{4} << 20, Bytes{1} << 20, 2};
  options.datatypes = {DataType::kInt8};
  options.placement = Placement::kOut;
  return options;
}

const std::vector<OptionSpec>& option_specs() {
  static const std::vector<OptionSpec> specs = [] {
    std::vector<OptionSpec> all;
    for (auto&& part : {size_options(), traffic_options(), measuring_options(), buffer_options(), backend_options(),
                        pair_options(), gpu_options(), output_options()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }();
  return specs;
}

std::string_view heading(OptionGroup group) {
  constexpr std::array<std::string_view, 7> kHeadings = {"Message sizes", "Data", "Measuring", "Buffers",
                                                         "Backend",       "GPUs", "Output"};
  return kHeadings[static_cast<std::size_t>(group)];
}

namespace {

/// A key as it is typed.
std::string dashed(std::string key) {
  std::replace(key.begin(), key.end(), '_', '-');
  return "--" + key;
}

}  // namespace

void check_combinations(const Options& options) {
  const Sweep& sweep = options.sweep;
  if (sweep.min_bytes > sweep.max_bytes) {
    throw UsageError(fmt::format("the first size, -b {}, is above the last, -e {}; raise -e or lower -b",
                                 exact_bytes(sweep.min_bytes), exact_bytes(sweep.max_bytes)));
  }
  if (sweep.step_factor == 1 && sweep.step_bytes == 0 && sweep.min_bytes < sweep.max_bytes) {
    throw UsageError("-i 0 would repeat the first size for ever; give a step such as -i 1M, or a factor such as -f 2");
  }
  for (const std::string& key : options.given) {
    if (options.iterations && (key == "epochs" || key == "target_precision" || key == "time_budget")) {
      throw UsageError(fmt::format("-n asks for exactly {} iterations, and {} for as many as it takes; leave out one",
                                   *options.iterations, dashed(key)));
    }
  }
  if (options.iterations && options.order == Order::kInterleaved) {
    throw UsageError("-n measures the sizes in order, and --order interleaved asks for the opposite; leave out one");
  }
  if (options.graph_launches > 0 &&
      (options.per_iteration || options.timing == Timing::kIsolated || options.blocking != Blocking::kNone)) {
    throw UsageError(
        "-G launches many iterations at once, which -I, -z and --timing isolated tell apart; leave out one");
  }
  if (options.graph_launches > 0 && options.null_stream) {
    throw UsageError("-G records streams, and CUDA cannot record the null stream that -y 1 asks for; leave out one");
  }
  if (options.timing == Timing::kIsolated && options.blocking != Blocking::kNone) {
    throw UsageError("-z is about operations back to back; --timing isolated times each by itself; leave out one");
  }
}

std::string_view name(Timing timing) { return word_for(timing, kTimings); }
std::string_view name(BufferPolicy policy) { return word_for(policy, kPolicies); }

}  // namespace fabricbench
