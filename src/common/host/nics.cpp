#include "common/host/nics.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "common/core/directory.h"
#include "common/host/files.h"

namespace fabricbench::host {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kBytesPerWord = 4;
// Source: PortCounters of the InfiniBand specification, which stop at their largest value.
constexpr std::uint64_t kEndOfShortCounter = std::numeric_limits<std::uint32_t>::max();

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

// A stream would take several times as long, and counters are read between measurements.
std::optional<std::uint64_t> read_count(const std::string& file) {
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  std::array<char, 32> text{};
  const ssize_t length = read(descriptor, text.data(), text.size());
  close(descriptor);
  if (length <= 0) return std::nullopt;
  return parse_integer<std::uint64_t>(without_blanks({text.data(), static_cast<std::size_t>(length)}));
}

std::optional<std::uint64_t> read_bytes(const std::string& file, NicKind kind) {
  const auto count = read_count(file);
  if (!count || kind != NicKind::kRdma) return count;
  if (*count == kEndOfShortCounter) return std::nullopt;
  if (*count > std::numeric_limits<std::uint64_t>::max() / kBytesPerWord) return std::nullopt;
  return *count * kBytesPerWord;
}

// The port that an IPoIB interface uses, if the port counts. Source: ARPHRD_INFINIBAND in linux/if_arp.h, `dev_port`
// (from 0, while ports count from 1) in ABI/testing/sysfs-class-net.
std::optional<std::string> port_below(const fs::path& root, const fs::path& interface) {
  constexpr int kInfiniBand = 32;
  if (read_integer<int>(interface / "type") != kInfiniBand) return std::nullopt;
  const std::vector<std::string> devices = names_in(interface / "device/infiniband");
  const auto index = read_integer<int>(interface / "dev_port");
  if (devices.size() != 1 || !index || *index < 0) return std::nullopt;
  const std::string port = std::to_string(std::int64_t{*index} + 1);
  const fs::path counters = root / "sys/class/infiniband" / devices[0] / "ports" / port / "counters";
  if (!is_there(counters / "port_xmit_data")) return std::nullopt;
  return devices[0] + ":" + port;
}

// The kernel links a bond, VLAN or bridge to each interface below it, as `lower_eth0`.
std::vector<std::string> nics_below(const fs::path& root, const fs::path& interface) {
  constexpr std::string_view kLink = "lower_";
  std::vector<std::string> below;
  for (const std::string& name : names_in(interface)) {
    if (name.starts_with(kLink)) below.push_back(name.substr(kLink.size()));
  }
  if (const auto port = port_below(root, interface)) below.push_back(*port);
  return below;
}

// The first address and the mask of an IPv4 network in host byte order.
struct Network {
  std::uint32_t address;
  std::uint32_t mask;
};

std::optional<Network> parse_network(std::string_view text) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const auto length = parse_integer<std::uint8_t>(text.substr(std::min(slash + 1, text.size())));
  if (!length || *length > 32) return std::nullopt;
  std::uint32_t address = 0;
  int shift = 32;
  std::string_view rest = text.substr(0, slash);
  while (!rest.empty()) {
    const std::size_t dot = std::min(rest.find('.'), rest.size());
    const auto byte = parse_integer<std::uint8_t>(rest.substr(0, dot));
    if (!byte || shift == 0) return std::nullopt;
    shift -= 8;
    address |= std::uint32_t{*byte} << shift;
    rest.remove_prefix(std::min(dot + 1, rest.size()));
  }
  if (shift == 32) return std::nullopt;
  const std::uint32_t mask = *length == 0 ? 0 : std::numeric_limits<std::uint32_t>::max() << (32 - *length);
  return Network{address & mask, mask};
}

void add_bottom(const std::string& name, const std::vector<Nic>& nics, std::vector<std::string>& found) {
  const auto nic = std::find_if(nics.begin(), nics.end(), [&](const Nic& w) { return w.name == name; });
  if (nic == nics.end() || nic->kind == NicKind::kLoopback) return;
  if (nic->kind != NicKind::kStacked) found.push_back(name);
  for (const std::string& below : nic->below) add_bottom(below, nics, found);  // the kernel allows no cycles
}

const NicCounter* find(const std::vector<NicCounter>& nics, const std::string& name) {
  const auto found = std::find_if(nics.begin(), nics.end(), [&](const NicCounter& w) { return w.name == name; });
  return found == nics.end() ? nullptr : &*found;
}

