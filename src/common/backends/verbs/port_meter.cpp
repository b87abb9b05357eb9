#include "common/backends/verbs/port_meter.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/core/directory.h"
#include "common/core/ownership.h"

namespace fabricbench::verbs {
namespace {

namespace fs = std::filesystem;

// Prefixes of words in counter names, which drivers choose freely. Congestion marks (cnp, ecn, xmit_wait) are left out:
// they also grow on a network that is merely busy and works correctly.
constexpr std::array<std::string_view, 20> kTrouble = {
    "err", "discard", "drop", "retr",    "timeout",  "out_of_", "oos",   "dup",     "nak",    "seq",
    "rnr", "down",    "over", "invalid", "mismatch", "missing", "trunc", "restart", "unresp", "impair"};

bool is_upper(char letter) { return letter >= 'A' && letter <= 'Z'; }

// Words begin at the start of the name, after an underscore or with a capital letter: `ack_deferred` has no word that
// begins with `err`.
bool begins_word(std::string_view name, std::size_t place) {
  return place == 0 || name[place - 1] == '_' || is_upper(name[place]);
}

bool tells_of_trouble(std::string_view name) {
  std::string lower(name);
  for (char& letter : lower) letter = is_upper(letter) ? static_cast<char>(letter - 'A' + 'a') : letter;
  const auto has = [&](std::string_view word) {
    std::size_t place = lower.find(word);
    while (place != std::string::npos && !begins_word(name, place)) place = lower.find(word, place + 1);
    return place != std::string::npos;
  };
  return std::any_of(kTrouble.begin(), kTrouble.end(), has);
}

// Reading a counter that the device does not have fails or returns text.
void read_directory(const fs::path& directory, PortCounters& counters) {
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!tells_of_trouble(name)) continue;
    std::uint64_t value = 0;
    if (std::ifstream(entry->path()) >> value) counters.emplace(name, value);
  }
}

/// Asks the driver of one interface.
class EthtoolSocket : NotCopied {
 public:
  explicit EthtoolSocket(const std::string& interface) : socket_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    std::copy_n(interface.c_str(), std::min(interface.size(), sizeof request_.ifr_name - 1), request_.ifr_name);
  }
  ~EthtoolSocket() {
    if (socket_ >= 0) close(socket_);
  }

  /// Whether the driver has answered. `command` begins with its number, and takes the answer.
  [[nodiscard]] bool ask(void* command) {
    request_.ifr_data = static_cast<char*>(command);
    return socket_ >= 0 && ioctl(socket_, SIOCETHTOOL, &request_) == 0;
  }

 private:
  int socket_;
  ifreq request_{};
};

/// An answer: a header of type `Header`, then `count` elements of `bytes` each.
template <typename Header>
class Answer {
 public:
  Answer(std::uint32_t command, std::uint32_t count, std::size_t bytes)
      : memory_((sizeof(Header) + count * bytes) / sizeof(std::uint64_t) + 1) {
    header()->cmd = command;
  }

  [[nodiscard]] Header* header() { return reinterpret_cast<Header*>(memory_.data()); }
  [[nodiscard]] const std::byte* elements() const {
    return reinterpret_cast<const std::byte*>(memory_.data()) + sizeof(Header);
  }

 private:
  std::vector<std::uint64_t> memory_;
};

namespace fs = std::filesystem;

/// A counter by its driver's name; `#` stands for the number of a priority.
struct KnownCounter {
  std::string_view name;
  std::string_view meaning;
};

constexpr std::string_view kCreditWait = "port_xmit_wait";

// Files below counters/ and hw_counters/ of a port.
constexpr KnownCounter kCongestion[] = {
    // InfiniBand: PortXmitWait, in ticks. Source: InfiniBand specification 16.1.4.
    {kCreditWait, "ticks with data to send and no credit"},
    // mlx5. Source: drivers/infiniband/hw/mlx5/counters.c of Linux.
    {"np_cnp_sent", "CNPs sent"},
    {"np_ecn_marked_roce_packets", "packets received with an ECN mark"},
    {"rp_cnp_handled", "CNPs handled"},
    {"rp_cnp_ignored", "CNPs ignored"},
    // bnxt_re. Source: drivers/infiniband/hw/bnxt_re/hw_counters.c of Linux.
    {"tx_cnp_pkts", "CNPs sent"},
    {"rx_cnp_pkts", "CNPs received"},
    {"rx_ecn_marked_pkts", "packets received with an ECN mark"},
    // irdma. Source: drivers/infiniband/hw/irdma/verbs.c of Linux.
    {"cnpSent", "CNPs sent"},
    {"cnpHandled", "CNPs handled"},
    {"cnpIgnored", "CNPs ignored"},
    {"RxECNMrkd", "packets received with an ECN mark"},
    // hns. Source: drivers/infiniband/hw/hns/hns_roce_main.c of Linux.
    {"tx_cnp_pkt", "CNPs sent"},
    {"rx_cnp_pkt", "CNPs received"},
};

