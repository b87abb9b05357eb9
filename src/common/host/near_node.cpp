#include "common/host/near_node.h"

#include "common/host/files.h"
#include "common/host/hwloc_handles.h"

namespace fabricbench::host {

std::string units_on_node(int numa_node, std::string_view binding, const std::filesystem::path& root) {
  const auto list = read_first_line(root / ("sys/devices/system/node/node" + std::to_string(numa_node)) / "cpulist");
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
