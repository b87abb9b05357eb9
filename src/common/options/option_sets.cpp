#include "common/options/option_sets.h"

#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/core/error.h"
#include "common/core/split.h"
#include "common/options/accessors.h"

namespace fabricbench::option_sets {
namespace {

using namespace option_parts;
using enum OptionGroup;

constexpr Choices<MemoryKind, 3> kMemories = {
    {{"auto", MemoryKind::kAuto}, {"host", MemoryKind::kHost}, {"cuda", MemoryKind::kCuda}}};
constexpr Choices<std::string_view, 3> kBackends = {{{"auto", "auto"}, {"mpi", "mpi"}, {"nccl", "nccl"}}};

std::vector<DataType> parse_datatypes(std::string_view text) {
  if (const auto type = named<DataType>(text)) return {*type};
  std::vector<DataType> all;
  all.reserve(kDataTypes.size());
  for (const DataTypeFacts& type : kDataTypes) all.push_back(type.type);
  if (text == "all") return all;
  throw UsageError(
      fmt::format("'{}' is not a datatype; choose all or one of {}", text, fmt::join(names_of(DataType{}), ", ")));
}

std::vector<Reduction> parse_reductions(std::string_view text) {
  if (const auto one = named<Reduction>(text); one && *one != Reduction::kNone) return {*one};
  if (text == "all") {
    return {Reduction::kSum, Reduction::kProd, Reduction::kMin, Reduction::kMax, Reduction::kAvg, Reduction::kMulSum};
  }
  throw UsageError(fmt::format("'{}' is not a reduction; choose all, sum, prod, min, max, avg or mulsum", text));
}

template <typename Value>
std::string one_or_all(const std::vector<Value>& values) {
  return values.size() > 1 ? "all" : std::string(name(values.front()));
}

Accessors step_factor() {
  return {[](Options& options, std::string_view text) {
            options.sweep.step_factor = static_cast<std::uint64_t>(parse_integer(text, "--step-factor", 1, kMostInt));
          },
          [](const Options& options) { return fmt::format("{}", options.sweep.step_factor); }};
}

Accessors root() {
  return {[](Options& options, std::string_view text) {
            options.root =
                text == "all" ? kAllRoots : static_cast<int>(parse_integer(text, "-r (root)", kAllRoots, kMostInt));
          },
          [](const Options& options) { return options.root == kAllRoots ? "all" : fmt::format("{}", options.root); }};
}

Accessors order() {
  return {[](Options& options, std::string_view text) { options.order = choose<Order>(text, "order"); },
          [](const Options& options) { return options.order ? std::string(name(*options.order)) : std::string(); }};
}

Accessors random_seed() {
  return {[](Options& options, std::string_view text) {
            options.seed =
                static_cast<std::uint64_t>(parse_integer(text, "--seed", 0, std::numeric_limits<std::int64_t>::max()));
          },
          [](const Options& options) { return options.seed ? fmt::format("{}", *options.seed) : std::string(); }};
}

Accessors tolerance() {
  return {[](Options& options, std::string_view text) {
            const bool percent = text.ends_with('%');
            if (percent) text.remove_suffix(1);
            const double scale = percent ? 100 : 1;
            options.tolerance = parse_number(text, "--tolerance", 0.001 * scale, 0.9 * scale) / scale;
          },
          [](const Options& options) { return fmt::format("{}", options.tolerance); }};
}

/// nccl-tests' -M 0|1 and the memory to work on have the same long name there and here, and unlike values.
Accessors memory() {
  return {[](Options& options, std::string_view text) {
            if (text == "0" || text == "1") {
              options.memory_report = text == "1";
            } else {
              options.memory = choose(text, "memory", kMemories);
            }
          },
          [](const Options& options) { return std::string(word_for(options.memory, kMemories)); }};
}

Option for_gpus(std::string names, std::string value_name, std::string help, Accessors accessors) {
  Option made = option(kGpus, std::move(names), std::move(value_name), std::move(help), std::move(accessors));
  made.gpus_only = true;
  return made;
}

}  // namespace

OptionSet sizes() {
  return {option(kSizes, "-b,--minbytes,--min-bytes", "SIZE", "first message size, in bytes or with K, M, G, T",
                 size(&Sweep::min_bytes)),
          option(kSizes, "-e,--maxbytes,--max-bytes", "SIZE", "last message size; lowered to what fits in memory",
                 size(&Sweep::max_bytes)),
          option(kSizes, "-i,--stepbytes,--step-bytes", "SIZE", "increment between sizes, only with --stepfactor 1",
                 size(&Sweep::step_bytes)),
          option(kSizes, "-f,--stepfactor,--step-factor", "N", "factor between sizes; 1: add --stepbytes instead",
                 step_factor())};
}

OptionSet data() {
  return {option(kData, "-d,--datatype", "TYPE",
                 "all, int8, uint8, int32, uint32, int64, uint64, half, float, double, bfloat16, f8e4m3 or f8e5m2",
                 {[](Options& options, std::string_view text) { options.datatypes = parse_datatypes(text); },
                  [](const Options& options) { return one_or_all(options.datatypes); }}),
          option(kData, "-o,--op", "OP", "reduction: all, sum, prod, min, max, avg or mulsum",
                 {[](Options& options, std::string_view text) { options.reductions = parse_reductions(text); },
                  [](const Options& options) { return one_or_all(options.reductions); }}),
          option(kData, "-r,--root", "RANK", "root of operations that have one, or all", root())};
}

OptionSet traffic() {
  return {option(kData, "--spread", "SHARE",
                 "0: every rank gets as much; 1: the more, the further it is from the sender; between: a mixture",
                 number(&Options::spread, "--spread", 0, 1), "NCCL_TESTS_ALLTOALLV_SPREAD"),
          option(kData, "--matrix", "FILE", "bytes from each rank (row) to each rank (column)",
                 file_name(&Options::matrix_file, "--matrix"), "NCCL_TESTS_ALLTOALLV_MATRIX_FILE"),
          option(kData, "--matrix-scale", "N", "multiplies the matrix",
                 number(&Options::matrix_scale, "--matrix-scale", 0, 1e12), "NCCL_TESTS_ALLTOALLV_MATRIX_SCALE"),
          option(kData, "--traffic-summary", "0|1", "what each rank sends and receives, below every row",
                 zero_or_one(&Options::traffic_summary, "--traffic-summary"), "NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY")};
}

OptionSet repeats() {
  return {option(kMeasuring, "-n,--iters", "N",
                 "exactly N iterations a size, sizes in order, rows as they come, no interval",
                 optional_integer(&Options::iterations, "-n (iterations)", 1)),
          option(kMeasuring, "-w,--warmup_iters,--warmup-iters", "N", "untimed iterations before each epoch of a size",
                 integer(&Options::warmup, "--warmup-iters", 0))};
}

OptionSet epochs() {
  return {option(kMeasuring, "--epochs", "N", "minimum measurement rounds per size; 6 or more give an interval",
                 integer(&Options::epochs, "--epochs", 1, 1000)),
          option(kMeasuring, "--time-budget", "SECONDS", "approximate seconds per size and placement",
                 number(&Options::time_budget, "--time-budget", 0.001, 1e6))};
}

OptionSet precision() {
  return {option(kMeasuring, "-N,--run_cycles,--run-cycles", "N", "run the whole sweep N times; 0: until stopped",
                 integer(&Options::cycles, "--run-cycles", 0)),
          option(kMeasuring, "--target-precision", "PERCENT",
                 "add epochs until half of the interval's width is at most this",
                 number(&Options::target_precision_percent, "--target-precision", 0.001, 100)),
          option(kMeasuring, "--order", "ORDER",
                 "interleaved: sizes at random in each epoch; sequential: one size after the other", order())};
}

OptionSet seed() {
  return {option(kMeasuring, "--seed", "N", "seed of the random order; default: chosen and printed", random_seed())};
}

OptionSet timeout() {
  return {option(kMeasuring, "-T,--timeout", "SECONDS",
                 "end the job when a rank has made no progress for so long; 0: never",
                 number(&Options::timeout, "--timeout", 0, 1e6))};
}

OptionSet operation_times() {
  return {option(kMeasuring, "-m,--agg_iters,--agg-iters", "N", "operations in an iteration, started together",
                 integer(&Options::aggregated, "-m (operations in an iteration)", 1)),
          option(kMeasuring, "--timing", "MODE",
                 "pipelined: operations back to back; isolated: each by itself, started together",
                 choice(&Options::timing, "timing mode")),
          option(kMeasuring, "-a,--average", "N", "time over ranks: 0 rank 0's, 1 mean, 2 minimum, 3 maximum",
                 numbered(&Options::average, "-a (average)", 3)),
          option(kMeasuring, "-z,--blocking", "N",
                 "after each operation: 0 nothing, 1 wait and barrier (timed), 2 wait, 3 wait and barrier (not timed)",
                 numbered(&Options::blocking, "-z (blocking)", 3)),
          option(kMeasuring, "-C,--report_cputime,--report-cputime", "0|1",
                 "report the time until the operations were started, not completed",
                 zero_or_one(&Options::report_cpu_time, "-C (report cputime)"))};
}

OptionSet checks() {
  return {option(kBuffers, "-c,--check", "N", "extra checked operations per size; 0: check nothing",
                 integer(&Options::checks, "--check", 0))};
}

OptionSet buffers() {
  return {option(kBuffers, "--buffers", "POLICY",
                 "same: one buffer over and over; rotate: through the largest buffer; cold: through twice the "
                 "last-level cache",
                 choice(&Options::buffers, "buffer policy")),
          option(kBuffers, "-u,--unalign", "N", "shift the buffers by N elements",
                 integer(&Options::unalign, "-u (unalign)", 0, 1 << 20))};
}

OptionSet placement() {
  return {option(kBuffers, "--placement", "WHERE", "out, in or both: separate buffers, the same one, or each in turn",
                 choice(&Options::placement, "placement"))};
}

OptionSet library() {
  return {option(kBackend, "--backend", "NAME", "auto, mpi or nccl (GPUs)",
                 {[](Options& options, std::string_view text) { options.backend = choose(text, "backend", kBackends); },
                  [](const Options& options) { return options.backend; }}),
          option(kBackend, "--memory", "KIND", "host or cuda: where the buffers lie; 1: as -M 1", memory())};
}

OptionSet device() {
  return {option(kGpus, "--device", "N", "CUDA's number of every process's first GPU",
                 optional_integer(&Options::device, "--device", 0, 1023), "NCCL_TESTS_DEVICE")};
}

OptionSet split() {
  return {option(
      kBackend, "--split", "RULE",
      "groups that run at the same time, by the process's number: AND, OR, MOD or DIV and a number, such as MOD 2",
      {[](Options& options, std::string_view text) { options.split = parse_split(text).text(); },
       [](const Options& options) { return options.split; }},
      "NCCL_TESTS_SPLIT")};
}

OptionSet pairs(std::string_view otherwise) {
  return {option(kBackend, "--pairs", "RULE",
                 "ranks that exchange messages: adjacent, halves, hosts, loopback (each host with itself), many-to-one "
                 "and one-to-many (one rank of each other host and as many of the first one), all (every two ranks, in "
                 "rounds), shift:K (r with r + K in blocks of 2K), such as 0-4,1-5, or a file" +
                     (otherwise.empty() ? "" : fmt::format("; default: {}", otherwise)),
                 text(&Options::pairs, "--pairs", "a rule"))};
}

OptionSet concurrent() {
  return {option(kMeasuring, "--concurrent", "N",
                 "pairs measured at the same time, at most, and the others after them; 0: all that can be",
                 integer(&Options::concurrent, "--concurrent", 0))};
}

OptionSet window() {
  return {option(kMeasuring, "--window", "N", "messages under way at once, before they are waited for",
                 integer(&Options::window, "--window", 1, 1 << 20))};
}

OptionSet sockets() {
  return {option(kBackend, "--streams", "N", "TCP connections between two ranks",
                 integer(&Options::streams, "--streams", 1, 64)),
          option(kBackend, "--interface", "NAME", "the interface to use, or an address of it or of its network",
                 text(&Options::interface, "--interface", "a name"))};
}

OptionSet sweep() {
  return {option(kSizes, "-b,--bytes,--size", "SIZE", "size of a message, in bytes or with K, M, G, T", one_size()),
          option(kMeasuring, "-n,--iters", "N", "exactly N windows of --window messages in each direction of a pair",
                 optional_integer(&Options::iterations, "-n (iterations)", 1)),
          option(kMeasuring, "--time-budget", "SECONDS", "approximate seconds per direction of a pair",
                 number(&Options::time_budget, "--time-budget", 0.001, 1e6)),
          option(kBuffers, "-c,--check", "N", "0: do not check what arrives", integer(&Options::checks, "--check", 0)),
          option(kMeasuring, "--schedule", "ORDER",
                 "circle: every pair once, in rounds of disjoint pairs; shift: every rank sends to one and receives "
                 "from another, as mpiGraph does; random: new pairs at random in each round",
                 choice(&Options::schedule, "schedule")),
          option(kMeasuring, "--level", "WHAT",
                 "what is paired: host (the first rank of each), rank or gpu; auto: hosts, or ranks of one host",
                 choice(&Options::level, "level")),
          option(kMeasuring, "--rounds", "N",
                 "the first N rounds only; 0: all. With --find, at most N for everybody, without it 24",
                 integer(&Options::rounds, "--rounds", 0)),
          option(kMeasuring, "--find", "",
                 "a few rounds for everybody, more where readings scatter, then whatever is suspicious again, until it "
                 "is decided who is slow; exit 6 where something is, 7 where it could not be judged",
                 flag(&Options::find)),
          option(kMeasuring, "--tolerance", "SHARE",
                 "with --find: what share a rate may be below what is expected, such as 5% or 0.05", tolerance()),
          option(kMeasuring, "--measured", "FILE",
                 "go on where an earlier job of the same sweep was broken off: what plan_sweep --list-readings prints "
                 "is not measured again, and hosts of it that are not in this job are left out",
                 file_name(&Options::measured_file, "--measured")),
          option(kMeasuring, "--pair-timeout", "SECONDS", "give a pair up that takes longer than this in one direction",
                 number(&Options::pair_timeout, "--pair-timeout", 0.01, 1e5)),
          option(kOutput, "--matrix-csv", "FILE", "write the matrix: a line a receiver, a column a sender, GB/s",
                 file_name(&Options::matrix_csv_file, "--matrix-csv"))};
}

OptionSet gpus_of_process() {
  return {for_gpus("-g,--ngpus", "N", "GPUs of each thread", integer(&Options::gpus, "-g (GPUs)", 1, 1024))};
}

OptionSet nccl() {
  return {
      for_gpus("-t,--nthreads", "N", "threads of a process; one thread drives all their GPUs, by group calls",
               integer(&Options::threads, "-t (threads)", 1, 1024)),
      option(kGpus, "-M,--memory_report,--memory-report", "0|1", "report the GPU memory used, at the end",
             zero_or_one(&Options::memory_report, "-M (memory report)")),
      for_gpus("-G,--cudagraph", "N", "record the iterations as a CUDA graph and launch it N times",
               integer(&Options::graph_launches, "-G (graph launches)", 0)),
      for_gpus("-R,--local_register,--local-register", "0|1|2", "register buffers: 1 locally, 2 as symmetric windows",
               numbered(&Options::registration, "-R (registration)", 2)),
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
               integer(&Options::per_iteration_skip, "-K (iterations to skip)", 0))};
}

