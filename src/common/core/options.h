#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/datatype.h"
#include "common/core/names.h"
#include "common/core/rdma_options.h"
#include "common/core/schedule_kind.h"
#include "common/core/sweep.h"
#include "common/core/units.h"

namespace fabricbench {

enum class Timing { kPipelined, kIsolated };
constexpr auto names_of(Timing) { return std::to_array<std::string_view>({"pipelined", "isolated"}); }
enum class Order { kInterleaved, kSequential };
constexpr auto names_of(Order) { return std::to_array<std::string_view>({"interleaved", "sequential"}); }
enum class BufferPolicy { kSame, kRotate, kCold };
constexpr auto names_of(BufferPolicy) { return std::to_array<std::string_view>({"same", "rotate", "cold"}); }
enum class Placement { kOut, kIn, kBoth };
constexpr auto names_of(Placement) { return std::to_array<std::string_view>({"out", "in", "both"}); }
/// How the ranks' times become one (-a); the numbers are nccl-tests'.
enum class RankAggregate { kRank0 = 0, kMean = 1, kMin = 2, kMax = 3 };
/// What follows each operation (-z); the numbers are nccl-tests'.
enum class Blocking { kNone = 0, kBarrierTimed = 1, kWait = 2, kBarrierUntimed = 3 };

enum class MemoryKind { kAuto, kHost, kHugePages, kCuda };
/// How buffers are made known to the library beforehand (-R); the numbers are nccl-tests'.
enum class Registration { kNone = 0, kLocal = 1, kSymmetric = 2 };

/// What meets whom in a sweep over pairs.
enum class Level {
  kAuto,  ///< hosts, or ranks where there is one host
  kHost,  ///< the first rank of each host
  kRank,
  kGpu  ///< ranks, each with a GPU
};
constexpr auto names_of(Level) { return std::to_array<std::string_view>({"auto", "host", "rank", "gpu"}); }

inline constexpr int kAllRoots = -1;

/// An option that was set.
struct GivenOption {
  std::string key;           ///< the first long name without its dashes, with `_` for `-`
  std::string name;          ///< the first name, as it is typed: `-b`
  std::string value{};       ///< as text; empty: not set
  bool is_for_gpus = false;  ///< it takes the nccl backend, and is not what holds without it
};

/// Everything a command line can say.
struct Options {
  Sweep sweep{Bytes{32} << 20, Bytes{32} << 20, Bytes{1} << 20, 1};
  std::vector<DataType> datatypes{DataType::kFloat};
  std::vector<Reduction> reductions{Reduction::kSum};
  int root = 0;  ///< or kAllRoots

  std::optional<std::int64_t> iterations;  ///< -n: exactly so many, in one epoch
  std::int64_t aggregated = 1;
  std::int64_t warmup = 3;
  std::int64_t cycles = 1;  ///< 0: for ever
  Timing timing = Timing::kPipelined;
  std::int64_t epochs = 9;
  double target_precision_percent = 2.5;
  Seconds time_budget = 1;
  std::optional<Order> order;
  std::optional<std::uint64_t> seed;
  RankAggregate average = RankAggregate::kMax;
  Blocking blocking = Blocking::kNone;
  bool report_cpu_time = false;
  Seconds timeout = 300;  ///< 0: none

  BufferPolicy buffers = BufferPolicy::kSame;
  Placement placement = Placement::kBoth;
  std::int64_t unalign = 0;  ///< elements
  std::int64_t checks = 1;

  std::string backend = "auto";
  MemoryKind memory = MemoryKind::kAuto;
  std::string pairs;         ///< which ranks exchange messages, see choose_pairs; empty: two
  std::int64_t window = 64;  ///< messages under way at once
  std::int64_t streams = 1;  ///< TCP connections between two ranks
  std::string interface;     ///< of TCP: its name, or an address; empty: whichever reaches the other rank
  ScheduleKind schedule = ScheduleKind::kCircle;
  Level level = Level::kAuto;
  std::int64_t rounds = 0;      ///< of a sweep, at most; 0: all
  std::int64_t concurrent = 0;  ///< pairs measured at the same time, at most; 0: no limit
  bool find = false;            ///< rounds are planned one by one, until it is decided who is slow
  double tolerance = 0.05;      ///< of a rate, the share that it may be below what is expected
  std::string measured_file;    ///< what an earlier job has measured of the same sweep; empty: nothing
  Seconds pair_timeout = 10;    ///< for one round of a pair
  std::string matrix_csv_file;
  std::string split;  ///< how processes form groups, such as `MOD 2`; empty: all are one group
  std::int64_t threads = 1;
  std::int64_t gpus = 1;               ///< for each thread
  std::optional<std::int64_t> device;  ///< CUDA's number of every process's first device
  std::int64_t graph_launches = 0;     ///< -G; 0: no graph
  Registration registration = Registration::kNone;
  std::int64_t cta_policy = -1;  ///< NCCL's number; -1: the library's choice
  bool parallel_init = false;
  bool null_stream = false;
  std::int64_t device_implementation = 0;  ///< -D; 0: the library's host interface
  std::int64_t device_ctas = 16;
  bool memory_report = false;
  bool per_iteration = false;           ///< -I
  std::int64_t per_iteration_skip = 0;  ///< -K

  double spread = 1;  ///< alltoallv: how much what a rank gets grows with its distance, 0 to 1
  std::string matrix_file;
  double matrix_scale = 1;
  bool traffic_summary = false;  ///< alltoallv: what each rank sends and receives, below every row

  std::string json_file;
  std::string csv_file;
  std::string nccl_tests_json_file;
  bool force = false;
  bool samples = false;
  bool stats = false;
  bool timestamps = false;
  bool quiet = false;
  bool progress = false;
  double min_average_busbw_gb_per_s = 0;  ///< 0: not required

  RdmaOptions rdma;

  std::vector<GivenOption> given;  ///< what the command line or the environment set

  /// Whether any of these options was given, by their keys.
  [[nodiscard]] bool has_given(std::initializer_list<std::string_view> keys) const {
    return std::any_of(given.begin(), given.end(), [&](const GivenOption& option) {
      return std::find(keys.begin(), keys.end(), option.key) != keys.end();
    });
  }
};

}  // namespace fabricbench
