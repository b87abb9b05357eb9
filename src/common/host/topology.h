// Sockets, cores, caches and NUMA nodes of this machine, and the part of it this process may use.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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

}  // namespace fabricbench::host
