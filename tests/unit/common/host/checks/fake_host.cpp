#include "common/host/checks/fake_host.h"

#include <fmt/format.h>

namespace fabricbench::host {
namespace {

bool is_below(const std::string& path, const std::string& folder) { return path.starts_with(folder + "/"); }

void add_system(FakeHost& host, const std::string& name, const std::string& product) {
  host.set("system/host_name", name);
  host.set("system/address/" + name, "10.0.0.7\n");
  host.set("system/kernel", "5.15.0-105-generic");
  host.set("/proc/cmdline", "BOOT_IMAGE=/vmlinuz root=UUID=0 iommu=pt\n");
  host.set("/proc/self/limits",
           "Limit                     Soft Limit           Hard Limit           Units     \n"
           "Max open files            1048576              1048576              files     \n"
           "Max locked memory         unlimited            unlimited            bytes     \n");
  host.set("system/free/dev/shm", "540000000000 541000000000");
  host.set("/sys/class/dmi/id/sys_vendor", "Dell Inc.\n");
  host.set("/sys/class/dmi/id/product_name", product + "\n");
  host.set("/sys/class/dmi/id/board_name", "0RC9W3\n");
  add_system_details(host);
}

void add_link(FakeHost& host, const std::string& device, const std::string& speed, int width) {
  for (const char* which : {"current", "max"}) {
    host.set(fmt::format("{}/{}_link_speed", device, which), speed + " GT/s PCIe\n");
    host.set(fmt::format("{}/{}_link_width", device, which), fmt::format("{}\n", width));
  }
}

/// A network device on PCI.
void add_pci_device(FakeHost& host, const std::string& device) {
  host.link("/sys/bus/pci/devices" + device.substr(device.rfind('/')), device);
  host.set(device + "/vendor", "0x15b3\n");
}

/// An interface of a device on PCI.
void add_interface(FakeHost& host, const std::string& name, const std::string& device, int mtu) {
  const std::string folder = "/sys/class/net/" + name;
  host.link(folder + "/device", device);
  add_pci_device(host, device);
  host.set(folder + "/operstate", "up\n");
  host.set(folder + "/mtu", fmt::format("{}\n", mtu));
}

void add_adapter(FakeHost& host, int number, const std::string& board, const std::string& rate) {
  const std::string name = fmt::format("mlx5_{}", number);
  const std::string bridge = fmt::format("/sys/devices/pci0000:{:02x}/0000:{:02x}:01.0", 16 * number, 16 * number);
  const std::string device = fmt::format("{}/0000:{:02x}:00.0", bridge, 16 * number + 1);
  add_pci_device(host, device);
  add_link(host, bridge, "32.0", 16);
  add_link(host, device, "32.0", 16);
  const std::string folder = "/sys/class/infiniband/" + name;
  host.link(folder + "/device", device);
  host.set(folder + "/board_id", board + "\n");
  host.set(folder + "/hca_type", "MT4129\n");
  host.set(folder + "/fw_ver", "28.41.1000\n");
  host.set(folder + "/ports/1/state", "4: ACTIVE\n");
  host.set(folder + "/ports/1/phys_state", "5: LinkUp\n");
  host.set(folder + "/ports/1/rate", rate + "\n");
  host.set(folder + "/ports/1/link_layer", "InfiniBand\n");
}

}  // namespace

void FakeHost::remove(const std::string& source) {
  const auto goes = [&](const auto& entry) { return entry.first == source || is_below(entry.first, source); };
  std::erase_if(texts_, goes);
  std::erase_if(links_, goes);
  std::erase_if(folders_, [&](const std::string& each) { return each == source || is_below(each, source); });
}

void FakeHost::ask(const std::string& what) const {
  asked_.insert(what);
  if (denied_.count(what) > 0) throw NotSeen(what, "Permission denied");
  if (taken_.count(what) > 0) throw NotSeen(what, "No such file or directory", true);
}

/// A path with the links in it followed.
std::string FakeHost::resolved(const std::string& path) const {
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const auto link = links_.find(path.substr(0, end));
    if (link != links_.end()) return resolved(link->second + (end == std::string::npos ? "" : path.substr(end)));
    if (end == std::string::npos) break;
  }
  return path;
}

std::string FakeHost::text(const std::string& source) const {
  ask(source);
  const auto found = texts_.find(resolved(source));
  if (found == texts_.end()) throw NotSeen(source, "No such file or directory", true);
  answered_.insert(source);
  return found->second;
}

std::string FakeHost::field(const std::string& source, std::string_view key) const {
  const std::string asked = fmt::format("{}#{}", source, key);
  ask(asked);
  std::string value = View::field(source, key);
  answered_.insert(asked);
  return value;
}

std::vector<std::string> FakeHost::names(const std::string& folder) const {
  ask(folder);
  const std::string path = resolved(folder);
  std::set<std::string> names;
  const auto add = [&](const std::string& each) {
    if (is_below(each, path))
      names.insert(each.substr(path.size() + 1, each.find('/', path.size() + 1) - path.size() - 1));
  };
  const auto add_all = [&](const auto& entries) {
    for (auto each = entries.lower_bound(path + "/"); each != entries.end() && is_below(each->first, path); ++each)
      add(each->first);
  };
  add_all(texts_);
  add_all(links_);
  if (names.empty() && folders_.count(path) == 0) throw NotSeen(folder, "No such file or directory", true);
  answered_.insert(folder);
  return {names.begin(), names.end()};
}

std::string FakeHost::target(const std::string& link) const {
  ask(link);
  std::string path = resolved(link);
  if (path == link && texts_.count(link) == 0) throw NotSeen(link, "No such file or directory", true);
  answered_.insert(link);
  return path;
}

FakeHost host_with_nothing() {
  FakeHost host;
  add_system(host, "laptop", "XPS 13");
  add_interface(host, "eth0", "/sys/devices/pci0000:00/0000:00:1f.6", 1500);
  add_interface_details(host);
  return host;
}

FakeHost h100_infiniband_host() {
  FakeHost host;
  add_system(host, "node01", "PowerEdge XE9680");
  add_interface(host, "eno1", "/sys/devices/pci0000:00/0000:00:1f.6", 1500);
  constexpr int kRails = 8;
  for (int rail = 0; rail < kRails; ++rail) add_adapter(host, rail, "MT_0000000838", "400 Gb/sec (4X NDR)");
  add_adapter(host, kRails, "MT_0000000884", "200 Gb/sec (2X NDR)");
  add_rdma_settings(host, "/sys/devices/pci0000:30/0000:30:01.0/0000:31:00.0");
  add_interface_details(host);
  add_adapter_details(host);
  add_h100_gpus(host);
  return host;
}

const std::vector<NamedHost>& healthy_hosts() {
  static const std::vector<NamedHost> hosts = {{"nothing", host_with_nothing},
                                               {"h100_infiniband", h100_infiniband_host},
                                               {"roce", roce_host},
                                               {"efa", efa_host}};
  return hosts;
}

}  // namespace fabricbench::host
