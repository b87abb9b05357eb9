#pragma once

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/core/options.h"
#include "common/core/units.h"

namespace fabricbench {

/// The GPU that a rank uses.
struct GpuFacts {
  int device = 0;  ///< CUDA's number in the rank's process
  std::string model;
  std::string pci;  ///< such as 0000:42:00.0
  std::string driver;
  std::optional<int> numa_node;
  std::string process_on_node;  ///< whether the rank's process runs on that node: yes, partly, no or unknown
  std::vector<std::string> nearest_nics;
  std::string uuid{};  ///< no other GPU has it: `GPU-5a0e3f7c-...`; empty: not known
};

/// One rank of the job.
struct RankFacts {
  int rank = 0;
  int local_rank = 0;
  std::int64_t pid = 0;
  std::string host;
  std::string processor;
  std::string binding;  ///< processing units that it may run on, such as 0-15
  int group = 0;
  int group_rank = 0;  ///< in its group, as rows number it
  std::optional<GpuFacts> gpu;
  std::optional<Seconds> reader_round_trip{};  ///< see Session::reader_round_trip
  std::vector<std::string> obstacles{};        ///< see Session::obstacles
  double host_memory_rate = 0;                 ///< see Session::host_memory_rate
};

/// What follows of one of several groups.
struct GroupFacts {
  std::string ranks;    ///< such as `0-3, 8`; of a pair, the first and the second: `8, 0`
  std::string hosts;    ///< the same of their hosts
  std::string ports{};  ///< of a pair, the ports that both ends use: `mlx5_0 port 1, mlx5_1 port 1`; empty: not known
  int round = 0;        ///< in which of several rounds of pairs it is measured
};

/// What one host's first rank saw of it; only gathered for JSON.
struct HostFacts {
  std::string name;
  std::string kernel;
  std::string description_json;  ///< processor, NUMA nodes, network devices: an object
};

/// What a program's rows are about, which is what its table shows.
enum class Figure {
  kCollective,   ///< one operation of all ranks of a group
  kLatency,      ///< a message between two ranks: half a round trip
  kBandwidth,    ///< a window of messages from the first rank of a pair to the second
  kBothWays,     ///< the same in both directions at once
  kSweep,        ///< pair after pair, in rounds; see PairReading
  kCopies,       ///< copies between GPUs and memory within hosts; see CopyRow
  kConnections,  ///< connections over rdma_cm between the ranks of each pair; see ConnectRow
};

/// Whether rows are about messages between the two ranks of a pair.
[[nodiscard]] constexpr bool is_of_pairs(Figure figure) {
  return figure == Figure::kLatency || figure == Figure::kBandwidth || figure == Figure::kBothWays;
}

/// Of what a row has as algbw, what goes in one direction.
[[nodiscard]] constexpr double one_way(Figure figure, double algbw) {
  return figure == Figure::kBothWays ? algbw / 2 : algbw;
}

/// Everything that is known before the first measurement.
struct Context {
  std::string program;  ///< such as all_reduce_perf
  Figure figure = Figure::kCollective;
  std::vector<std::string> command_line;
  Options options;
  std::vector<std::pair<std::string, std::string>> option_values;  ///< key and text, as declared
  std::string backend;
  std::string backend_reason;
  std::string library;  ///< of the backend: name and version
  int nccl_version = 0;
  std::string launcher;
  int hosts = 0;
  std::vector<RankFacts> ranks;
  std::vector<HostFacts> host_facts;
  std::vector<GroupFacts> groups;                                ///< one, or those of --split
  std::vector<std::pair<std::string, std::string>> environment;  ///< whitelisted variables
  double wire_rate = 0;    ///< bytes per second that the slowest port used can do in one direction; 0: not known
  std::string time_means;  ///< what the time of a row is, where the figure alone does not say it
  std::uint64_t seed = 0;
  std::int64_t rounds = 0;  ///< of a sweep
  Seconds timer_cost = 0;   ///< one clock read
  Seconds clock_error = 0;  ///< bound over all hosts when the job began; 0 where all share one clock
  Bytes last_level_cache = 0;
  std::vector<std::string> notices;  ///< a line each: what was lowered, dropped or assumed
  std::time_t started = 0;
};

}  // namespace fabricbench
