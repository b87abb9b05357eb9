#include "common/host/nics.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <sstream>
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

}  // namespace fabricbench::host
