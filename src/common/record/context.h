#pragma once

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/core/names.h"
#include "common/core/options.h"
#include "common/core/units.h"
#include "common/core/version.h"
#include "common/host/network.h"
#include "common/host/topology.h"
#include "common/record/field.h"

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
  std::string processor;
  int sockets = 0;
  int cores = 0;
  int processing_units = 0;
  std::uint64_t last_level_cache_bytes = 0;
  std::vector<host::NumaNode> numa_nodes;
  std::vector<host::NetworkDevice> network_devices;
};

/// What a sweep over pairs is going to do.
struct SweepPlanFacts {
  std::int64_t endpoints = 0;
  Level level = Level::kHost;
  ScheduleKind schedule = ScheduleKind::kCircle;
  std::int64_t rounds = 0;
  std::int64_t concurrent = 0;
  Bytes size = 0;
  std::int64_t window = 0;
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

constexpr auto names_of(Figure) {
  return std::to_array<std::string_view>(
      {"collective", "latency", "bandwidth", "both_ways", "sweep", "copies", "connections"});
}

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
  std::optional<SweepPlanFacts> sweep;  ///< of a sweep over pairs
};

namespace host {

template <typename Form, record::Of<NumaNode> Record>
void describe(Form& form, Record& node) {
  using namespace record;
  form.part("numa_node", "One NUMA node of a host");
  form("index", natural(node.index), "the system's number");
  form("memory_bytes", natural(node.memory_bytes), "in all");
  form("processing_units", node.processing_units, "a list such as 0-15");
}

template <typename Form, record::Of<NetworkDevice> Record>
void describe(Form& form, Record& device) {
  using namespace record;
  form.part("network_device", "One network interface of a host, or one port of an RDMA device");
  form("name", device.name, "such as `eth0`, or `mlx5_0:1` of a port");
  form("kind", device.kind, "`ethernet`, `infiniband` or `other`");
  form("state", device.state, "as the system has it");
  form("speed_mbit_per_s", device.speed_mbit_per_s, "null where there is no link, or it has no speed");
  form("numa_node", device.numa_node, "null: not known");
  form("guid", device.guid, "of the RDMA device whose port it is; no other addresses are written");
}

}  // namespace host

template <typename Form, record::Of<HostFacts> Record>
void describe(Form& form, Record& host) {
  using namespace record;
  form.part("host", "One host, as its first rank saw it");
  form("name", host.name, "");
  form("kernel", host.kernel, "its release");
  form("processor", host.processor, "its model");
  form("sockets", natural(host.sockets), "0 where a virtual machine hides them");
  form("cores", natural(host.cores), "0 where a virtual machine hides them");
  form("processing_units", natural(host.processing_units), "hardware threads");
  form("last_level_cache_bytes", natural(host.last_level_cache_bytes), "of all caches of the last level; 0: not known");
  form("numa_nodes", host.numa_nodes, "");
  form("network_devices", host.network_devices, "");
}

template <typename Form, record::Of<GpuFacts> Record>
void describe(Form& form, Record& gpu) {
  using namespace record;
  form.part("gpu", "The GPU that a rank uses");
  form("device", natural(gpu.device), "CUDA's number in the process");
  form("model", gpu.model, "");
  form("pci", gpu.pci, "its address, such as 0000:42:00.0");
  form("driver", gpu.driver, "its version");
  form("numa_node", gpu.numa_node, "null: not known");
  form("process_on_node", gpu.process_on_node,
       "whether the process runs on that node: `yes`, `partly` where it may also run elsewhere, `no` or `unknown`");
  form("nearest_nics", gpu.nearest_nics, "by their names");
  form("uuid", null_if_none(gpu.uuid), "no other GPU has it; null: not known");
}

