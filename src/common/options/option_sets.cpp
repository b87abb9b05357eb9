#include "common/options/option_sets.h"

#include <algorithm>
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

template <Named Enum>
std::vector<std::string> all_or() {
  std::vector<std::string> words = words_of<Enum>();
  words.insert(words.begin(), "all");
  return words;
}

std::vector<std::string> reductions() {
  std::vector<std::string> words = all_or<Reduction>();
  std::erase(words, name(Reduction::kNone));
  return words;
}

Accessors step_factor() {
  return {[](Options& options, std::string_view text) {
            options.sizes.step_factor = static_cast<std::uint64_t>(parse_integer(text, "--step-factor", 1, kMostInt));
          },
          [](const Options& options) { return fmt::format("{}", options.sizes.step_factor); }};
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
          [](const Options& options) { return options.order ? std::string(name(*options.order)) : std::string(); },
          words_of<Order>()};
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
            options.sweep.tolerance = parse_number(text, "--tolerance", 0.001 * scale, 0.9 * scale) / scale;
          },
          [](const Options& options) { return fmt::format("{}", options.sweep.tolerance); }};
}

Accessors allowed() {
  return {[](Options& options, std::string_view text) {
            options.comparison.allowed.clear();
            for (std::size_t at = 0; at <= text.size();) {
              const std::size_t end = std::min(text.find(',', at), text.size());
              while (at < end && text[at] == ' ') ++at;
              if (end == at) {
                throw UsageError(fmt::format("--allow '{}' has an empty key; give keys such as hosts,library", text));
              }
              options.comparison.allowed.emplace_back(text.substr(at, end - at));
              at = end + 1;
            }
          },
          [](const Options& options) { return fmt::format("{}", fmt::join(options.comparison.allowed, ",")); }};
}

/// nccl-tests' -M 0|1 and our choice of memory have the same long name, and different values.
Accessors memory() {
  return {[](Options& options, std::string_view text) {
            if (text == "0" || text == "1") {
              options.nccl.memory_report = text == "1";
            } else {
              options.memory = choose(text, "memory", kMemories);
            }
          },
          [](const Options& options) { return std::string(word_for(options.memory, kMemories)); }, words_of(kMemories)};
}

/// Why options have no effect.
std::string no_json(const Options& options) {
  return options.output.json_file.empty() ? "there is no --json FILE" : "";
}
std::string no_record(const Options& options) { return options.comparison.record_file.empty() ? no_json(options) : ""; }
std::string no_file(const Options& options) {
  const bool any = !options.output.csv_file.empty() || !options.output.nccl_tests_json_file.empty() ||
                   !options.preflight.junit_file.empty() || no_record(options).empty();
  return any ? "" : "no file is written";
}
std::string in_order(const Options& options) {
  return options.iterations || options.order == Order::kSequential ? "sizes are measured in order" : "";
}
std::string no_limit(const Options& options) { return options.timeout <= 0 ? "-T 0 sets no limit" : ""; }

Option for_gpus(std::string names, std::string value_name, std::string help, Accessors accessors) {
  Option made = option(kGpus, std::move(names), std::move(value_name), std::move(help), std::move(accessors));
  made.gpus_only = true;
  return made;
}

}  // namespace

OptionSet sizes() {
  return {
      option(kSizes, "-b,--minbytes,--min-bytes", "SIZE", "first message size, in bytes or with K, M, G, T",
             size(&SizeRange::min_bytes)),
      option(kSizes, "-e,--maxbytes,--max-bytes", "SIZE", "last message size; lowered to what fits in memory",
             size(&SizeRange::max_bytes)),
      option(kSizes, "-i,--stepbytes,--step-bytes", "SIZE", "increment between sizes, if no factor is given",
             size(&SizeRange::step_bytes)),
      option(kSizes, "-f,--stepfactor,--step-factor", "N", "factor between sizes; 1: use --stepbytes", step_factor())};
}

OptionSet data() {
  return {
      comparable(option(
          kData, "-d,--datatype", "TYPE",
          "datatype: all, int8, uint8, int32, uint32, int64, uint64, half, float, double, bfloat16, f8e4m3 or f8e5m2",
          {[](Options& options, std::string_view text) { options.datatypes = parse_datatypes(text); },
           [](const Options& options) { return one_or_all(options.datatypes); }, all_or<DataType>()})),
      comparable(option(kData, "-o,--op", "OP", "reduction: all, sum, prod, min, max, avg or mulsum",
                        {[](Options& options, std::string_view text) { options.reductions = parse_reductions(text); },
                         [](const Options& options) { return one_or_all(options.reductions); }, reductions()})),
      comparable(option(kData, "-r,--root", "RANK", "root rank of rooted operations, or all", root()))};
}