/// `eth0: 1 2 3 ...`: eight numbers on what it received, of which the first is bytes, then as many on what it sent.
/// Empty for the two lines of titles.
std::optional<InterfaceBytes> parse_line(const std::string& line) {
  constexpr std::size_t kReceived = 0;
  constexpr std::size_t kSent = 8;
  const std::size_t colon = line.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  std::istringstream words(line.substr(colon + 1));
  std::vector<std::string> numbers;
  for (std::string word; words >> word;) numbers.push_back(word);
  if (numbers.size() <= kSent) return std::nullopt;
  const auto received = parse_integer<std::uint64_t>(numbers[kReceived]);
  const auto sent = parse_integer<std::uint64_t>(numbers[kSent]);
  if (!received || !sent) return std::nullopt;
  return InterfaceBytes{std::string(without_blanks(std::string_view(line).substr(0, colon))), *sent, *received};
}

}  // namespace

NicReader::NicReader(const fs::path& root) {
  find_interfaces(root);
  find_rdma_ports(root);
}

void NicReader::find_interfaces(const fs::path& root) {
  if (has_foreign_sysfs(root)) {
    own_root_ = root;
    for (const InterfaceBytes& interface : interface_bytes(root)) {
      nics_.push_back({interface.name, interface.name == "lo" ? NicKind::kLoopback : NicKind::kInterface, {}});
      files_.push_back({});
    }
    return;
  }
  const fs::path all = root / "sys/class/net";
  for (const std::string& name : names_in(all)) {
    const fs::path statistics = all / name / "statistics";
    if (!is_there(statistics)) continue;  // a file such as bonding_masters
    std::vector<std::string> below = nics_below(root, all / name);
    NicKind kind = below.empty() ? NicKind::kInterface : NicKind::kStacked;
    if (name == "lo") kind = NicKind::kLoopback;
    nics_.push_back({name, kind, std::move(below)});
    files_.push_back({statistics / "tx_bytes", statistics / "rx_bytes"});
  }
}

void NicReader::find_rdma_ports(const fs::path& root) {
  const fs::path all = root / "sys/class/infiniband";
  for (const std::string& device : names_in(all)) {
    for (const std::string& port : names_in(all / device / "ports")) {
      const fs::path counters = all / device / "ports" / port / "counters";
      nics_.push_back({std::string(device).append(":").append(port), NicKind::kRdma, {}});
      files_.push_back({counters / "port_xmit_data", counters / "port_rcv_data"});
    }
  }
}

std::vector<NicCounter> NicReader::read() const {
  std::vector<NicCounter> counters;
  counters.reserve(nics_.size());
  const std::vector<InterfaceBytes> own =
      own_root_.empty() ? std::vector<InterfaceBytes>() : interface_bytes(own_root_);
  for (std::size_t i = 0; i < nics_.size(); ++i) {
    if (files_[i].sent.empty()) {
      const auto found =
          std::find_if(own.begin(), own.end(), [&](const auto& each) { return each.name == nics_[i].name; });
      if (found != own.end()) counters.push_back({found->name, nics_[i].kind, found->tx_bytes, found->rx_bytes});
      continue;
    }
    const auto sent = read_bytes(files_[i].sent, nics_[i].kind);
    const auto received = read_bytes(files_[i].received, nics_[i].kind);
    if (sent && received) counters.push_back({nics_[i].name, nics_[i].kind, *sent, *received});
  }
  return counters;
}

std::vector<std::string> bottom_nics(const std::string& name, const std::vector<Nic>& nics) {
  std::vector<std::string> found;
  add_bottom(name, nics, found);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::vector<NicCounter> nic_traffic(const std::vector<NicCounter>& before, const std::vector<NicCounter>& after) {
  std::vector<NicCounter> traffic;
  for (const NicCounter& end : after) {
    const NicCounter* const begin = find(before, end.name);
    if (begin == nullptr || end.tx_bytes < begin->tx_bytes || end.rx_bytes < begin->rx_bytes) continue;
    traffic.push_back({end.name, end.kind, end.tx_bytes - begin->tx_bytes, end.rx_bytes - begin->rx_bytes});
  }
  return traffic;
}

void NicTotal::add(const std::vector<NicCounter>& traffic) {
  if (std::exchange(empty_, false)) {
    nics_ = traffic;
    return;
  }
  std::vector<NicCounter> sums;
  for (const NicCounter& more : traffic) {
    const NicCounter* const sum = find(nics_, more.name);
    if (sum == nullptr) continue;
    sums.push_back({more.name, more.kind, sum->tx_bytes + more.tx_bytes, sum->rx_bytes + more.rx_bytes});
  }
  nics_ = std::move(sums);
}

std::vector<InterfaceAddress> interface_addresses() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, &freeifaddrs);
  std::vector<InterfaceAddress> addresses;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || entry->ifa_addr->sa_family != AF_INET) continue;
    sockaddr_in address{};
    std::memcpy(&address, entry->ifa_addr, sizeof address);
    const std::string_view label(entry->ifa_name);
    addresses.push_back({std::string(label.substr(0, label.find(':'))), ntohl(address.sin_addr.s_addr)});
  }
  return addresses;
}

