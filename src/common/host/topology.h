// Sockets, cores, caches and NUMA nodes of this machine, the part of it this process may use, and keeping a thread and
// its memory on one NUMA node.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/ownership.h"

namespace fabricbench::host {

struct NumaNode {
  int index;                     // the operating system's number of the node
  std::uint64_t memory_bytes;    // the node's total, not what is free
  std::string processing_units;  // numbers of those nearby, such as `0-15,32`
};

struct Topology {
  int sockets;                           // 0 where a virtual machine hides them
  int numa_nodes;                        // at least 1
  int cores;                             // 0 where a virtual machine hides them
  int processing_units;                  // hardware threads
  std::uint64_t last_level_cache_bytes;  // sum over all caches of the last level; 0 if unknown
  std::vector<NumaNode> nodes;           // in hwloc's order, which follows the hardware
};

// The whole machine, including what a cpuset of a batch system keeps from this process, so that
// ranks with different cpusets agree. Without I/O devices, which are slow to search. hwloc's
// variables HWLOC_XMLFILE and HWLOC_SYNTHETIC substitute another machine.
// Throws std::runtime_error where hwloc cannot read the machine.
[[nodiscard]] Topology topology();

// Where the calling thread runs, by the operating system's numbers.
struct Processor {
  int number = 0;  // of the processing unit
  int numa_node = 0;
};

// Changes at any time unless the thread is bound. Takes nanoseconds. Source: getcpu(2).
[[nodiscard]] Processor current_processor();

// The processing units that this process's main thread may run on, as a list of the operating
// system's numbers such as `0-3,8`. Throws std::system_error. Source: sched_getaffinity(2).
[[nodiscard]] std::string current_binding();

// The number of those processing units. Throws std::system_error.
[[nodiscard]] int allowed_processing_units();

// The number of cores that those belong to. If the kernel hides the topology, each of them counts as a core. Throws
// std::system_error. Source: `thread_siblings_list` of Documentation/ABI/stable/sysfs-devices-system-cpu of Linux.
[[nodiscard]] int allowed_cores();

// The relation between this process's processing units and those of a NUMA node.
enum class NodeBinding {
  kInside,   // it runs on the node only
  kPartly,   // it may run on the node and elsewhere, like an unbound process
  kOutside,  // it never runs on the node
  kUnknown   // the node cannot be read
};

// `binding` is the list of the processing units that the process may use, as current_binding() gives it.
// Source: `cpulist` of Documentation/ABI/stable/sysfs-devices-node of Linux.
[[nodiscard]] NodeBinding node_binding(int numa_node, std::string_view binding,
                                       const std::filesystem::path& root = "/");

// The processing units of `binding`, a list such as current_binding() gives it, that belong to a NUMA node; empty if
// there are none, or the node cannot be read. `root` is the directory that stands for `/`.
[[nodiscard]] std::string units_on_node(int numa_node, std::string_view binding,
                                        const std::filesystem::path& root = "/");

// While this lives, the thread that made it and those that it starts run on some processing units only, and prefer the
// memory of a NUMA node. What the thread had before is restored.
class NearNode : NotCopied {
 public:
  // `units`: a list that units_on_node has returned. Throws std::runtime_error if the kernel refuses it.
  NearNode(int numa_node, std::string_view units);
  ~NearNode();

  // Whether memory comes from the node too; false if this process is not allowed to choose (a container that refuses
  // set_mempolicy(2)) or to use it (a cpuset).
  [[nodiscard]] bool has_memory() const;

 private:
  struct Moved;
  std::unique_ptr<Moved> moved_;
};

}  // namespace fabricbench::host