OptionSet traffic() {
  return {option(kData, "--spread", "SHARE", "imbalance: 0 equal parts, 1 larger parts to distant ranks",
                 number(&TrafficOptions::spread, "--spread", 0, 1), "NCCL_TESTS_ALLTOALLV_SPREAD"),
          option(kData, "--matrix", "FILE", "read the bytes from each rank (row) to each rank (column)",
                 file_name(&TrafficOptions::matrix_file, "--matrix"), "NCCL_TESTS_ALLTOALLV_MATRIX_FILE"),
          option(kData, "--matrix-scale", "N", "factor for all values of the matrix",
                 number(&TrafficOptions::matrix_scale, "--matrix-scale", 0, 1e12), "NCCL_TESTS_ALLTOALLV_MATRIX_SCALE"),
          comparable(option(
              kData, "--traffic-summary", "0|1", "print what each rank sends and receives below every row",
              zero_or_one(&TrafficOptions::summary, "--traffic-summary"), "NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY"))};
}

OptionSet repeats() {
  return {comparable(option(kMeasuring, "-n,--iters", "N", "run exactly N iterations per size, in order, no intervals",
                            optional_integer(&Options::iterations, "-n (iterations)", 1))),
          option(kMeasuring, "-w,--warmup_iters,--warmup-iters", "N", "untimed iterations before each epoch",
                 integer(&Options::warmup, "--warmup-iters", 0))};
}

OptionSet epochs(std::string_view budgeted) {
  return {
      comparable(option(kMeasuring, "--epochs", "N", "minimum measurement rounds (epochs) per size; 6 for intervals",
                        integer(&Options::epochs, "--epochs", 1, 1000))),
      comparable(option(kMeasuring, "--time-budget", "SECONDS", fmt::format("approximate seconds per {}", budgeted),
                        number(&Options::time_budget, "--time-budget", 0.001, 1e6)))};
}

OptionSet quick() {
  return {comparable(
      option(kMeasuring, "--quick", "", "measure for about 3 seconds in all, less precisely", flag(&Options::quick)))};
}

OptionSet precision() {
  return {comparable(option(kMeasuring, "-N,--run_cycles,--run-cycles", "N",
                            "number of runs over all sizes; 0: until stopped",
                            integer(&Options::cycles, "--run-cycles", 0))),
          comparable(option(kMeasuring, "--target-precision", "PERCENT",
                            "add epochs until half the interval's width is below this",
                            number(&Options::target_precision_percent, "--target-precision", 0.001, 100))),
          comparable(
              option(kMeasuring, "--order", "ORDER", "order of sizes: interleaved (random) or sequential", order()))};
}

OptionSet seed() {
  return {comparable(unused_where(
      option(kMeasuring, "--seed", "N", "seed of the random order; default: chosen and printed", random_seed()),
      in_order))};
}

OptionSet timeout() {
  return {
      comparable(option(kMeasuring, "-T,--timeout", "SECONDS", "end the job after this time without progress; 0: never",
                        number(&Options::timeout, "--timeout", 0, 1e6))),
      unused_where(
          comparable(option(kMeasuring, "--stall-action", "ACTION",
                            "when no progress ends the job: end it, or print the stacks of stuck ranks first (stack)",
                            choice(&Options::stall_action, "stall action"))),
          no_limit)};
}

OptionSet operation_times() {
  return {option(kMeasuring, "-m,--agg_iters,--agg-iters", "N", "operations per iteration, started together",
                 integer(&Options::aggregated, "-m (operations in an iteration)", 1)),
          option(kMeasuring, "--timing", "MODE", "pipelined: back to back; isolated: one by one, common start",
                 choice(&Options::timing, "timing mode")),
          option(kMeasuring, "--like", "TOOL",
                 "measure as fabricbench does, or as nccl-tests: 20 iterations by the host's clock, 1 warm-up, mean "
                 "over ranks, rotating buffers",
                 choice(&Options::like, "tool")),
          option(kMeasuring, "-a,--average", "N", "time over ranks: 0 rank 0's, 1 mean, 2 minimum, 3 maximum",
                 numbered(&Options::average, "-a (average)", 3)),
          option(kMeasuring, "-z,--blocking", "N",
                 "after each operation: 0 nothing, 1 wait and timed barrier, 2 wait, 3 wait and untimed barrier",
                 numbered(&Options::blocking, "-z (blocking)", 3)),
          shapes_tables(comparable(option(kMeasuring, "-C,--report_cputime,--report-cputime", "0|1",
                                          "report the time to start operations, not to complete them",
                                          zero_or_one(&Options::report_cpu_time, "-C (report cputime)"))))};
}

