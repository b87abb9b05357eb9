#include "common/host/pci.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/host/files.h"

namespace fabricbench::host {
namespace {

namespace fs = std::filesystem;

/// `0000:42:00.0`, of any domain.
bool is_pci_address(const std::string& name) {
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned device = 0;
  unsigned function = 0;
  int length = 0;
  return std::sscanf(name.c_str(), "%x:%2x:%2x.%1x%n", &domain, &bus, &device, &function, &length) == 4 &&
         static_cast<std::size_t>(length) == name.size();
}

/// The chain of a device, from its host bridge `pci0000:40` over bridges to itself.
using PciPath = std::vector<std::string>;

/// The chain for a link to a device's directory. Parts that are not PCI, such as a virtio device's directory below its
/// PCI function, are left out; empty if the device is not on PCI. Source: Documentation/ABI/testing/sysfs-bus-pci of
/// Linux; the path of a device below /sys/devices names the bridges above it.
PciPath pci_path(const fs::path& link) {
  std::error_code error;
  const fs::path device = fs::canonical(link, error);
  PciPath path;
  if (error) return path;
  for (const fs::path& part : device) {
    const std::string name = part.string();
    if ((name.starts_with("pci") && name.find(':') != std::string::npos) || (!path.empty() && is_pci_address(name)))
      path.push_back(name);
  }
  return path;
}

/// How many elements two paths share, from the host bridge down.
std::size_t shared_length(const PciPath& one, const PciPath& other) {
  const auto parted = std::mismatch(one.begin(), one.end(), other.begin(), other.end()).first;
  return static_cast<std::size_t>(std::distance(one.begin(), parted));
}

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

RankedDistance ranked_distance(const PciPath& device, std::optional<int> numa_node, const PciNic& nic) {
  const std::size_t shared = shared_length(device, nic.path);
  if (shared > 1) return {PciDistance::kSwitch, device.size() - shared};
  if (shared == 1) return {PciDistance::kHostBridge, 0};
  return {numa_node && numa_node == nic.numa_node ? PciDistance::kNumaNode : PciDistance::kSystem, 0};
}

fs::path directory_of(std::string_view address, const fs::path& root) { return root / "sys/bus/pci/devices" / address; }

/// The elements below the last shared one, which is included unless it is a host bridge.
std::vector<std::string> bridges_between(const PciPath& from, const PciPath& to) {
  const std::size_t shared = shared_length(from, to);
  std::vector<std::string> bridges;
  for (std::size_t i = from.size() - 1; i > std::max<std::size_t>(shared, 1); --i) {
    bridges.push_back(from[i - 1]);
  }
  if (shared > 1) bridges.push_back(from[shared - 1]);
  for (std::size_t i = std::max<std::size_t>(shared, 1); i + 1 < to.size(); ++i) {
    bridges.push_back(to[i]);
  }
  return bridges;
}

std::string distance_word(const PciPath& from, const PciPath& to, const fs::path& root) {
  constexpr std::size_t kBelowOneSwitch = 2;  // the switch's downstream port, and the device
  const std::size_t shared = shared_length(from, to);
  if (shared > 1) {
    const std::size_t longer = std::max(from.size(), to.size()) - shared;
    return longer <= kBelowOneSwitch ? "PIX" : "PXB";
  }
  if (shared == 1) return "PHB";
  const auto node = numa_node_of(directory_of(from.back(), root));
  return node && node == numa_node_of(directory_of(to.back(), root)) ? "NODE" : "SYS";
}

enum class Redirection { kNone, kSome, kUnknown };

std::uint32_t word_at(const std::string& bytes, std::size_t offset, std::size_t size) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < size; ++i) {
    word |= std::uint32_t{static_cast<std::uint8_t>(bytes[offset + i])} << (8 * i);
  }
  return word;
}

/// Whether a bridge's access control services redirect requests or completions between its devices upstream. Only root
/// can read that part of the configuration space.
Redirection redirection_of(std::string_view bridge, const fs::path& root) {
  constexpr std::size_t kExtendedBegin = 0x100;
  constexpr std::size_t kExtendedEnd = 0x1000;
  constexpr std::uint32_t kAcs = 0x000d;
  constexpr std::size_t kControl = 6;
  constexpr std::uint32_t kRequestRedirect = 1 << 2;
  constexpr std::uint32_t kCompletionRedirect = 1 << 3;
  std::ifstream file(directory_of(bridge, root) / "config", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.size() <= kExtendedBegin) return Redirection::kUnknown;
  std::size_t at = kExtendedBegin;
  for (std::size_t seen = 0; at >= kExtendedBegin && at + 8 <= bytes.size() && seen < kExtendedEnd / 8; ++seen) {
    const std::uint32_t header = word_at(bytes, at, 4);
    if ((header & 0xffff) == kAcs) {
      const std::uint32_t control = word_at(bytes, at + kControl, 2);
      return (control & (kRequestRedirect | kCompletionRedirect)) != 0 ? Redirection::kSome : Redirection::kNone;
    }
    at = header >> 20;
  }
  return Redirection::kNone;
}

