#include "cluster/fabric/counters.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/fabric/fabric.h"
#include "cluster/import/text.h"
#include "common/core/error.h"
#include "common/core/plain_text.h"

namespace fabricbench::fabric {
namespace {

using cluster::trimmed;

struct KnownCounter {
  std::string_view name;
  CounterKind kind;
  std::uint64_t most;  // of the classic counter; those of PortCountersExtended go on
};

/// InfiniBand Architecture Specification, volume 1, PortCounters. perfquery writes the names without `Counter` or with
/// another case in some versions.
constexpr std::array kCounters = {
    KnownCounter{"SymbolError", CounterKind::kPhysical, 65535},
    KnownCounter{"LinkErrorRecovery", CounterKind::kPhysical, 255},
    KnownCounter{"LinkRecovers", CounterKind::kPhysical, 255},
    KnownCounter{"PortRcvErrors", CounterKind::kPhysical, 65535},
    KnownCounter{"LocalLinkIntegrityErrors", CounterKind::kPhysical, 15},
    KnownCounter{"ExcessiveBufferOverrunErrors", CounterKind::kPhysical, 15},
    KnownCounter{"PortRcvRemotePhysicalErrors", CounterKind::kOther, 65535},
    KnownCounter{"LinkDowned", CounterKind::kRestarts, 255},
    KnownCounter{"PortRcvSwitchRelayErrors", CounterKind::kCongestion, 65535},
    KnownCounter{"PortXmitDiscards", CounterKind::kCongestion, 65535},
    KnownCounter{"PortXmitConstraintErrors", CounterKind::kOther, 255},
    KnownCounter{"PortRcvConstraintErrors", CounterKind::kOther, 255},
    KnownCounter{"VL15Dropped", CounterKind::kOther, 65535},
    KnownCounter{"QP1Dropped", CounterKind::kOther, 65535},
};

const KnownCounter* known(std::string_view name) {
  constexpr std::string_view kEnd = "Counter";
  if (name.ends_with(kEnd)) name.remove_suffix(kEnd.size());
  const auto found =
      std::find_if(kCounters.begin(), kCounters.end(), [&](const KnownCounter& one) { return one.name == name; });
  return found == kCounters.end() ? nullptr : &*found;
}

/// What follows the first `mark`.
std::string_view behind(std::string_view text, std::string_view mark) {
  const std::size_t found = text.find(mark);
  return found == std::string_view::npos ? std::string_view() : trimmed(text.substr(found + mark.size()));
}

class CounterReader {
 public:
  CounterReader(std::string_view text, std::string_view file) : lines_(text), file_(file) {}

  std::vector<PortCounters> read() {
    while (lines_.next()) take(trimmed(lines_.line()));
    return std::move(ports_);
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw Error(ExitStatus::kFailure, fmt::format("{}:{}: {}: '{}'", file_, lines_.number(), what,
                                                  printable(cut_short(trimmed(lines_.line()), 100))));
  }

  void take(std::string_view line) {
    if (line.empty() || line.starts_with("##")) return;
    if (line.starts_with("Errors for ")) return take_node(line);
    if (line.starts_with("GUID ")) return take_port(line);
    if (line.starts_with("# Port ")) return take_lid(line);
    if (line.starts_with('#') || line.starts_with("Link info:")) return;
    take_dotted(line);
  }

  /// `Errors for "hostA mlx4_0"`, `Errors for 0x2c903006e29b0 "MF0;switch1:SX6036/U1"`
  void take_node(std::string_view line) {
    const std::size_t begin = line.find('"');
    const std::size_t end = line.rfind('"');
    if (begin == end) fail("the name of a node in quotes expected");
    node_ = std::string(trimmed(line.substr(begin + 1, end - begin - 1)));
  }

  /// `GUID 0x2c903006e29b0 port 1: [LinkDownedCounter == 8] [PortXmitWait == 2]`
  void take_port(std::string_view line) {
    const std::string_view port = behind(line, " port ");
    if (port.starts_with("ALL")) return;
    const auto guid = number_at<std::uint64_t>(behind(line, "GUID "), 16);
    const auto number = number_at<int>(port);
    if (!guid || !number) fail("a GUID and a port expected");
    ports_.push_back({node_, *guid, *number, {}});
    for (std::string_view rest = line; rest.find('[') != std::string_view::npos;) {
      rest = behind(rest, "[");
      const auto value = number_at<std::uint64_t>(behind(rest, "=="));
      if (!value) fail("a counter such as [SymbolErrorCounter == 1] expected");
      ports_.back().values[std::string(trimmed(rest.substr(0, rest.find("=="))))] = *value;
    }
  }