// Statistics of a port's interface (ethtool -S).
constexpr KnownCounter kPauses[] = {
    // mlx5. Source: drivers/net/ethernet/mellanox/mlx5/core/en_stats.c of Linux.
    {"rx_prio#_pause", "pause frames received"},
    {"tx_prio#_pause", "pause frames sent"},
    {"rx_prio#_discards", "packets dropped"},
    {"rx_global_pause", "pause frames received"},
    {"tx_global_pause", "pause frames sent"},
    // bnxt_en. Source: drivers/net/ethernet/broadcom/bnxt/bnxt_ethtool.c of Linux.
    {"rx_pfc_ena_frames_pri#", "pause frames received"},
    {"tx_pfc_ena_frames_pri#", "pause frames sent"},
    // ice. Source: drivers/net/ethernet/intel/ice/ice_ethtool.c of Linux.
    {"rx_priority_#_xoff.nic", "pause frames received"},
    {"tx_priority_#_xoff.nic", "pause frames sent"},
    // hns3. Source: drivers/net/ethernet/hisilicon/hns3/hns3pf/hclge_main.c of Linux.
    {"mac_rx_pfc_pri#_pkt_num", "pause frames received"},
    {"mac_tx_pfc_pri#_pkt_num", "pause frames sent"},
};

bool is_digit(char character) { return std::isdigit(static_cast<unsigned char>(character)) != 0; }

bool matches(std::string_view pattern, std::string_view name) {
  return pattern.size() == name.size() && std::equal(pattern.begin(), pattern.end(), name.begin(),
                                                     [](char a, char b) { return a == '#' ? is_digit(b) : a == b; });
}

/// Null if the table has no such counter.
template <std::size_t N>
const KnownCounter* find_known(const KnownCounter (&table)[N], std::string_view name) {
  const auto* const found = std::find_if(std::begin(table), std::end(table),
                                         [&](const KnownCounter& each) { return matches(each.name, name); });
  return found == std::end(table) ? nullptr : found;
}

/// Such as `CNPs sent`, `pause frames received on priority 3` and, of all priorities together, `pause frames received`.
std::string meaning_of(std::string_view name) {
  if (const KnownCounter* const found = find_known(kCongestion, name)) return std::string(found->meaning);
  const KnownCounter* const found = find_known(kPauses, name);
  const std::size_t priority = found->name.find('#');
  if (priority == std::string_view::npos) return std::string(found->meaning);
  return fmt::format("{} on priority {}", found->meaning, name[priority]);
}

std::optional<std::uint64_t> read_number(const fs::path& file) {
  std::uint64_t value = 0;
  return std::ifstream(file) >> value ? std::optional(value) : std::nullopt;
}

std::string read_word(const fs::path& file) {
  std::string word;
  std::ifstream(file) >> word;
  return word;
}

/// The interfaces below these: of a bond or VLAN those that carry its packets, which have the counters.
std::vector<std::string> bottom_interfaces(const std::string& interface, const fs::path& sys) {
  constexpr std::string_view kLower = "lower_";
  std::vector<std::string> found;
  for (const std::string& name : names_in(sys / "class/net" / interface)) {
    if (!name.starts_with(kLower)) continue;
    for (std::string& below : bottom_interfaces(name.substr(kLower.size()), sys)) found.push_back(std::move(below));
  }
  return found.empty() ? std::vector<std::string>{interface} : found;
}

/// The interfaces whose packets the port carries; empty without any, as on InfiniBand. Source:
/// Documentation/ABI/stable/sysfs-class-infiniband of Linux.
std::vector<std::string> interfaces_of(const fs::path& port, const fs::path& sys) {
  std::vector<std::string> found;
  for (const std::string& index : names_in(port / "gid_attrs/ndevs")) {
    const std::string interface = read_word(port / "gid_attrs/ndevs" / index);
    if (interface.empty()) continue;
    for (std::string& each : bottom_interfaces(interface, sys)) {
      if (std::find(found.begin(), found.end(), each) == found.end()) found.push_back(std::move(each));
    }
  }
  return found;
}

PortCounters read_congestion(const fs::path& port) {
  PortCounters counters;
  for (const char* const folder : {"counters", "hw_counters"}) {
    for (const std::string& name : names_in(port / folder)) {
      if (find_known(kCongestion, name) == nullptr) continue;
      if (const auto value = read_number(port / folder / name)) counters.emplace(name, *value);
    }
  }
  return counters;
}

PortCounters read_pauses(const std::vector<std::string>& interfaces, const InterfaceStatistics& statistics) {
  PortCounters counters;
  for (const std::string& interface : interfaces) {
    for (const auto& [name, value] : statistics(interface)) {
      if (find_known(kPauses, name) != nullptr) counters[name] += value;
    }
  }
  return counters;
}

/// Whether the driver fills counters/. A driver that does not leaves the bytes of both directions at 0 for ever.
bool fills_counters(const fs::path& port) {
  return read_number(port / "counters/port_xmit_data").value_or(1) > 0 ||
         read_number(port / "counters/port_rcv_data").value_or(1) > 0;
}

