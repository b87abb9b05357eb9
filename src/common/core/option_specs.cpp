#include "common/core/options.h"

#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/core/error.h"
#include "common/core/option_accessors.h"
#include "common/core/rdma_option_specs.h"
#include "common/core/split.h"

namespace fabricbench {
namespace {

using namespace option_parts;

constexpr Choices<MemoryKind, 3> kMemories = {
    {{"auto", MemoryKind::kAuto}, {"host", MemoryKind::kHost}, {"cuda", MemoryKind::kCuda}}};
constexpr Choices<std::string_view, 3> kBackends = {{{"auto", "auto"}, {"mpi", "mpi"}, {"nccl", "nccl"}}};

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

Accessors iterations() {
  return {[](Options& options, std::string_view text) {
            options.iterations = parse_integer(text, "-n (iterations)", 1, kMostInt);
          },
          [](const Options& options) {
            return options.iterations ? fmt::format("{}", *options.iterations) : std::string();
          }};
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

Accessors file_name(std::string Options::*member, std::string_view what) { return text(member, what, "a file name"); }

/// RDMA programs have one registered buffer, which the other side knows; it is aligned.
OptionSpec without_verbs(OptionSpec made) {
  return only_where([](const ProgramFacts& program) { return program.verb == Verb::kNone; }, std::move(made));
}

/// An atomic operation has one size.
OptionSpec for_sizes(OptionSpec made) {
  return only_where([](const ProgramFacts& program) { return program.verb != Verb::kAtomic; },
                    offered_by(OfferedBy::kRows, std::move(made)));
}

OptionSpec for_libraries(OptionSpec made) { return offered_by(OfferedBy::kLibraries, std::move(made)); }
OptionSpec for_rows(OptionSpec made) { return offered_by(OfferedBy::kRows, std::move(made)); }
OptionSpec for_sweeps(OptionSpec made) { return offered_by(OfferedBy::kSweeps, std::move(made)); }
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
      for_sizes(spec(kSizes, "-b,--minbytes,--min-bytes", "SIZE", "first message size, in bytes or with K, M, G, T",
                     size(&Sweep::min_bytes))),
      for_sizes(spec(kSizes, "-e,--maxbytes,--max-bytes", "SIZE", "last message size; lowered to what fits in memory",
                     size(&Sweep::max_bytes))),
      for_sizes(spec(kSizes, "-i,--stepbytes,--step-bytes", "SIZE",
                     "added from size to size; used where --step-factor is 1", size(&Sweep::step_bytes))),
      for_sizes(spec(
          kSizes, "-f,--stepfactor,--step-factor", "N", "multiplied from size to size; 1: add --step-bytes instead",
          {[](Options& options, std::string_view text) {
             options.sweep.step_factor = static_cast<std::uint64_t>(parse_integer(text, "--step-factor", 1, kMostInt));
           },
           [](const Options& options) { return fmt::format("{}", options.sweep.step_factor); }})),
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
                         file_name(&Options::matrix_file, "--matrix"), "NCCL_TESTS_ALLTOALLV_MATRIX_FILE")),
      for_alltoallv(spec(kData, "--matrix-scale", "N", "multiplies the matrix",
                         number(&Options::matrix_scale, "--matrix-scale", 0, 1e12),
                         "NCCL_TESTS_ALLTOALLV_MATRIX_SCALE")),
      for_alltoallv(spec(kData, "--traffic-summary", "0|1", "what each rank sends and receives, below every row",
                         zero_or_one(&Options::traffic_summary, "--traffic-summary"),
                         "NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY")),
  };
}

std::vector<OptionSpec> iteration_options() {
  using enum OptionGroup;
  return {
      for_rows(spec(kMeasuring, "-n,--iters", "N",
                    "exactly N iterations a size, sizes in order, rows as they come, no interval", iterations())),
      for_rows(spec(kMeasuring, "-w,--warmup_iters,--warmup-iters", "N",
                    "untimed iterations before each epoch of a size", integer(&Options::warmup, "--warmup-iters", 0))),
      for_collectives(spec(kMeasuring, "-m,--agg_iters,--agg-iters", "N",
                           "operations in an iteration, started together",
                           integer(&Options::aggregated, "-m (operations in an iteration)", 1))),
      for_rows(spec(kMeasuring, "-N,--run_cycles,--run-cycles", "N", "run the whole sweep N times; 0: until stopped",
                    integer(&Options::cycles, "--run-cycles", 0))),
      for_collectives(spec(kMeasuring, "--timing", "MODE",
                           "pipelined: operations back to back; isolated: each by itself, started together",
                           choice(&Options::timing, "timing mode"))),
      for_rows(spec(kMeasuring, "--epochs", "N", "epochs of each size at least; 6 or more give an interval",
                    integer(&Options::epochs, "--epochs", 1, 1000))),
      for_rows(spec(kMeasuring, "--target-precision", "PERCENT",
                    "add epochs until the interval's half-width is at most this",
                    number(&Options::target_precision_percent, "--target-precision", 0.001, 100))),
      for_rows(spec(kMeasuring, "--time-budget", "SECONDS", "time to spend on a size and placement, about",
                    number(&Options::time_budget, "--time-budget", 0.001, 1e6))),
      for_rows(spec(kMeasuring, "--order", "ORDER",
                    "interleaved: sizes at random in each epoch; sequential: one size after the other",
                    {[](Options& options, std::string_view text) { options.order = choose<Order>(text, "order"); },
                     [](const Options& options) {
                       return options.order ? std::string(name(*options.order)) : std::string();
                     }})),
  };
}

