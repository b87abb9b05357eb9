/// Keeping a thread and its memory on one NUMA node.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace fabricbench::host {

/// The processing units of `binding`, a list such as current_binding() gives it, that belong to a NUMA node; empty if
/// there are none, or the node cannot be read. `root` is the directory that stands for `/`.
[[nodiscard]] std::string units_on_node(int numa_node, std::string_view binding,
                                        const std::filesystem::path& root = "/");

/// While this lives, the thread that made it and those that it starts run on some processing units only, and prefer the
/// memory of a NUMA node. What the thread had before is restored.
class NearNode {
 public:
  /// `units`: a list that units_on_node has returned. Throws std::runtime_error if the kernel refuses it.
  NearNode(int numa_node, std::string_view units);
  NearNode(const NearNode&) = delete;
  NearNode& operator=(const NearNode&) = delete;
  ~NearNode();

  /// Whether memory comes from the node too; false if this process is not allowed to choose (a container that refuses
  /// set_mempolicy(2)) or to use it (a cpuset).
  [[nodiscard]] bool has_memory() const;

 private:
  struct Moved;
  std::unique_ptr<Moved> moved_;
};

}  // namespace fabricbench::host