OptionSet checks() {
  return {comparable(option(kBuffers, "-c,--check", "N", "additional checked operations per size; 0: check nothing",
                            number_of_checks()))};
}

OptionSet checks_or_all() {
  return {comparable(
      option(kBuffers, "-c,--check", "N|all",
             "additional checked operations per size; 0: check nothing; all: check every message, each at a place "
             "of its own, after its window",
             number_of_checks(&Options::check_all)))};
}

OptionSet checks_or_each() {
  return {comparable(
      option(kBuffers, "-c,--check", "N|all",
             "additional checked operations per size; 0: check nothing; all: time operations one by one, and check "
             "each on fresh buffers",
             number_of_checks(&Options::check_each)))};
}

OptionSet repeatability() {
  return {
      comparable(option(kBuffers, "--repeatable", "", "run each reduction twice on the same input and compare the bits",
                        flag(&Options::repeatable)))};
}

OptionSet buffers() {
  return {option(kBuffers, "--buffers", "POLICY",
                 "buffers of each operation: same, rotate (through the largest buffer) or cold (through twice the "
                 "last-level cache)",
                 choice(&Options::buffers, "buffer policy")),
          option(kBuffers, "-u,--unalign", "N", "shift the buffers by N elements",
                 integer(&Options::unalign, "-u (unalign)", 0, 1 << 20))};
}

OptionSet placement() {
  return {comparable(option(kBuffers, "--placement", "WHERE", "out-of-place (out), in-place (in) or both",
                            choice(&Options::placement, "placement")))};
}

OptionSet library() {
  return {option(kBackend, "--backend", "NAME", "library to measure: auto, mpi or nccl (GPUs)",
                 {[](Options& options, std::string_view text) { options.backend = choose(text, "backend", kBackends); },
                  [](const Options& options) { return options.backend; }, words_of(kBackends)}),
          option(kBackend, "--memory", "KIND", "memory of the buffers: auto, host or cuda", memory())};
}

OptionSet device(std::string_view what) {
  return {option(kGpus, "--device", "N", fmt::format("CUDA's number of {}", what),
                 optional_integer(&Options::device, "--device", 0, 1023), "NCCL_TESTS_DEVICE")};
}

OptionSet split() {
  return {option(kBackend, "--split", "RULE", "split processes into groups by number: AND, OR, MOD or DIV N",
                 {[](Options& options, std::string_view text) { options.split = parse_split(text).text(); },
                  [](const Options& options) { return options.split; }},
                 "NCCL_TESTS_SPLIT")};
}

OptionSet pairs(std::string_view otherwise) {
  return {option(kBackend, "--pairs", "RULE",
                 "pairs of ranks: adjacent, halves, hosts, loopback (within each host), many-to-one or one-to-many "
                 "(with the first "
                 "host), all (in rounds), shift:K (r with r + K in blocks of 2K), a list such as 0-4,1-5, or a file" +
                     (otherwise.empty() ? "" : fmt::format("; default: {}", otherwise)),
                 text(&Options::pairs, "--pairs", "a rule"))};
}

OptionSet concurrent() {
  return {option(kMeasuring, "--concurrent", "N", "maximum number of pairs at the same time; 0: no limit",
                 integer(&Options::concurrent, "--concurrent", 0))};
}

OptionSet window() {
  return {option(kMeasuring, "--window", "N", "messages in flight at once",
                 integer(&Options::window, "--window", 1, 1 << 20))};
}

OptionSet sockets() {
  return {option(kBackend, "--streams", "N", "TCP connections per pair of ranks",
                 integer(&TcpOptions::streams, "--streams", 1, 64)),
          option(kBackend, "--interface", "NAME", "network interface: name, address, or address in its network",
                 text(&TcpOptions::interface, "--interface", "a name"))};
}

