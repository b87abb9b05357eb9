#include "common/host/pci_locality.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <iterator>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "common/host/files.h"
#include "common/host/pci_path.h"

namespace fabricbench::host {
namespace {

namespace fs = std::filesystem;

struct Nic {
  std::string name;
  PciPath path;
  std::optional<int> numa_node;
};

std::vector<Nic> nics_below(const fs::path& directory) {
  std::vector<Nic> nics;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    const fs::path device = entry->path() / "device";
    PciPath path = pci_path(device);
    if (!path.empty()) nics.push_back({entry->path().filename().string(), std::move(path), numa_node_of(device)});
  }
  return nics;
}

std::vector<Nic> all_nics(const fs::path& root) {
  std::vector<Nic> nics = nics_below(root / "sys/class/infiniband");
  std::set<PciPath> with_rdma;
  for (const Nic& nic : nics) with_rdma.insert(nic.path);
  for (Nic& interface : nics_below(root / "sys/class/net")) {
    if (with_rdma.count(interface.path) == 0) nics.push_back(std::move(interface));
  }
  std::sort(nics.begin(), nics.end(), [](const Nic& a, const Nic& b) { return a.name < b.name; });
  return nics;
}

/// Less is nearer: the kind of the way first, then how few of the bridges above the device are not the NIC's too.
using Remoteness = std::pair<PciDistance, std::ptrdiff_t>;

Remoteness remoteness(const PciPath& device, std::optional<int> numa_node, const Nic& nic) {
  const auto own = std::mismatch(device.begin(), device.end(), nic.path.begin(), nic.path.end()).first;
  const auto common = std::distance(device.begin(), own);
  if (common > 1) return {PciDistance::kSwitch, std::distance(own, device.end())};
  if (common == 1) return {PciDistance::kHostBridge, 0};
  return {numa_node && numa_node == nic.numa_node ? PciDistance::kNumaNode : PciDistance::kSystem, 0};
}

/// The numbers of a list such as `0-3,8`; none of a part that is no number.
std::set<int> numbers_in(std::string_view list) {
  std::set<int> numbers;
  while (!list.empty()) {
    const auto comma = std::min(list.find(','), list.size());
    const std::string_view part = without_blanks(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
    const auto dash = part.find('-');
    const auto first = parse_integer<int>(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_integer<int>(part.substr(dash + 1));
    if (!first || !last) continue;
    for (int number = *first; number <= *last; ++number) numbers.insert(number);
  }
  return numbers;
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
  std::optional<Remoteness> nearest;
  for (const Nic& nic : all_nics(root)) {
    const Remoteness way = remoteness(path, locality.numa_node, nic);
    if (nearest && way > *nearest) continue;
    if (!nearest || way < *nearest) locality.nearest_nics.clear();
    nearest = way;
    locality.nearest_nics.push_back(nic.name);
  }
  if (nearest) locality.distance = nearest->first;
  return locality;
}

NodeBinding node_binding(int numa_node, std::string_view binding, const fs::path& root) {
  const auto list = read_first_line(root / ("sys/devices/system/node/node" + std::to_string(numa_node)) / "cpulist");
  const std::set<int> own = numbers_in(binding);
  if (!list || own.empty()) return NodeBinding::kUnknown;
  const std::set<int> nodes = numbers_in(*list);
  const auto inside = std::count_if(own.begin(), own.end(), [&](int unit) { return nodes.count(unit) == 1; });
  if (inside == 0) return NodeBinding::kOutside;
  return static_cast<std::size_t>(inside) == own.size() ? NodeBinding::kInside : NodeBinding::kPartly;
}

}  // namespace fabricbench::host
