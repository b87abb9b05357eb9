#pragma once

#include <cstddef>
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
#include "common/host/nics.h"
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
  std::string uuid{};      ///< unique, such as `GPU-5a0e3f7c-...`; empty: unknown
  double nvlink_rate = 0;  ///< of all its NVLinks together, in bytes per second in one direction; 0: none, or unknown
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
  int group_rank = 0;  ///< rank within its group, as rows number it
  std::optional<GpuFacts> gpu;
  std::optional<Seconds> reader_round_trip{};  ///< see Session::reader_round_trip
  std::vector<std::string> obstacles{};        ///< see Session::obstacles
  double host_memory_rate = 0;                 ///< see Session::host_memory_rate
  int processes_on_host = 0;                   ///< of the job
  int processors_on_host = 0;                  ///< 0: unknown
};

/// One of several groups.
struct GroupFacts {
  std::string ranks;                      ///< such as `0-3, 8`; of a pair, the first and the second: `8, 0`
  std::string hosts;                      ///< their hosts in the same form
  std::string ports{};                    ///< the ports of a pair: `mlx5_0 port 1, mlx5_1 port 1`; empty: unknown
  int round = 0;                          ///< the round in which a pair is measured, from 0
  std::vector<std::string> host_names{};  ///< each once
  double usual_busbw = 0;  ///< bus bandwidth to be expected, relative to the rate of the links; 0: unknown
  double most_busbw = 0;   ///< and the most that is possible. Links: NICs of a host; of one host, NVLinks of a GPU
  double wire_rate = 0;    ///< one-way rate in bytes per second of a pair's slower port; 0: unknown
  std::string wire_rate_source{};  ///< that port, its host, and the kernel's text on its rate; empty: unknown
};

/// One host as its first rank sees it; gathered only for JSON.
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
  std::string switches{};  ///< above the host, from the top down, as the scheduler names them; empty: unknown
};

/// The plan of a sweep over pairs.
struct SweepPlanFacts {
  std::int64_t endpoints = 0;
  EndpointLevel level = EndpointLevel::kHost;
  ScheduleKind schedule = ScheduleKind::kCircle;
  std::int64_t rounds = 0;
  std::int64_t concurrent = 0;
  Bytes size = 0;
  std::int64_t window = 0;
};

/// The subject of a program's rows, which decides the layout of its table.
enum class RowKind {
  kCollective,   ///< one operation of all ranks of a group
  kLatency,      ///< a message between two ranks: half a round trip
  kBandwidth,    ///< a window of messages from the first rank of a pair to the second
  kBothWays,     ///< the same in both directions at once
  kSweep,        ///< pair after pair, in rounds; see PairReading
  kCopies,       ///< copies between GPUs and memory within hosts; see CopyRow
  kConnections,  ///< connections over rdma_cm between the ranks of each pair; see ConnectRow
  kPreflight,    ///< nothing is measured: what is known of hosts; see PreflightFinding
};

constexpr auto names_of(RowKind) {
  return std::to_array<std::string_view>(
      {"collective", "latency", "bandwidth", "both_ways", "sweep", "copies", "connections", "preflight"});
}

/// Whether rows describe messages between the two ranks of a pair.
[[nodiscard]] constexpr bool is_of_pairs(RowKind row_kind) {
  return row_kind == RowKind::kLatency || row_kind == RowKind::kBandwidth || row_kind == RowKind::kBothWays;
}

/// The bandwidth in one direction, from a row's algbw.
[[nodiscard]] constexpr double one_way(RowKind row_kind, double algbw) {
  return row_kind == RowKind::kBothWays ? algbw / 2 : algbw;
}

/// The share of its slower port's rate from which on a pair shows that the rate is wrong: no clock is that inexact.
inline constexpr double kMostOfRate = 1.05;

/// Everything known before the first measurement.
struct Context {
  std::string program;  ///< such as all_reduce_perf
  RowKind row_kind = RowKind::kCollective;
  std::vector<std::string> command_line;
  Options options;
  std::vector<std::pair<std::string, std::string>> option_values;  ///< key and text, as declared
  std::string backend;
  std::string backend_reason;
  std::string library;  ///< name and version of the backend's library
  int nccl_version = 0;
  std::string launcher;
  int hosts = 0;
  std::vector<RankFacts> ranks;
  std::vector<HostFacts> host_facts;
  std::vector<GroupFacts> groups;                                ///< one, or those of --split
  std::vector<std::pair<std::string, std::string>> environment;  ///< whitelisted variables
  double wire_rate = 0;             ///< one-way rate in bytes per second of the slowest port used; 0: unknown
  std::int64_t left_out_pairs = 0;  ///< pairs without a usable device at one end; `notices` has the reasons
  std::string time_means;           ///< meaning of a row's time, where `row_kind` does not define it
  std::uint64_t seed = 0;
  std::int64_t rounds = 0;  ///< number of rounds of a sweep
  Seconds timer_cost = 0;   ///< duration of one clock read
  Seconds clock_error = 0;  ///< error bound over all hosts when the job began; 0 if all share one clock
  Bytes last_level_cache = 0;
  std::vector<std::string> notices;  ///< a line each: values that were lowered, dropped or assumed
  std::time_t started = 0;
  std::optional<SweepPlanFacts> sweep;  ///< only for a sweep over pairs
};