OptionSet sweep() {
  return {
      option(kSizes, "-b,--bytes,--size", "SIZE", "the only message size, in bytes or with K, M, G, T", one_size()),
      comparable(option(kMeasuring, "-n,--iters", "N", "measure exactly N windows in each direction of a pair",
                        optional_integer(&Options::iterations, "-n (iterations)", 1))),
      comparable(option(kMeasuring, "--time-budget", "SECONDS", "approximate seconds per direction of a pair",
                        number(&Options::time_budget, "--time-budget", 0.001, 1e6))),
      comparable(option(kBuffers, "-c,--check", "N", "0: do not check received data", number_of_checks())),
      option(
          kMeasuring, "--schedule", "ORDER",
          "rounds: circle (disjoint pairs, each pair once), random (disjoint pairs) or shift (rings, as in mpiGraph)",
          choice(&SweepOptions::schedule, "schedule")),
      option(kMeasuring, "--level", "WHAT", "unit to pair: host, rank or gpu; auto: rank on a single host",
             choice(&SweepOptions::level, "level")),
      comparable(option(kMeasuring, "--rounds", "N", "maximum number of rounds; 0: all, or with --find 24",
                        integer(&SweepOptions::rounds, "--rounds", 0))),
      comparable(option(kMeasuring, "--find", "",
                        "measure until the slow hosts are known; exit 6 if any, 7 if it cannot be judged",
                        flag(&SweepOptions::find))),
      comparable(option(kMeasuring, "--tolerance", "SHARE",
                        "with --find: deficit that counts as slow, such as 5% or 0.05", tolerance())),
      comparable(option(kMeasuring, "--measured", "FILE",
                        "continue a sweep: skip the readings in FILE, from plan_sweep --list-readings",
                        file_name(&SweepOptions::measured_file, "--measured"))),
      comparable(option(kMeasuring, "--pair-timeout", "SECONDS", "time limit of one direction of a pair",
                        number(&SweepOptions::pair_timeout, "--pair-timeout", 0.01, 1e5))),
      option(kOutput, "--matrix-csv", "FILE", "write the matrix: GB/s by receiver (line) and sender (column)",
             file_name(&SweepOptions::matrix_csv_file, "--matrix-csv"))};
}

OptionSet gpus_of_process() {
  return {for_gpus("-g,--ngpus", "N", "GPUs per thread", integer(&NcclOptions::gpus, "-g (GPUs)", 1, 1024))};
}

OptionSet one_sided() {
  return {for_gpus("--one-sided", "0|1", "1: the sender writes into the receiver's memory (ncclPutSignal)",
                   zero_or_one(&NcclOptions::one_sided, "--one-sided"))};
}

OptionSet nccl() {
  return {
      for_gpus("-t,--nthreads", "N", "threads per process; one thread drives all their GPUs",
               integer(&NcclOptions::threads, "-t (threads)", 1, 1024)),
      comparable(option(kGpus, "-M,--memory_report,--memory-report", "0|1",
                        "report GPU memory usage at the end; also by --memory 1",
                        zero_or_one(&NcclOptions::memory_report, "-M (memory report)"))),
      for_gpus("-G,--cudagraph", "N", "record the iterations as a CUDA graph, launched N times",
               integer(&NcclOptions::graph_launches, "-G (graph launches)", 0)),
      for_gpus("-R,--local_register,--local-register", "0|1|2",
               "register buffers: 0 no, 1 locally, 2 as symmetric windows",
               numbered(&NcclOptions::registration, "-R (registration)", 2)),
      for_gpus("-x,--cta_policy,--cta-policy", "0|1|2", "NCCL's CTA policy; -1: NCCL's default",
               integer(&NcclOptions::cta_policy, "-x (CTA policy)", -1, 2)),
      for_gpus("-p,--parallel_init,--parallel-init", "0|1", "initialise a process's GPUs in parallel",
               zero_or_one(&NcclOptions::parallel_init, "-p (parallel init)")),
      for_gpus("-y,--stream_null,--stream-null", "0|1", "1: use the null stream",
               zero_or_one(&NcclOptions::null_stream, "-y (null stream)")),
      for_gpus("-D,--device_implementation,--device-implementation", "N",
               "use NCCL's device interface; 0: NCCL's own kernels",
               integer(&NcclOptions::device_implementation, "-D (device implementation)", 0, 4)),
      for_gpus("-V,--device_cta_count,--device-cta-count", "N", "number of CTAs of the kernels of -D",
               integer(&NcclOptions::device_ctas, "-V (CTAs)", 1, 128)),
      shapes_tables(for_gpus("-I,--per_iter_timing,--per-iter-timing", "0|1",
                             "add columns with the GPU's time of single iterations",
                             zero_or_one(&Options::per_iteration, "-I (time of each iteration)"))),
      comparable(for_gpus("-K,--per_iter_skip,--per-iter-skip", "N", "exclude the first N iterations from -I's columns",
                          integer(&Options::per_iteration_skip, "-K (iterations to skip)", 0)))};
}

