// A host's NUMA nodes and PCI links, found here before the library is searched.
//
// Environment:
//   FAKE_NUMA_NODES  NUMA nodes of the host (1)
//   FAKE_NUMA_REFUSE any value: no memory can be placed on a node
//   FAKE_PCI_LINKS   links of the GPUs, each as GT/s and width: `32x16,3:16x8`, of all and of GPU 3; what GPUs can do
//   is
//                    the first entry. None: not known
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "common/host/node_memory.h"
#include "common/host/pci.h"

namespace fabricbench::host {
namespace {

constexpr int kFirstBus = 0x10;  // of the fake CUDA

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

int gpu_at(std::string_view address) {
  unsigned domain = 0;
  unsigned bus = 0;
  if (std::sscanf(std::string(address).c_str(), "%x:%x:", &domain, &bus) != 2) return -1;
  return static_cast<int>(bus) - kFirstBus;
}

}  // namespace

std::vector<int> memory_nodes() {
  const std::string number = environment("FAKE_NUMA_NODES");
  std::vector<int> nodes;
  for (int node = 0; node < (number.empty() ? 1 : std::stoi(number)); ++node) nodes.push_back(node);
  return nodes;
}

NodeMemory::NodeMemory(std::size_t bytes, std::optional<int> node) {
  if (node && std::getenv("FAKE_NUMA_REFUSE") != nullptr) {
    throw std::runtime_error("cannot allocate memory of NUMA node " + std::to_string(*node) +
                             ", as the test asked for");
  }
  bytes_ = {static_cast<std::byte*>(std::calloc(bytes, 1)), bytes};
  if (bytes_.data() == nullptr) throw std::bad_alloc();
}

NodeMemory::NodeMemory(NodeMemory&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

NodeMemory& NodeMemory::operator=(NodeMemory&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

NodeMemory::~NodeMemory() { std::free(bytes_.data()); }

PciLinks pci_links(std::string_view address, const std::filesystem::path& /*root*/) {
  PciLinks links;
  std::string list = environment("FAKE_PCI_LINKS");
  while (!list.empty()) {
    const std::string entry = list.substr(0, list.find(','));
    list.erase(0, std::min(entry.size() + 1, list.size()));
    const std::size_t colon = entry.find(':');
    if (colon != std::string::npos && std::stoi(entry) != gpu_at(address)) continue;
    const char* text = entry.c_str() + (colon == std::string::npos ? 0 : colon + 1);
    PciLink link;
    if (std::sscanf(text, "%lfx%d", &link.gigatransfers_per_s, &link.width) != 2) continue;
    if (!links.most) links.most = link;
    links.current = links.narrowest = link;
  }
  return links;
}

}  // namespace fabricbench::host