/// The bandwidth of one direction of a pair relative to the rate of its slower port, from a row's algbw; empty if the
/// rate is unknown. Above kMostOfRate, the rate is wrong.
[[nodiscard]] inline std::optional<double> share_of_rate(const Context& context, int pair, double algbw) {
  const double rate = context.groups[static_cast<std::size_t>(pair)].wire_rate;
  return rate > 0 ? std::optional(one_way(context.row_kind, algbw) / rate) : std::nullopt;
}

namespace host {

template <typename Visitor, record::Of<NumaNode> Record>
void describe(Visitor& visitor, Record& node) {
  using namespace record;
  visitor.part("numa_node", "One NUMA node of a host");
  visitor("index", natural(node.index), "the operating system's number");
  visitor("memory_bytes", natural(node.memory_bytes), "total memory");
  visitor("processing_units", node.processing_units, "a list such as 0-15");
}

template <typename Visitor, record::Of<NetworkDevice> Record>
void describe(Visitor& visitor, Record& device) {
  using namespace record;
  visitor.part("network_device", "One network interface of a host, or one port of an RDMA device");
  visitor("name", device.name, "such as `eth0`, or `mlx5_0:1` for a port");
  visitor("kind", device.kind, "`ethernet`, `infiniband` or `other`");
  visitor("state", device.state, "as the operating system reports it");
  visitor("speed_mbit_per_s", device.speed_mbit_per_s, "null without a link or a known speed");
  visitor("numa_node", device.numa_node, "null: unknown");
  visitor("guid", device.guid, "GUID of the port's RDMA device; no other addresses are written");
  visitor("mtu_bytes", device.mtu, "MTU of an interface; null: unknown");
  visitor("driver", null_if_none(device.driver), "name of its driver, with the version if it has one; null: unknown");
  visitor("firmware", null_if_none(device.firmware),
          "version of its firmware; null: unknown, or told by its RDMA port");
}

}  // namespace host

template <typename Visitor, record::Of<HostFacts> Record>
void describe(Visitor& visitor, Record& host) {
  using namespace record;
  visitor.part("host", "One host, as its first rank sees it");
  visitor("name", host.name, "name of the host");
  visitor("kernel", host.kernel, "its release");
  visitor("processor", host.processor, "its model");
  visitor("sockets", natural(host.sockets), "0 if a virtual machine hides them");
  visitor("cores", natural(host.cores), "0 if a virtual machine hides them");
  visitor("processing_units", natural(host.processing_units), "hardware threads");
  visitor("last_level_cache_bytes", natural(host.last_level_cache_bytes), "sum over all last-level caches; 0: unknown");
  visitor("numa_nodes", host.numa_nodes, "its NUMA nodes");
  visitor("network_devices", host.network_devices, "its network interfaces and RDMA ports");
  visitor("switches", null_if_none(host.switches),
          "switches above it, from the top down, as Slurm's topology names them; null: unknown");
}

template <typename Visitor, record::Of<GpuFacts> Record>
void describe(Visitor& visitor, Record& gpu) {
  using namespace record;
  visitor.part("gpu", "The GPU that a rank uses");
  visitor("device", natural(gpu.device), "CUDA's number in the process");
  visitor("model", gpu.model, "name of the GPU model");
  visitor("pci", gpu.pci, "PCI address, such as 0000:42:00.0");
  visitor("driver", gpu.driver, "its version");
  visitor("numa_node", gpu.numa_node, "null: unknown");
  visitor("process_on_node", gpu.process_on_node,
          "whether the process runs on that node: `yes`, `partly` (it may also run elsewhere), `no` or `unknown`");
  visitor("nearest_nics", gpu.nearest_nics, "names of the nearest NICs");
  visitor("uuid", null_if_none(gpu.uuid), "unique identifier; null: unknown");
  visitor("nvlink_gb_per_s", null_if_none(gb_per_s(gpu.nvlink_rate)),
          "rate of all its NVLinks together in one direction; null: none, or unknown");
}

