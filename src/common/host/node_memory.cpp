#include "common/host/node_memory.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include <linux/mempolicy.h>

#include "common/host/topology.h"

namespace fabricbench::host {
namespace {

[[noreturn]] void fail(std::size_t bytes, std::optional<int> node, int error) {
  const std::string where = node ? " of NUMA node " + std::to_string(*node) : std::string();
  throw std::runtime_error("cannot allocate " + std::to_string(bytes) + " bytes of memory" + where + ": " +
                           std::generic_category().message(error));
}

/// Source: mbind(2), of which the C library has no wrapper.
bool bind_to(std::span<std::byte> bytes, int node) {
  constexpr std::size_t kBits = sizeof(unsigned long) * CHAR_BIT;
  const auto number = static_cast<std::size_t>(node);
  std::vector<unsigned long> mask(number / kBits + 1);
  mask.back() = 1UL << (number % kBits);
  // The kernel takes the number of bits and one more.
  return syscall(SYS_mbind, bytes.data(), bytes.size(), MPOL_BIND, mask.data(), mask.size() * kBits + 1, 0) == 0;
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