OptionSet json() {
  return {option(kOutput, "--json", "FILE", "write JSON Lines: context, what is measured as it comes, end",
                 file_name(&Options::json_file, "--json")),
          option(kOutput, "--force", "", "overwrite output files that exist", flag(&Options::force))};
}

OptionSet csv() {
  return {option(kOutput, "--csv", "FILE", "write CSV, one line per result", file_name(&Options::csv_file, "--csv"))};
}

OptionSet nccl_tests_json() {
  return {option(kOutput, "-J,--output_file,--output-file", "FILE", "write JSON in nccl-tests' own layout (version 3)",
                 file_name(&Options::nccl_tests_json_file, "-J"))};
}

OptionSet of_rows() {
  return {option(kOutput, "--samples", "", "put every sample into --json", flag(&Options::samples)),
          option(kOutput, "--stats", "", "print the statistics of every row below the table", flag(&Options::stats)),
          option(kOutput, "-S,--report_timestamps,--report-timestamps", "0|1", "append date and time to each row",
                 zero_or_one(&Options::timestamps, "--report-timestamps"))};
}

OptionSet quiet() {
  return {option(kOutput, "--quiet", "", "print only the table and its two closing lines", flag(&Options::quiet))};
}

OptionSet progress() {
  return {option(kOutput, "--progress", "", "show progress on stderr even where that is no terminal",
                 flag(&Options::progress))};
}

OptionSet least_bandwidth() {
  return {option(kOutput, "--min-bw", "GB/S", "exit 6 where the average bus bandwidth is below 0.9 of this",
                 number(&Options::min_average_busbw_gb_per_s, "--min-bw", 0, 1e9), "NCCL_TESTS_MIN_BW")};
}

}  // namespace fabricbench::option_sets