void add_redirections(const std::vector<std::string>& bridges, const fs::path& root, std::vector<std::string>& found) {
  std::vector<std::string> redirecting;
  std::vector<std::string> unknown;
  for (const std::string& bridge : bridges) {
    const Redirection redirection = redirection_of(bridge, root);
    if (redirection == Redirection::kSome) redirecting.push_back(bridge);
    if (redirection == Redirection::kUnknown) unknown.push_back(bridge);
  }
  if (!redirecting.empty()) {
    found.push_back(fmt::format(
        "ACS of bridge{} {} redirects requests between devices through the root complex; switch that off (setpci -s "
        "ADDRESS ECAP_ACS+0x6.w=0000), unless the vendor of the host wants it set",
        redirecting.size() == 1 ? "" : "s", fmt::join(redirecting, ", ")));
  }
  if (!unknown.empty()) {
    found.push_back(
        fmt::format("whether ACS of bridge{} {} redirects requests is unknown, because only root may read "
                    "it (lspci -vvv: ACSCtl)",
                    unknown.size() == 1 ? "" : "s", fmt::join(unknown, ", ")));
  }
}

void add_translation(std::string_view address, const fs::path& root, std::vector<std::string>& found) {
  const auto type = read_first_line(directory_of(address, root) / "iommu_group/type");
  if (!type || !type->starts_with("DMA")) return;
  found.push_back(
      fmt::format("the IOMMU translates the addresses of {} ({}); start the kernel with iommu=pt", address, *type));
}

/// An idle GPU may lower the speed of its link, but not the width.
void add_slow_link(std::string_view address, const fs::path& root, std::vector<std::string>& found) {
  const PciLinks links = pci_links(address, root);
  if (!links.current || !links.most || *links.current == *links.most) return;
  const bool narrow = links.current->width < links.most->width;
  found.push_back(fmt::format("the link of {} runs at {:g} GT/s x{} and can do {:g} GT/s x{}; {}", address,
                              links.current->gigatransfers_per_s, links.current->width, links.most->gigatransfers_per_s,
                              links.most->width,
                              narrow ? "check that its slot has that many lanes, and reseat it"
                                     : "it may be saving power while idle, or its slot is slower"));
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
    const RankedDistance distance = ranked_distance(path, locality.numa_node, nic);
    if (nearest && distance > *nearest) continue;
    if (!nearest || distance < *nearest) locality.nearest_nics.clear();
    nearest = distance;
    locality.nearest_nics.push_back(nic.name);
  }
  if (nearest) locality.distance = nearest->first;
  return locality;
}

std::optional<double> link_speed_in(std::string_view text) {
  if (text.find("GT/s") == std::string_view::npos) return std::nullopt;
  double speed = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), speed);
  return error == std::errc{} && speed > 0 ? std::optional(speed) : std::nullopt;
}

std::optional<int> link_width_in(std::string_view text) {
  constexpr int kMostLanes = 32;
  const auto width = parse_integer<int>(text);
  return width && *width >= 1 && *width <= kMostLanes ? width : std::nullopt;
}

std::optional<PciRoute> pci_route(std::string_view from, std::string_view to, const fs::path& root) {
  const PciPath first = pci_path(directory_of(from, root));
  const PciPath last = pci_path(directory_of(to, root));
  if (first.empty() || last.empty()) return std::nullopt;
  return PciRoute{distance_word(first, last, root), bridges_between(first, last)};
}

std::vector<std::string> obstacles_between(std::string_view from, std::string_view to, const fs::path& root) {
  const auto route = pci_route(from, to, root);
  if (!route)
    return {fmt::format("how {} and {} are connected is unknown, because sysfs lists only PCI devices", from, to)};
  std::vector<std::string> found;
  if (route->distance != "PIX" && route->distance != "PXB") {
    found.push_back(
        fmt::format("{} and {} are {} apart (nvidia-smi topo -m), so that data goes through the processor; "
                    "choose a device below the same switch (-d)",
                    from, to, route->distance));
  }
  add_redirections(route->bridges, root, found);
  for (const std::string_view address : {from, to}) add_translation(address, root, found);
  for (const std::string_view address : {from, to}) add_slow_link(address, root, found);
  for (const std::string& bridge : route->bridges) add_slow_link(bridge, root, found);
  return found;
}

std::string pci_address_of_rdma_device(std::string_view name, const fs::path& root) {
  const PciPath path = pci_path(root / "sys/class/infiniband" / name / "device");
  return path.empty() ? "" : path.back();
}

}  // namespace fabricbench::host