std::vector<OptionSpec> timing_options() {
  using enum OptionGroup;
  return {
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
           number(&Options::timeout, "--timeout", 0, 1e6)),
  };
}

std::vector<OptionSpec> buffer_options() {
  using enum OptionGroup;
  return {
      without_verbs(
          spec(kBuffers, "--buffers", "POLICY",
               "same: one buffer over and over; rotate: through the largest buffer; cold: through twice the last-level "
               "cache",
               choice(&Options::buffers, "buffer policy"))),
      for_collectives(spec(kBuffers, "--placement", "WHERE",
                           "out, in or both: separate buffers, the same one, or each in turn",
                           choice(&Options::placement, "placement"))),
      without_verbs(spec(kBuffers, "-u,--unalign", "N", "shift the buffers by N elements",
                         integer(&Options::unalign, "-u (unalign)", 0, 1 << 20))),
      for_rows(spec(kBuffers, "-c,--check", "N", "extra checked operations a size; 0: check nothing",
                    integer(&Options::checks, "--check", 0))),
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
                      "ranks that exchange messages: adjacent, halves, hosts, loopback (each host with itself), "
                      "many-to-one and one-to-many (one rank of each other host and as many of the first one), all "
                      "(every two ranks, in rounds), shift:K (r with r + K in blocks of 2K), such as 0-4,1-5, or a "
                      "file; without it, multi_pair_bw takes adjacent ones, and others one rank each of two hosts",
                      text(&Options::pairs, "--pairs", "a rule"))),
      offered_by(OfferedBy::kWindows,
                 spec(kMeasuring, "--window", "N", "messages under way at once, before they are waited for",
                      integer(&Options::window, "--window", 1, 1 << 20))),
      offered_by(OfferedBy::kSockets, spec(kBackend, "--streams", "N", "TCP connections between two ranks",
                                           integer(&Options::streams, "--streams", 1, 64))),
      offered_by(OfferedBy::kSockets,
                 spec(kBackend, "--interface", "NAME", "the interface to use, or an address of it or of its network",
                      text(&Options::interface, "--interface", "a name"))),
  };
}

std::vector<OptionSpec> sweep_options() {
  using enum OptionGroup;
  return {
      for_sweeps(spec(kSizes, "-b,--bytes,--size", "SIZE", "size of a message, in bytes or with K, M, G, T",
                      {[](Options& options, std::string_view text) {
                         options.sweep.min_bytes = parse_bytes(text);
                         options.sweep.max_bytes = options.sweep.min_bytes;
                       },
                       [](const Options& options) { return exact_bytes(options.sweep.max_bytes); }})),
      for_sweeps(spec(kMeasuring, "-n,--iters", "N",
                      "exactly N windows of --window messages in each direction of a pair", iterations())),
      for_sweeps(spec(kMeasuring, "--time-budget", "SECONDS", "time to spend on each direction of a pair, about",
                      number(&Options::time_budget, "--time-budget", 0.001, 1e6))),
      for_sweeps(
          spec(kBuffers, "-c,--check", "N", "0: do not check what arrives", integer(&Options::checks, "--check", 0))),
      for_sweeps(
          spec(kMeasuring, "--schedule", "ORDER",
               "circle: every pair once, in rounds of disjoint pairs; shift: every rank sends to one and receives "
               "from another, as mpiGraph does; random: new pairs at random in each round",
               choice(&Options::schedule, "schedule"))),
      for_sweeps(spec(kMeasuring, "--level", "WHAT",
                      "what is paired: host (the first rank of each), rank or gpu; auto: hosts, or ranks of one host",
                      choice(&Options::level, "level"))),
      for_sweeps(spec(kMeasuring, "--rounds", "N",
                      "the first N rounds only; 0: all. With --find, at most N for everybody, without it 24",
                      integer(&Options::rounds, "--rounds", 0))),
      for_sweeps(
          spec(kMeasuring, "--find", "",
               "a few rounds for everybody, more where readings scatter, then whatever is suspicious again, until "
               "it is decided who is slow; exit 6 where something is, 7 where it could not be judged",
               flag(&Options::find))),
      for_sweeps(spec(kMeasuring, "--tolerance", "SHARE",
                      "with --find: what share a rate may be below what is expected, such as 5% or 0.05", tolerance())),
      for_sweeps(spec(kMeasuring, "--measured", "FILE",
                      "go on where an earlier job of the same sweep was broken off: what plan_sweep --list-readings "
                      "prints is not measured again, and hosts of it that are not in this job are left out",
                      file_name(&Options::measured_file, "--measured"))),
      only_where([](const ProgramFacts& program) { return program.sweep || program.pairs; },
                 spec(kMeasuring, "--concurrent", "N",
                      "pairs measured at the same time, at most, and the others after them; 0: all that can be",
                      integer(&Options::concurrent, "--concurrent", 0))),
      for_sweeps(spec(kMeasuring, "--pair-timeout", "SECONDS",
                      "give a pair up that takes longer than this in one direction",
                      number(&Options::pair_timeout, "--pair-timeout", 0.01, 1e5))),
      for_sweeps(spec(kOutput, "--matrix-csv", "FILE", "write the matrix: a line a receiver, a column a sender, GB/s",
                      file_name(&Options::matrix_csv_file, "--matrix-csv"))),
  };
}