std::vector<std::string> interfaces_in(std::string_view network, const std::vector<InterfaceAddress>& addresses) {
  std::vector<std::string> names;
  const auto parsed = parse_network(network);
  if (!parsed) return names;
  for (const InterfaceAddress& address : addresses) {
    if ((address.ipv4 & parsed->mask) == parsed->address) names.push_back(address.interface);
  }
  return names;
}

std::vector<InterfaceBytes> interface_bytes(const fs::path& root) {
  std::vector<InterfaceBytes> found;
  for (const std::string& line : read_lines(root / "proc/self/net/dev")) {
    if (auto interface = parse_line(line)) found.push_back(*std::move(interface));
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return found;
}

bool has_foreign_sysfs(const fs::path& root) {
  const std::vector<InterfaceBytes> own = interface_bytes(root);
  if (own.empty()) return false;
  std::vector<std::string> listed;
  for (const std::string& name : names_in(root / "sys/class/net")) {
    std::error_code error;
    if (fs::is_directory(root / "sys/class/net" / name, error)) listed.push_back(name);  // not bonding_masters
  }
  return !std::equal(own.begin(), own.end(), listed.begin(), listed.end(),
                     [](const InterfaceBytes& interface, const std::string& name) { return interface.name == name; });
}

namespace {

namespace fs = std::filesystem;

// Entries of a directory that are directories themselves or links to one, which leaves out files
// such as /sys/class/net/bonding_masters. A directory that cannot be read has none.
std::vector<fs::path> subdirectories(const fs::path& directory) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code unreadable;
    if (entry->is_directory(unreadable)) found.push_back(entry->path());
  }
  return found;
}

// Source: ARPHRD_ETHER and ARPHRD_INFINIBAND in linux/if_arp.h.
std::string interface_kind(const fs::path& interface) {
  const auto type = read_integer<int>(interface / "type");
  if (type == 1) return "ethernet";
  if (type == 32) return "infiniband";
  return "other";
}

// An unknown speed is -1, which some kernels print as an unsigned number: neither fits.
std::optional<std::int64_t> interface_speed(const fs::path& interface) {
  const auto speed = read_integer<std::int32_t>(interface / "speed");
  return speed && *speed > 0 ? std::optional<std::int64_t>(*speed) : std::nullopt;
}

std::string port_kind(const fs::path& port) {
  const auto link_layer = read_first_line(port / "link_layer");
  if (link_layer == "Ethernet") return "ethernet";
  if (link_layer == "InfiniBand") return "infiniband";
  return "other";
}

// `4: ACTIVE` is the number of the state and its name.
std::string port_state(const fs::path& port) {
  const std::string state = read_first_line(port / "state").value_or("unknown");
  const auto colon = state.find(": ");
  return colon == std::string::npos ? state : state.substr(colon + 2);
}

// `100 Gb/sec (4X EDR)` or `2.5 Gb/sec (1X SDR)`; 0 where there is no link.
std::optional<std::int64_t> port_speed(const fs::path& port) {
  constexpr double kFastestGbitPerS = 1e6;
  const std::string rate = read_first_line(port / "rate").value_or("");
  const char* const end = rate.data() + rate.size();
  double gbit_per_s = 0;
  const auto [stop, error] = std::from_chars(rate.data(), end, gbit_per_s);
  const std::string_view unit(stop, static_cast<std::size_t>(end - stop));
  if (error != std::errc{} || !unit.starts_with(" Gb/sec")) return std::nullopt;
  if (!(gbit_per_s > 0 && gbit_per_s < kFastestGbitPerS)) return std::nullopt;
  return std::llround(gbit_per_s * 1000);
}