OptionSet json_file() {
  return {
      option(kOutput, "--json", "FILE", "write all records as JSON Lines to FILE; -: to stdout, the table to stderr",
             file_name(&OutputOptions::json_file, "--json")),
      unused_where(option(kOutput, "--label", "TEXT", "name of this run in --json, such as 'after repair'",
                          text(&OutputOptions::label, "--label", "a name")),
                   no_record),
      unused_where(option(kOutput, "--force", "", "overwrite existing output files", flag(&OutputOptions::force)),
                   no_file)};
}

OptionSet baselines() {
  return {option(kOutput, "--record", "FILE", "add this run to the baseline in FILE",
                 file_name(&ComparisonOptions::record_file, "--record")),
          option(kOutput, "--baseline", "FILE",
                 "compare with the baseline in FILE; exit 6 if a row is slower, 7 if it cannot be judged",
                 file_name(&ComparisonOptions::baseline_file, "--baseline")),
          option(kOutput, "--allow", "KEYS", "compare although these differ from the baseline, such as hosts,library",
                 allowed()),
          option(kOutput, "--detect", "PERCENT", "slowdown of all rows that --baseline must not miss",
                 number(&ComparisonOptions::wanted_slowdown_percent, "--detect", 0.1, 1000))};
}

OptionSet expectation() {
  return {option(kOutput, "--expect", "PERCENT",
                 "require this share of what NICs and links allow; exit 6 below, 7 if it is unknown",
                 number(&ExpectationOptions::expected_percent, "--expect", 0, 100)),
          option(kOutput, "--line-rate", "GBIT/S", "rate of each NIC for --expect; 0: as the system reports it",
                 number(&ExpectationOptions::line_rate_gbit_per_s, "--line-rate", 0, 1e6))};
}

OptionSet preset() {
  return {option(kOutput, "--preset", "NAME", "compare with the published figures of a preset, or of a file",
                 text(&ExpectationOptions::preset, "--preset", "a name")),
          option(kOutput, "--strict", "", "exit 6 if a figure of --preset is not reached, 7 if it was not measured",
                 flag(&ExpectationOptions::strict))};
}

OptionSet csv() {
  return {option(kOutput, "--csv", "FILE", "write CSV to FILE, one line per result; -: to stdout",
                 file_name(&OutputOptions::csv_file, "--csv"))};
}

OptionSet nccl_tests_json() {
  return {option(kOutput, "-J,--output_file,--output-file", "FILE",
                 "write JSON in nccl-tests' layout (version 3) to FILE",
                 file_name(&OutputOptions::nccl_tests_json_file, "-J"))};
}

OptionSet of_rows() {
  return {
      unused_where(option(kOutput, "--samples", "", "include every sample in --json", flag(&OutputOptions::samples)),
                   no_json),
      option(kOutput, "--stats", "", "print statistics of every row below the table", flag(&OutputOptions::stats)),
      shapes_tables(option(kOutput, "-S,--report_timestamps,--report-timestamps", "0|1",
                           "append the date and time to each row",
                           zero_or_one(&OutputOptions::timestamps, "--report-timestamps")))};
}

OptionSet quiet() {
  return {
      option(kOutput, "--quiet", "", "print only the table and its two closing lines", flag(&OutputOptions::quiet))};
}

OptionSet progress() {
  return {option(kOutput, "--progress", "", "show progress on stderr even if it is not a terminal",
                 flag(&OutputOptions::progress))};
}

OptionSet least_bandwidth() {
  return {option(kOutput, "--min-bw", "GB/S", "exit 6 if a pair's bandwidth, averaged over its rows, is below this",
                 number(&Options::min_bandwidth_gb_per_s, "--min-bw", 0, 1e9))};
}

OptionSet least_reading() {
  return {option(kOutput, "--min-bw", "GB/S", "exit 6 if a reading of some pair is below this",
                 number(&Options::min_bandwidth_gb_per_s, "--min-bw", 0, 1e9))};
}

OptionSet least_average_busbw() {
  return {option(kOutput, "--min-bw", "GB/S",
                 "exit 6 if the average bus bandwidth is below this, with --like nccl-tests below 0.9 of this",
                 number(&Options::min_bandwidth_gb_per_s, "--min-bw", 0, 1e9), "NCCL_TESTS_MIN_BW")};
}

}  // namespace fabricbench::option_sets
