#include "common/host/node_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "common/host/hwloc_handles.h"
#include "common/host/topology.h"

namespace fabricbench::host {
namespace {

[[noreturn]] void fail(std::size_t bytes, std::optional<int> node, int error) {
  const std::string where = node ? " of NUMA node " + std::to_string(*node) : std::string();
  throw std::runtime_error("cannot allocate " + std::to_string(bytes) + " bytes of memory" + where + ": " +
                           std::generic_category().message(error));
}

/// Source: mbind(2), which has no wrapper in the C library.
bool bind_to(std::span<std::byte> bytes, int node) {
  const TopologyHandle machine = load_machine();
  const Bitmap asked = bitmap_of(std::to_string(node));
  if (hwloc_set_area_membind(machine.get(), bytes.data(), bytes.size(), asked.get(), HWLOC_MEMBIND_BIND,
                             HWLOC_MEMBIND_BYNODESET | HWLOC_MEMBIND_STRICT) != 0)
    return false;
  const Bitmap bound = bitmap_of("");
  hwloc_membind_policy_t policy{};
  if (hwloc_get_area_membind(machine.get(), bytes.data(), 1, bound.get(), &policy, HWLOC_MEMBIND_BYNODESET) != 0)
    return false;
  errno = ENOTSUP;
  return hwloc_bitmap_isequal(bound.get(), asked.get()) != 0;
}

}  // namespace

std::vector<int> memory_nodes() {
  std::vector<int> nodes;
  for (const NumaNode& node : topology().nodes) {
    if (node.memory_bytes > 0 && !node.processing_units.empty()) nodes.push_back(node.index);
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

NodeMemory::NodeMemory(std::size_t bytes, std::optional<int> node) {
  void* block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) fail(bytes, node, errno);
  bytes_ = {static_cast<std::byte*>(block), bytes};
  if (node && !bind_to(bytes_, *node)) {
    const int error = errno;
    munmap(block, bytes);
    fail(bytes, node, error);
  }
  std::memset(block, 0, bytes);  // a page is placed when it is first written
}

NodeMemory::NodeMemory(NodeMemory&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

NodeMemory& NodeMemory::operator=(NodeMemory&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

NodeMemory::~NodeMemory() {
  if (!bytes_.empty()) munmap(bytes_.data(), bytes_.size());
}

}  // namespace fabricbench::host