// `0c42:a103:00f1:d2e6`; a device that has none shows zeros.
std::optional<std::string> device_guid(const fs::path& device) {
  std::string digits = read_first_line(device / "node_guid").value_or("");
  std::erase(digits, ':');
  if (digits.find_first_not_of('0') == std::string::npos) return std::nullopt;
  return "0x" + digits;
}

// The name and version of the driver of what `device` links to. Drivers that come with the kernel have no version.
std::string driver_of(const fs::path& root, const fs::path& device) {
  std::error_code error;
  const std::string name = fs::read_symlink(device / "driver", error).filename().string();
  if (error) return {};
  const auto version = read_first_line(root / "sys/module" / name / "version");
  return version ? name + " " + *version : name;
}

// What `ethtool -i` prints as firmware-version.
std::string firmware_told_by_driver(const std::string& interface) {
  ethtool_drvinfo info{};
  info.cmd = ETHTOOL_GDRVINFO;
  ifreq request{};
  std::copy_n(interface.c_str(), std::min(interface.size(), sizeof request.ifr_name - 1), request.ifr_name);
  request.ifr_data = reinterpret_cast<char*>(&info);
  const int asked = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (asked < 0) return {};
  const bool answered = ioctl(asked, SIOCETHTOOL, &request) == 0;
  close(asked);
  return answered ? std::string(info.fw_version, strnlen(info.fw_version, sizeof info.fw_version)) : std::string();
}

// Of an adapter, which bridges and the like are not, without RDMA: otherwise its port tells it.
std::string interface_firmware(const fs::path& interface, const FirmwareReader& firmware_of) {
  std::error_code error;
  if (!firmware_of || !fs::exists(interface / "device", error) || fs::exists(interface / "device/infiniband", error)) {
    return {};
  }
  const std::string firmware = firmware_of(interface.filename().string());
  const bool is_text =
      std::all_of(firmware.begin(), firmware.end(), [](char each) { return each >= ' ' && each <= '~'; });
  return is_text && firmware != "N/A" ? firmware : std::string();
}

std::vector<NetworkDevice> interfaces(const fs::path& root, const FirmwareReader& firmware_of) {
  std::vector<NetworkDevice> found;
  if (has_foreign_sysfs(root)) {  // which has the properties of others
    for (const InterfaceBytes& interface : interface_bytes(root)) {
      if (interface.name != "lo")
        found.push_back({.name = interface.name, .kind = "other", .state = "unknown", .speed_mbit_per_s = {}});
    }
    return found;
  }
  for (const fs::path& interface : subdirectories(root / "sys/class/net")) {
    if (interface.filename() == "lo") continue;
    found.push_back({.name = interface.filename().string(),
                     .kind = interface_kind(interface),
                     .state = read_first_line(interface / "operstate").value_or("unknown"),
                     .speed_mbit_per_s = interface_speed(interface),
                     .numa_node = numa_node_of(interface / "device"),
                     .mtu = read_integer<int>(interface / "mtu"),
                     .driver = driver_of(root, interface / "device"),
                     .firmware = interface_firmware(interface, firmware_of)});
  }
  return found;
}

std::vector<NetworkDevice> rdma_ports(const fs::path& root) {
  std::vector<NetworkDevice> found;
  for (const fs::path& device : subdirectories(root / "sys/class/infiniband")) {
    for (const fs::path& port : subdirectories(device / "ports")) {
      found.push_back({.name = device.filename().string() + ":" + port.filename().string(),
                       .kind = port_kind(port),
                       .state = port_state(port),
                       .speed_mbit_per_s = port_speed(port),
                       .numa_node = numa_node_of(device / "device"),
                       .guid = device_guid(device),
                       .driver = driver_of(root, device / "device"),
                       .firmware = read_first_line(device / "fw_ver").value_or("")});
    }
  }
  return found;
}

}  // namespace

std::vector<NetworkDevice> network_devices(const fs::path& root, const FirmwareReader& firmware_of) {
  const bool is_own = root == "/";
  std::vector<NetworkDevice> devices = interfaces(root, is_own && !firmware_of ? firmware_told_by_driver : firmware_of);
  for (NetworkDevice& port : rdma_ports(root)) devices.push_back(std::move(port));
  std::sort(devices.begin(), devices.end(),
            [](const NetworkDevice& a, const NetworkDevice& b) { return a.name < b.name; });
  return devices;
}

}  // namespace fabricbench::host
