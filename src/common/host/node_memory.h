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

/// Zeroed memory on one NUMA node with all pages present; released with the object.
class NodeMemory {
 public:
  /// Without a node, the kernel chooses. Throws std::runtime_error with the reason if there is not enough memory, or if
  /// this process is not allowed to use it on that node (a cpuset, or a container that refuses mbind(2)).
  NodeMemory(std::size_t bytes, std::optional<int> node);
  NodeMemory(NodeMemory&& other) noexcept;
  NodeMemory& operator=(NodeMemory&& other) noexcept;
  ~NodeMemory();

  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

}  // namespace fabricbench::host
