#include "common/host/topology.h"

#include <sched.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <new>
#include <system_error>
#include <utility>

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

}  // namespace fabricbench::host
