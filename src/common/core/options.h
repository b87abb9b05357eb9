#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/datatype.h"
#include "common/core/names.h"
#include "common/core/rdma_options.h"
#include "common/core/schedule.h"
#include "common/core/units.h"

namespace fabricbench {

enum class Timing { kPipelined, kIsolated };
constexpr auto names_of(Timing) { return std::to_array<std::string_view>({"pipelined", "isolated"}); }
/// The tool whose way of measuring is followed.
enum class ReferenceTool { kFabricbench, kNcclTests };
constexpr auto names_of(ReferenceTool) { return std::to_array<std::string_view>({"fabricbench", "nccl-tests"}); }
enum class Order { kInterleaved, kSequential };
constexpr auto names_of(Order) { return std::to_array<std::string_view>({"interleaved", "sequential"}); }
/// What a rank that is stuck does before the job ends.
enum class StallAction { kEnd, kStack };
constexpr auto names_of(StallAction) { return std::to_array<std::string_view>({"end", "stack"}); }
enum class BufferPolicy { kSame, kRotate, kCold };
constexpr auto names_of(BufferPolicy) { return std::to_array<std::string_view>({"same", "rotate", "cold"}); }
enum class Placement { kOut, kIn, kBoth };
constexpr auto names_of(Placement) { return std::to_array<std::string_view>({"out", "in", "both"}); }
/// How the ranks' times are combined (-a); the numbers are nccl-tests'.
enum class RankAggregate { kRank0 = 0, kMean = 1, kMin = 2, kMax = 3 };
/// What follows each operation (-z); the numbers are nccl-tests'.
enum class Blocking { kNone = 0, kBarrierTimed = 1, kWait = 2, kBarrierUntimed = 3 };

enum class MemoryKind { kAuto, kHost, kHugePages, kCuda };
/// How buffers are registered with the library beforehand (-R); the numbers are nccl-tests'.
enum class Registration { kNone = 0, kLocal = 1, kSymmetric = 2 };

/// The endpoints of a sweep over pairs.
enum class EndpointLevel {
  kAuto,  ///< hosts, or ranks where there is one host
  kHost,  ///< the first rank of each host
  kRank,
  kGpu  ///< ranks, each with a GPU
};
constexpr auto names_of(EndpointLevel) { return std::to_array<std::string_view>({"auto", "host", "rank", "gpu"}); }

inline constexpr int kAllRoots = -1;

struct Options;

/// An option that the user set.
struct GivenOption {
  std::string key;           ///< the first long name without its dashes, with `_` for `-`
  std::string name;          ///< first name, as typed: `-b`
  std::string value{};       ///< as text; empty: not set
  bool is_for_gpus = false;  ///< not its default, and needs the nccl backend
  /// Why it has no effect beside the other options; empty: it has one. Without a function it always has one.
  std::function<std::string(const Options&)> why_unused{};
};

/// The time for all measurements of --quick together.
inline constexpr Seconds kQuickTime = 2;

/// TCP, where it is measured.
struct TcpOptions {
  std::int64_t streams = 1;  ///< TCP connections between two ranks
  std::string interface;     ///< name or address of the TCP interface; empty: the one that reaches the peer
};

/// NCCL and its GPUs; names and short options are nccl-tests'.
struct NcclOptions {
  std::int64_t threads = 1;
  std::int64_t gpus = 1;  ///< per thread
  bool parallel_init = false;
  bool null_stream = false;
  std::int64_t graph_launches = 0;  ///< -G; 0: no graph
  Registration registration = Registration::kNone;
  bool one_sided = false;                  ///< messages by NCCL's puts into the peer's memory, with signals
  std::int64_t cta_policy = -1;            ///< NCCL's number; -1: the library's choice
  std::int64_t device_implementation = 0;  ///< -D; 0: the library's host interface
  std::int64_t device_ctas = 16;
  bool memory_report = false;
};

/// Sweeps over pairs.
struct SweepOptions {
  ScheduleKind schedule = ScheduleKind::kCircle;
  EndpointLevel level = EndpointLevel::kAuto;
  std::int64_t rounds = 0;    ///< maximum number of rounds of a sweep; 0: all
  bool find = false;          ///< whether to plan rounds one by one until the slow hosts are known
  double tolerance = 0.05;    ///< share by which a rate may fall below the expected one
  std::string measured_file;  ///< readings of an earlier job of the same sweep; empty: none
  Seconds pair_timeout = 10;  ///< for one round of a pair
  std::string matrix_csv_file;
};

/// Pre-flight of hosts.
struct PreflightOptions {
  std::string recorded;       ///< folder of recorded hosts to examine; empty: this job's hosts
  std::string site_file;      ///< what is meant to be so; empty: there is none
  bool accept_as_is = false;  ///< whether to add what was found to that file
  std::string junit_file;
  Seconds watch_s = 0;  ///< of NICs; 0: none
};

/// What ranks send to each other in alltoallv.
struct TrafficOptions {
  double spread = 1;  ///< how strongly a rank's share grows with its distance, 0 to 1
  std::string matrix_file;
  double matrix_scale = 1;
  bool summary = false;  ///< print what each rank sends and receives below every row
};

/// The comparison with a baseline.
struct ComparisonOptions {
  std::string record_file;             ///< baseline that this run is added to; empty: none
  std::string baseline_file;           ///< baseline that this run is compared with; empty: none
  std::vector<std::string> allowed;    ///< keys of its identity that may differ
  double wanted_slowdown_percent = 5;  ///< that the comparison has to be able to see
};

/// What is expected of a run: by its links, and by published figures.
struct ExpectationOptions {
  double expected_percent = 0;      ///< of what the links allow, which the largest figures have to reach; 0: none
  double line_rate_gbit_per_s = 0;  ///< of each NIC; 0: as the system reports it
  std::string preset;               ///< name or file of published figures to compare with; empty: none
  bool strict = false;              ///< whether they are required
};

/// What is written, and where.
struct OutputOptions {
  std::string json_file;
  std::string csv_file;
  std::string nccl_tests_json_file;
  bool force = false;
  std::string label;  ///< what the user calls this run; only written to its records
  bool samples = false;
  bool stats = false;
  bool timestamps = false;
  bool quiet = false;
  bool progress = false;
};

/// Everything that a command line can set.
struct Options {
  SizeRange sizes{Bytes{32} << 20, Bytes{32} << 20, Bytes{1} << 20, 2};
  std::vector<DataType> datatypes{DataType::kFloat};
  std::vector<Reduction> reductions{Reduction::kSum};
  int root = 0;  ///< or kAllRoots

