#include "common/host/topology.h"

#include <sched.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <new>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "common/host/files.h"
#include "common/host/hwloc_handles.h"

namespace fabricbench::host {
namespace {

struct Deleter {
  void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};

using CpuSet = std::unique_ptr<cpu_set_t, Deleter>;

std::uint64_t cache_bytes(hwloc_topology_t machine, hwloc_obj_type_t level) {
  std::uint64_t bytes = 0;
  hwloc_obj_t cache = nullptr;
  while ((cache = hwloc_get_next_obj_by_type(machine, level, cache)) != nullptr) {
    bytes += cache->attr->cache.size;
  }
  return bytes;
}

// Virtual machines often show no last level, or one without a size; the next level is then the best known value.
std::uint64_t last_level_cache_bytes(hwloc_topology_t machine) {
  constexpr std::array kOutermostFirst{HWLOC_OBJ_L5CACHE, HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE,
                                       HWLOC_OBJ_L1CACHE};
  for (const hwloc_obj_type_t level : kOutermostFirst) {
    if (const auto bytes = cache_bytes(machine, level); bytes > 0) return bytes;
  }
  return 0;
}

std::vector<NumaNode> numa_nodes(hwloc_topology_t machine) {
  std::vector<NumaNode> nodes;
  hwloc_obj_t node = nullptr;
  while ((node = hwloc_get_next_obj_by_type(machine, HWLOC_OBJ_NUMANODE, node)) != nullptr) {
    nodes.push_back({static_cast<int>(node->os_index), node->attr->numanode.local_memory, list_of(node->cpuset)});
  }
  return nodes;
}

struct Affinity {
  CpuSet set;
  std::size_t size_bytes;
};

// The kernel refuses a set smaller than its own with EINVAL and does not tell its size.
Affinity read_affinity() {
  constexpr std::size_t kLargestCount = std::size_t{1} << 20;
  for (std::size_t count = CPU_SETSIZE; count <= kLargestCount; count *= 2) {
    Affinity affinity{CpuSet(CPU_ALLOC(count)), CPU_ALLOC_SIZE(count)};
    if (!affinity.set) throw std::bad_alloc();
    // The identifier of a process is that of its main thread; 0 would be the calling thread.
    if (sched_getaffinity(getpid(), affinity.size_bytes, affinity.set.get()) == 0) return affinity;
    if (errno != EINVAL) break;
  }
  throw std::system_error(errno, std::generic_category(), "sched_getaffinity");
}

// The list of the processing units of a NUMA node; empty if it cannot be read.
std::optional<std::string> list_of_node(int numa_node, const std::filesystem::path& root) {
  return read_first_line(root / ("sys/devices/system/node/node" + std::to_string(numa_node)) / "cpulist");
}

}  // namespace

Topology topology() {
  const TopologyHandle owner = load_machine();
  hwloc_topology_t machine = owner.get();
  std::vector<NumaNode> nodes = numa_nodes(machine);
  return {hwloc_get_nbobjs_by_type(machine, HWLOC_OBJ_PACKAGE),
          static_cast<int>(nodes.size()),
          hwloc_get_nbobjs_by_type(machine, HWLOC_OBJ_CORE),
          hwloc_get_nbobjs_by_type(machine, HWLOC_OBJ_PU),
          last_level_cache_bytes(machine),
          std::move(nodes)};
}

Processor current_processor() {
  unsigned number = 0;
  unsigned numa_node = 0;
  (void)getcpu(&number, &numa_node);  // fails only for pointers that are none
  return {static_cast<int>(number), static_cast<int>(numa_node)};
}

// hwloc_get_cpubind() would need a loaded topology, milliseconds for one system call.
std::string current_binding() {
  const Affinity affinity = read_affinity();
  const Bitmap units = bitmap_of("");
  for (unsigned unit = 0; unit < affinity.size_bytes * 8; ++unit) {
    if (!CPU_ISSET_S(unit, affinity.size_bytes, affinity.set.get())) continue;
    check_hwloc(hwloc_bitmap_set(units.get(), unit), "hwloc_bitmap_set");
  }
  return list_of(units.get());
}

int allowed_processing_units() {
  const Affinity affinity = read_affinity();
  return CPU_COUNT_S(affinity.size_bytes, affinity.set.get());
}

int allowed_cores() {
  const Affinity affinity = read_affinity();
  std::set<std::string> cores;
  const int most = static_cast<int>(8 * affinity.size_bytes);
  for (int unit = 0; unit < most; ++unit) {
    if (!CPU_ISSET_S(static_cast<std::size_t>(unit), affinity.size_bytes, affinity.set.get())) continue;
    const auto siblings = fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", unit);
    cores.insert(read_first_line(siblings).value_or(std::to_string(unit)));
  }
  return static_cast<int>(cores.size());
}

NodeBinding node_binding(int numa_node, std::string_view binding, const std::filesystem::path& root) {
  const auto list = list_of_node(numa_node, root);
  const Bitmap own = bitmap_of(binding);
  if (!list || hwloc_bitmap_iszero(own.get()) != 0) return NodeBinding::kUnknown;
  const Bitmap node = bitmap_of(*list);
  if (hwloc_bitmap_intersects(own.get(), node.get()) == 0) return NodeBinding::kOutside;
  return hwloc_bitmap_isincluded(own.get(), node.get()) != 0 ? NodeBinding::kInside : NodeBinding::kPartly;
}

std::string units_on_node(int numa_node, std::string_view binding, const std::filesystem::path& root) {
  const auto list = list_of_node(numa_node, root);
  if (!list) return {};
  const Bitmap own = bitmap_of(binding);
  const Bitmap node = bitmap_of(*list);
  check_hwloc(hwloc_bitmap_and(own.get(), own.get(), node.get()), "hwloc_bitmap_and");
  return list_of(own.get());
}

struct NearNode::Moved {
  TopologyHandle machine = load_machine();
  Bitmap units_before = bitmap_of("");
  Bitmap nodes_before = bitmap_of("");
  hwloc_membind_policy_t policy_before = HWLOC_MEMBIND_DEFAULT;
  bool has_memory = false;
};

NearNode::NearNode(int numa_node, std::string_view units) : moved_(std::make_unique<Moved>()) {
  constexpr int kMemoryFlags = HWLOC_MEMBIND_THREAD | HWLOC_MEMBIND_BYNODESET;
  hwloc_topology_t machine = moved_->machine.get();
  check_hwloc(hwloc_get_cpubind(machine, moved_->units_before.get(), HWLOC_CPUBIND_THREAD), "hwloc_get_cpubind");
  const Bitmap wanted = bitmap_of(units);
  check_hwloc(hwloc_set_cpubind(machine, wanted.get(), HWLOC_CPUBIND_THREAD), "hwloc_set_cpubind");
  // Without HWLOC_MEMBIND_STRICT the node is preferred: a full one is no reason to fail.
  const Bitmap node = bitmap_of(std::to_string(numa_node));
  moved_->has_memory =
      hwloc_get_membind(machine, moved_->nodes_before.get(), &moved_->policy_before, kMemoryFlags) == 0 &&
      hwloc_set_membind(machine, node.get(), HWLOC_MEMBIND_BIND, kMemoryFlags) == 0;
}

NearNode::~NearNode() {
  hwloc_topology_t machine = moved_->machine.get();
  static_cast<void>(hwloc_set_cpubind(machine, moved_->units_before.get(), HWLOC_CPUBIND_THREAD));
  if (!moved_->has_memory) return;
  static_cast<void>(hwloc_set_membind(machine, moved_->nodes_before.get(), moved_->policy_before,
                                      HWLOC_MEMBIND_THREAD | HWLOC_MEMBIND_BYNODESET));
}

bool NearNode::has_memory() const { return moved_->has_memory; }

}  // namespace fabricbench::host