std::vector<OptionSpec> gpu_options() {
  return {
      offered_by(OfferedBy::kRowsOfLibraries,
                 for_gpus("-g,--ngpus", "N", "GPUs of each thread", integer(&Options::gpus, "-g (GPUs)", 1, 1024))),
      for_gpus("-t,--nthreads", "N", "threads of a process; one thread drives all their GPUs, by group calls",
               integer(&Options::threads, "-t (threads)", 1, 1024)),
      for_libraries(spec(
          OptionGroup::kGpus, "--device", "N",
          "CUDA's number of every process's first GPU; gpu_copy_bw: of the only one",
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
      spec(kOutput, "--json", "FILE", "write JSON Lines: context, what is measured as it comes, end",
           file_name(&Options::json_file, "--json")),
      spec(kOutput, "--csv", "FILE", "write CSV, a line a row and placement, or a reading",
           file_name(&Options::csv_file, "--csv")),
      for_collectives(spec(kOutput, "-J,--output_file,--output-file", "FILE",
                           "write JSON in nccl-tests' own layout (version 3)",
                           file_name(&Options::nccl_tests_json_file, "-J"))),
      spec(kOutput, "--force", "", "overwrite output files that exist", flag(&Options::force)),
      for_rows(spec(kOutput, "--samples", "", "put every sample into --json", flag(&Options::samples))),
      for_rows(
          spec(kOutput, "--stats", "", "print the statistics of every row below the table", flag(&Options::stats))),
      for_rows(spec(kOutput, "-S,--report_timestamps,--report-timestamps", "0|1", "append date and time to each row",
                    {[](Options& options, std::string_view text) {
                       options.timestamps = parse_integer(text, "--report-timestamps", 0, 1) == 1;
                     },
                     [](const Options& options) { return options.timestamps ? "1" : "0"; }})),
      spec(kOutput, "--quiet", "", "print only the table and its two closing lines", flag(&Options::quiet)),
      spec(kOutput, "--progress", "", "show progress on stderr even where that is no terminal",
           flag(&Options::progress)),
      for_collectives(spec(kOutput, "--min-bw", "GB/S", "exit 6 where the average bus bandwidth is below 0.9 of this",
                           number(&Options::min_average_busbw_gb_per_s, "--min-bw", 0, 1e9), "NCCL_TESTS_MIN_BW")),
  };
}

}  // namespace

const std::vector<OptionSpec>& option_specs() {
  static const std::vector<OptionSpec> specs = [] {
    std::vector<OptionSpec> all;
    for (auto&& part :
         {size_options(), traffic_options(), iteration_options(), timing_options(), buffer_options(), backend_options(),
          pair_options(), sweep_options(), gpu_options(), rdma_option_specs(), output_options()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }();
  return specs;
}

std::string_view heading(OptionGroup group) {
  constexpr std::array<std::string_view, 8> kHeadings = {"Message sizes", "Data", "Measuring", "Buffers",
                                                         "Backend",       "GPUs", "RDMA",      "Output"};
  return kHeadings[static_cast<std::size_t>(group)];
}

}  // namespace fabricbench