/// `CNPs sent +3 (np_cnp_sent)` for each counter that grew.
std::vector<std::string> grown_texts(const PortCounters& before, const PortCounters& after) {
  std::vector<std::string> texts;
  for (const auto& [name, growth] : growth_of(before, after)) {
    texts.push_back(fmt::format("{} +{} ({})", meaning_of(name), growth, name));
  }
  return texts;
}

}  // namespace

PortCounters read_counters(const std::string& device, int port, const fs::path& sys) {
  const fs::path directory = sys / "class/infiniband" / device / "ports" / std::to_string(port);
  PortCounters counters;
  read_directory(directory / "counters", counters);
  read_directory(directory / "hw_counters", counters);
  return counters;
}

PortCounters growth_of(const PortCounters& before, const PortCounters& after) {
  PortCounters grown;
  for (const auto& [name, value] : after) {
    const auto earlier = before.find(name);
    if (earlier == before.end()) continue;
    const std::uint64_t growth = value < earlier->second ? value : value - earlier->second;
    if (growth > 0) grown.emplace(name, growth);
  }
  return grown;
}

std::string grown(const PortCounters& before, const PortCounters& after) {
  std::string text;
  for (const auto& [name, growth] : growth_of(before, after)) {
    text += fmt::format("{}{} +{}", text.empty() ? "" : ", ", name, growth);
  }
  return text;
}

PortCounters ethtool_statistics(const std::string& interface) {
  EthtoolSocket driver(interface);
  ethtool_drvinfo info{};
  info.cmd = ETHTOOL_GDRVINFO;
  if (!driver.ask(&info) || info.n_stats == 0) return {};
  Answer<ethtool_gstrings> names(ETHTOOL_GSTRINGS, info.n_stats, ETH_GSTRING_LEN);
  names.header()->string_set = ETH_SS_STATS;
  names.header()->len = info.n_stats;
  Answer<ethtool_stats> values(ETHTOOL_GSTATS, info.n_stats, sizeof(std::uint64_t));
  values.header()->n_stats = info.n_stats;
  if (!driver.ask(names.header()) || !driver.ask(values.header())) return {};
  // The kernel refuses a number that has changed in between by answering with none.
  const std::uint32_t count = std::min({info.n_stats, names.header()->len, values.header()->n_stats});
  PortCounters statistics;
  for (std::size_t i = 0; i < count; ++i) {
    const auto* const name = reinterpret_cast<const char*>(names.elements() + i * ETH_GSTRING_LEN);
    std::uint64_t value = 0;
    std::memcpy(&value, values.elements() + i * sizeof value, sizeof value);
    statistics.emplace(std::string(name, strnlen(name, ETH_GSTRING_LEN)), value);
  }
  return statistics;
}

PortReading read_port(const std::string& device, int port, const InterfaceStatistics& statistics, const fs::path& sys) {
  const fs::path folder = sys / "class/infiniband" / device;
  const fs::path of_port = folder / "ports" / std::to_string(port);
  PortReading reading;
  std::error_code error;
  reading.driver = fs::read_symlink(folder / "device/driver", error).filename().string();
  reading.ethernet = read_word(of_port / "link_layer") == "Ethernet";
  reading.errors = read_counters(device, port, sys);
  reading.congestion = read_congestion(of_port);
  reading.is_counted = fs::exists(of_port / "hw_counters") || fills_counters(of_port);
  if (reading.ethernet) reading.pauses = read_pauses(interfaces_of(of_port, sys), statistics);
  return reading;
}

std::string growth_text(const PortReading& before, const PortReading& after) {
  std::vector<std::string> clauses;
  if (std::string errors = grown(before.errors, after.errors); !errors.empty()) clauses.push_back(std::move(errors));
  std::vector<std::string> congestion = grown_texts(before.congestion, after.congestion);
  for (std::string& text : grown_texts(before.pauses, after.pauses)) congestion.push_back(std::move(text));
  if (!congestion.empty()) clauses.push_back(fmt::format("congestion: {}", fmt::join(congestion, ", ")));
  return fmt::format("{}", fmt::join(clauses, "; "));
}

std::string unknown_text(const PortReading& reading) {
  const auto counts = [](const PortCounters& counters, auto wanted) {
    return std::any_of(counters.begin(), counters.end(), [&](const auto& each) { return wanted(each.first); });
  };
  const bool marks = counts(reading.congestion, [](const std::string& name) { return name != kCreditWait; });
  const bool frames = counts(reading.pauses, [](const std::string& name) { return !name.ends_with("_discards"); });
  std::vector<std::string_view> unknown;
  if (reading.errors.empty() || !reading.is_counted) unknown.push_back("errors and retransmissions");
  if ((reading.ethernet ? !marks : reading.congestion.empty()) || !reading.is_counted)
    unknown.push_back(reading.ethernet ? "ECN marks and CNPs" : "waiting for credits");
  if (reading.ethernet && !frames) unknown.push_back("pause frames");
  if (unknown.empty()) return "";
  return fmt::format("{} counts no {}: {} unknown, not 0",
                     reading.driver.empty() ? "the driver" : fmt::format("driver {}", reading.driver),
                     fmt::join(unknown, ", no "), unknown.size() == 1 ? "this is" : "these are");
}

}  // namespace fabricbench::verbs
