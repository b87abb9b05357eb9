#include "common/host/pci_locality.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <set>
#include <system_error>
#include <utility>

#include "common/host/files.h"
#include "common/host/hwloc_handles.h"
#include "common/host/pci_path.h"

namespace fabricbench::host {
namespace {

namespace fs = std::filesystem;

struct PciNic {
  std::string name;
  PciPath path;
  std::optional<int> numa_node;
};

std::vector<PciNic> nics_below(const fs::path& directory) {
  std::vector<PciNic> nics;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    const fs::path device = entry->path() / "device";
    PciPath path = pci_path(device);
    if (!path.empty()) nics.push_back({entry->path().filename().string(), std::move(path), numa_node_of(device)});
  }
  return nics;
}

std::vector<PciNic> all_nics(const fs::path& root) {
  std::vector<PciNic> nics = nics_below(root / "sys/class/infiniband");
  std::set<PciPath> with_rdma;
  for (const PciNic& nic : nics) with_rdma.insert(nic.path);
  for (PciNic& interface : nics_below(root / "sys/class/net")) {
    if (with_rdma.count(interface.path) == 0) nics.push_back(std::move(interface));
  }
  std::sort(nics.begin(), nics.end(), [](const PciNic& a, const PciNic& b) { return a.name < b.name; });
  return nics;
}

/// Lower is nearer: first the kind of path, then the number of bridges above the device that are not also above the
/// NIC.
using RankedDistance = std::pair<PciDistance, std::size_t>;

RankedDistance distance_between(const PciPath& device, std::optional<int> numa_node, const PciNic& nic) {
  const std::size_t shared = shared_length(device, nic.path);
  if (shared > 1) return {PciDistance::kSwitch, device.size() - shared};
  if (shared == 1) return {PciDistance::kHostBridge, 0};
  return {numa_node && numa_node == nic.numa_node ? PciDistance::kNumaNode : PciDistance::kSystem, 0};
}

}  // namespace

PciLocality pci_locality(std::string_view address, const fs::path& root) {
  std::string name(address);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const fs::path device = root / "sys/bus/pci/devices" / name;
  const PciPath path = pci_path(device);
  PciLocality locality;
  locality.numa_node = numa_node_of(device);
  if (path.empty()) return locality;
  std::optional<RankedDistance> nearest;
  for (const PciNic& nic : all_nics(root)) {
    const RankedDistance distance = distance_between(path, locality.numa_node, nic);
    if (nearest && distance > *nearest) continue;
    if (!nearest || distance < *nearest) locality.nearest_nics.clear();
    nearest = distance;
    locality.nearest_nics.push_back(nic.name);
  }
  if (nearest) locality.distance = nearest->first;
  return locality;
}

NodeBinding node_binding(int numa_node, std::string_view binding, const fs::path& root) {
  const auto list = read_first_line(root / ("sys/devices/system/node/node" + std::to_string(numa_node)) / "cpulist");
  const Bitmap own = bitmap_of(binding);
  if (!list || hwloc_bitmap_iszero(own.get()) != 0) return NodeBinding::kUnknown;
  const Bitmap node = bitmap_of(*list);
  if (hwloc_bitmap_intersects(own.get(), node.get()) == 0) return NodeBinding::kOutside;
  return hwloc_bitmap_isincluded(own.get(), node.get()) != 0 ? NodeBinding::kInside : NodeBinding::kPartly;
}

}  // namespace fabricbench::host