template <typename Form, record::Of<RankFacts> Record>
void describe(Form& form, Record& rank) {
  using namespace record;
  form.part("rank", "One rank of the job");
  form("rank", natural(rank.rank), "");
  form("host", rank.host, "");
  form("local_rank", natural(rank.local_rank), "among those of its host");
  form("pid", natural(rank.pid), "of its process");
  form("binding", rank.binding, "the processing units that it may run on, such as 0-15");
  form("group", natural(rank.group), "of `groups`");
  form("group_rank", natural(rank.group_rank), "its rank in that group");
  form("gpu", rank.gpu, "null without one");
  form("reader_round_trip_us", us(rank.reader_round_trip),
       "of gpudirect_rdma_lat, the median of its local ping-pong; else null");
  form("obstacles", rank.obstacles, "over RDMA with GPU memory: what is in the way between GPU and adapter");
  form("host_memory_gb_per_s", null_if_none(gb_per_s(rank.host_memory_rate)),
       "over RDMA with GPU memory: what the host's memory was measured to carry; null: not measured");
  form.hidden(rank.processor);
}

template <typename Form, record::Of<GroupFacts> Record>
void describe(Form& form, Record& group) {
  using namespace record;
  form.part("group", "One of the groups of `--split`, all ranks, or one pair");
  form("ranks", group.ranks, "such as 0-3, 8; of a pair the first and the second, such as 8, 0");
  form("hosts", group.hosts, "the same of their hosts");
  form("ports", null_if_none(group.ports),
       "of pairs over RDMA, the device and port that either end uses, such as mlx5_0 port 1, mlx5_2 port 1");
  form("round", natural(group.round), "of pairs that are measured in rounds: in which, from 0");
}

template <typename Form, record::Of<SweepPlanFacts> Record>
void describe(Form& form, Record& sweep) {
  using namespace record;
  form.part("sweep", "What a sweep over pairs is going to do");
  form("endpoints", natural(sweep.endpoints), "how many there are; `rank_map` lists them in their order");
  form("level", sweep.level, "what is paired");
  form("schedule", sweep.schedule, "");
  form("rounds", natural(sweep.rounds), "with `--find`, those for everybody, at most");
  form("concurrent", natural(sweep.concurrent), "pairs at the same time, at most; with `shift`, flows");
  form("size_bytes", natural(sweep.size), "of a message");
  form("window", natural(sweep.window), "messages under way at once");
}

template <typename Form, record::Of<Context> Record>
void describe(Form& form, Record& context) {
  using namespace record;
  form.line("context", "Before the first measurement");
  form.derived("schema_version", kSchemaVersion, "readers refuse a version that they do not know");
  form("program", context.program, "what ran");
  form("figure", context.figure, "what the rows are about");
  form.derived("fabricbench_version", kVersion, "");
  form.derived("compiler", __VERSION__, "that it was built with");
  form("started_utc", utc(context.started), "");
  form("command_line", context.command_line, "the first rank's arguments");
  form("options", context.option_values,
       "every option that has a value, as text; the key is its first long name with `_` for `-`");
  form("backend", context.backend, "as in the `# Backend` line");
  form("backend_reason", context.backend_reason, "as in the `# Backend` line");
  form("library", context.library, "as in the `# Backend` line");
  form("launcher", context.launcher, "the variable that told the number of processes; empty without a launcher");
  form.derived("ranks", context.ranks.size(), "how many there are");
  form("hosts", context.host_facts, "each host");
  form("rank_map", context.ranks, "each rank");
  form("groups", context.groups, "those of `--split`, or one of all ranks; or the pairs");
  form("timing", context.options.timing, "");
  form("time_means", null_if_none(context.time_means),
       "what the time of a row is where `figure` does not say it, as in `# Method`");
  form("wire_rate_gb_per_s", null_if_none(gb_per_s(context.wire_rate)),
       "of RDMA programs: what the slowest port used can do in one direction; null: not known");
  form("seed", context.seed, "of the random order");
  form("timer_cost_us", us(context.timer_cost), "one clock read");
  form("clock_error_us", us(context.clock_error),
       "bound of the common clock's error when the job began; 0 where all ranks share one clock");
  form("environment", context.environment, "variables that steer MPI, NCCL and their transports; no others");
  form("notices", context.notices, "as on the marked lines");
  form("sweep", left_out_if_none(context.sweep), "only of a sweep over pairs");
}

}  // namespace fabricbench