  std::optional<std::int64_t> iterations;  ///< -n: exact number, in one epoch
  std::int64_t aggregated = 1;
  std::int64_t warmup = 3;
  std::int64_t cycles = 1;  ///< 0: endless
  Timing timing = Timing::kPipelined;
  ReferenceTool like = ReferenceTool::kFabricbench;
  std::int64_t epochs = 9;
  double target_precision_percent = 2.5;
  Seconds time_budget = 1;
  bool quick = false;  ///< kQuickTime for all measurements together, which sets `time_budget`
  std::optional<Order> order;
  std::optional<std::uint64_t> seed;
  RankAggregate average = RankAggregate::kMax;
  Blocking blocking = Blocking::kNone;
  bool report_cpu_time = false;
  bool per_iteration = false;           ///< -I
  std::int64_t per_iteration_skip = 0;  ///< -K
  Seconds timeout = 300;                ///< 0: no limit
  StallAction stall_action = StallAction::kEnd;

  BufferPolicy buffers = BufferPolicy::kSame;
  Placement placement = Placement::kBoth;
  std::int64_t unalign = 0;  ///< elements
  std::int64_t checks = 1;
  bool check_all = false;   ///< whether every message is checked, at a place of its own
  bool check_each = false;  ///< whether every measured operation of a collective is checked
  bool repeatable = false;  ///< whether each reduction is run twice on the same input

  std::string backend = "auto";
  MemoryKind memory = MemoryKind::kAuto;
  std::string pairs;                   ///< which ranks exchange messages, see choose_pairs; empty: the default
  std::int64_t window = 64;            ///< messages in flight at once
  std::int64_t concurrent = 0;         ///< maximum number of pairs measured at the same time; 0: no limit
  std::string split;                   ///< rule that divides processes into groups, such as `MOD 2`; empty: one group
  std::optional<std::int64_t> device;  ///< CUDA's number of every process's first device
  double min_bandwidth_gb_per_s = 0;   ///< for the average busbw of the slowest group or pair; 0: not required

  TcpOptions tcp;
  NcclOptions nccl;
  SweepOptions sweep;
  PreflightOptions preflight;
  TrafficOptions traffic;
  ComparisonOptions comparison;
  ExpectationOptions expectation;
  OutputOptions output;
  RdmaOptions rdma;

  std::vector<GivenOption> given;  ///< options set by the command line or the environment

  /// Whether an output has more than the table: each host, and the choices of the library.
  [[nodiscard]] bool keeps_records() const {
    return !output.json_file.empty() || !comparison.record_file.empty() || !comparison.baseline_file.empty() ||
           expectation.expected_percent > 0 || !expectation.preset.empty();
  }
  /// Whether any of these options was given; `keys` are keys of options.
  [[nodiscard]] bool has_given(std::initializer_list<std::string_view> keys) const {
    return std::any_of(given.begin(), given.end(), [&](const GivenOption& option) {
      return std::find(keys.begin(), keys.end(), option.key) != keys.end();
    });
  }
};

}  // namespace fabricbench