  /// `# Port extended counters: Lid 2052 port 1 (CapMask: 0x5300)`; port 255 is the sum of all.
  void take_lid(std::string_view line) {
    const auto lid = number_at<int>(behind(line, "Lid "));
    const auto port = number_at<int>(behind(line, " port "));
    if (!lid || !port) fail("a LID and a port expected");
    constexpr int kAllPorts = 255;
    is_sum_ = *port == kAllPorts;
    if (!is_sum_) ports_.push_back({fmt::format("lid {}", *lid), 0, *port, {}});
  }

  /// `SymbolErrorCounter:..............0`
  void take_dotted(std::string_view line) {
    const std::size_t colon = line.find(':');
    const std::size_t value = colon == std::string_view::npos ? colon : line.find_first_not_of(". :", colon);
    if (value == std::string_view::npos) fail("a counter expected; is this ibqueryerrors' or perfquery's text?");
    if (is_sum_) return;
    if (ports_.empty()) fail("a counter stands before the first port");
    const bool is_hex = line.substr(value).starts_with("0x");
    const auto number = number_at<std::uint64_t>(line.substr(value), is_hex ? 16 : 10);
    if (!number) fail("a number expected");
    ports_.back().values[std::string(line.substr(0, colon))] = *number;
  }

  cluster::TextLines lines_;
  std::string_view file_;
  bool is_sum_ = false;
  std::string node_;
  std::vector<PortCounters> ports_;
};

std::string text_of(const std::vector<std::pair<std::string, std::uint64_t>>& counters) {
  std::vector<std::string> words;
  words.reserve(counters.size());
  for (const auto& [name, value] : counters) {
    words.push_back(fmt::format("{}{} {}", name, is_saturated(name, value) ? " at least" : "", value));
  }
  return fmt::format("{}; age unknown", fmt::join(words, ", "));
}

/// Switches do not relay a few packets, such as multicast before its group is there, in every fabric.
constexpr std::uint64_t kFewestDrops = 100;

struct Weighed {
  CounterFinding finding;
  std::uint64_t weight = 0;
};

void judge(const PortCounters& port, std::uint64_t most_restarts, std::vector<Weighed>& found) {
  std::map<CounterKind, std::vector<std::pair<std::string, std::uint64_t>>> kinds;
  for (const auto& [name, value] : port.values) {
    if (value > 0) kinds[kind_of_counter(name)].emplace_back(name, value);
  }
  kinds.erase(CounterKind::kNothing);
  kinds.erase(CounterKind::kOther);
  const auto restarts = kinds.find(CounterKind::kRestarts);
  if (restarts != kinds.end() && restarts->second.front().second <= most_restarts) kinds.erase(restarts);
  for (auto& [kind, counters] : kinds) {
    std::stable_sort(counters.begin(), counters.end(),
                     [](const auto& one, const auto& other) { return one.second > other.second; });
    std::uint64_t weight = 0;
    for (const auto& [name, value] : counters) weight += std::min(value, std::uint64_t{1} << 40);
    if (kind == CounterKind::kCongestion && weight < kFewestDrops) continue;
    found.push_back({{kind, port.node, port.guid, port.port, text_of(counters)}, weight});
  }
}

}  // namespace

std::vector<PortCounters> read_counters(std::string_view text, std::string_view file) {
  return CounterReader(without_byte_order_mark(text), file).read();
}

CounterKind kind_of_counter(std::string_view name) {
  const KnownCounter* const counter = known(name);
  return counter == nullptr ? CounterKind::kNothing : counter->kind;
}

bool is_saturated(std::string_view name, std::uint64_t value) {
  const KnownCounter* const counter = known(name);
  return value == std::numeric_limits<std::uint32_t>::max() || (counter != nullptr && value == counter->most);
}

std::vector<CounterFinding> counter_findings(const std::vector<PortCounters>& ports, std::uint64_t most_restarts) {
  std::vector<Weighed> found;
  for (const PortCounters& port : ports) judge(port, most_restarts, found);
  std::stable_sort(found.begin(), found.end(), [](const Weighed& one, const Weighed& other) {
    return std::pair(one.finding.kind, other.weight) < std::pair(other.finding.kind, one.weight);
  });
  std::vector<CounterFinding> findings;
  findings.reserve(found.size());
  for (Weighed& one : found) findings.push_back(std::move(one.finding));
  return findings;
}

}  // namespace fabricbench::fabric