template <typename Visitor, record::Of<RankFacts> Record>
void describe(Visitor& visitor, Record& rank) {
  using namespace record;
  visitor.part("rank", "One rank of the job");
  visitor("rank", natural(rank.rank), "number of the rank in the job");
  visitor("host", rank.host, "host of the rank");
  visitor("local_rank", natural(rank.local_rank), "rank among those of its host");
  visitor("pid", natural(rank.pid), "process ID");
  visitor("binding", rank.binding, "processing units that it may run on, such as 0-15");
  visitor("group", natural(rank.group), "of `groups`");
  visitor("group_rank", natural(rank.group_rank), "rank within that group");
  visitor("gpu", rank.gpu, "null without a GPU");
  visitor("reader_round_trip_us", us(rank.reader_round_trip),
          "gpudirect_rdma_lat: median of the local ping-pong with the reader; else null");
  visitor("obstacles", rank.obstacles, "RDMA with GPU memory: obstacles between GPU and adapter");
  visitor("host_memory_gb_per_s", null_if_none(gb_per_s(rank.host_memory_rate)),
          "RDMA with GPU memory: bandwidth measured with host memory; null: not measured");
  visitor.internal(rank.processor, rank.processes_on_host, rank.processors_on_host);
}

template <typename Visitor, record::Of<GroupFacts> Record>
void describe(Visitor& visitor, Record& group) {
  using namespace record;
  visitor.part("group", "One group of `--split`, the group of all ranks, or one pair");
  visitor("ranks", group.ranks, "such as 0-3, 8; for a pair the first and the second rank, such as 8, 0");
  visitor("hosts", group.hosts, "their hosts in the same form");
  visitor("ports", null_if_none(group.ports),
          "RDMA pairs: device and port of each end, such as mlx5_0 port 1, mlx5_2 port 1");
  visitor("round", natural(group.round), "round in which the pair is measured, from 0");
  visitor("wire_rate_gb_per_s", left_out_if_none(gb_per_s(group.wire_rate)),
          "RDMA pairs: one-way rate of the slower of its ports; absent: unknown");
  visitor.internal(group.host_names, group.usual_busbw, group.most_busbw, group.wire_rate_source);
}

template <typename Visitor, record::Of<SweepPlanFacts> Record>
void describe(Visitor& visitor, Record& sweep) {
  using namespace record;
  visitor.part("sweep", "The plan of a sweep over pairs");
  visitor("endpoints", natural(sweep.endpoints), "number of endpoints; `rank_map` lists them in order");
  visitor("level", sweep.level, "unit that is paired");
  visitor("schedule", sweep.schedule, "order of the pairs");
  visitor("rounds", natural(sweep.rounds),
          "number of rounds; with `--find`, the maximum number of rounds over all endpoints");
  visitor("concurrent", natural(sweep.concurrent), "maximum number of pairs at the same time; with `shift`, of flows");
  visitor("size_bytes", natural(sweep.size), "message size");
  visitor("window", natural(sweep.window), "messages in flight at once");
}

template <typename Visitor, record::Of<Context> Record>
void describe(Visitor& visitor, Record& context) {
  using namespace record;
  visitor.line("context", "The first line, before the first measurement");
  visitor.derived("schema_version", kSchemaVersion, "readers refuse unknown versions");
  visitor("program", context.program, "name of the program");
  visitor("figure", context.row_kind, "subject of the rows");
  visitor.derived("fabricbench_version", kVersion, "version of the program");
  visitor.derived("compiler", __VERSION__, "compiler that built the program");
  visitor("started_utc", utc(context.started), "when the program started");
  visitor("command_line", context.command_line, "the first rank's arguments");
  visitor("options", context.option_values,
          "every option that has a value, as text; the key is its first long name with `_` for `-`");
  visitor("backend", context.backend, "backend, as in the `# Backend` line");
  visitor("backend_reason", context.backend_reason, "reason for the choice, as in the `# Backend` line");
  visitor("library", context.library, "library and version, as in the `# Backend` line");
  visitor("launcher", context.launcher,
          "environment variable that gave the number of processes; empty without a launcher");
  visitor.derived("ranks", context.ranks.size(), "number of ranks");
  visitor("hosts", context.host_facts, "each host");
  visitor("rank_map", context.ranks, "each rank");
  visitor("groups", context.groups, "the groups of `--split`, one group of all ranks, or the pairs");
  visitor("timing", context.options.timing, "how operations were timed");
  visitor("time_means", null_if_none(context.time_means),
          "meaning of a row's time where `figure` does not define it, as in `# Method`");
  visitor("wire_rate_gb_per_s", null_if_none(gb_per_s(context.wire_rate)),
          "RDMA programs: one-way rate of the slowest port used; null: unknown");
  visitor("left_out_pairs", left_out_if_none(context.left_out_pairs),
          "RDMA programs: number of pairs that were left out for want of a usable device; absent: none");
  visitor("seed", context.seed, "seed of the random order");
  visitor("timer_cost_us", us(context.timer_cost), "duration of one clock read");
  visitor("clock_error_us", us(context.clock_error),
          "error bound of the common clock when the job began; 0 if all ranks share one clock");
  visitor("environment", context.environment,
          "environment variables that control MPI, NCCL and their transports; no others");
  visitor("notices", context.notices, "notices, as on the lines marked with `#`");
  visitor("sweep", left_out_if_none(context.sweep), "only for a sweep over pairs");
}

}  // namespace fabricbench
