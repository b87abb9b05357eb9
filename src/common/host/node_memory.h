/// Memory on a NUMA node of this host.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace fabricbench::host {

/// The NUMA nodes that have processors and memory, in ascending order, including those that a cpuset keeps from this
/// process; a GPU that shows its memory as a node is none of them. Throws std::runtime_error. Source: hwloc.
[[nodiscard]] std::vector<int> memory_nodes();

/// Zeroed memory, every page of it there, on one NUMA node; given back with the object.
class NodeMemory {
 public:
  /// Without a node: wherever the kernel puts it. Throws std::runtime_error that says why where there is not so much
  /// memory, or where this process may not have it on that node: a cpuset, or a container that refuses mbind(2).
  NodeMemory(std::size_t bytes, std::optional<int> node);
  NodeMemory(NodeMemory&& other) noexcept;
  NodeMemory& operator=(NodeMemory&& other) noexcept;
  ~NodeMemory();

  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

}  // namespace fabricbench::host
