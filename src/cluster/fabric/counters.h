// What `ibqueryerrors` and `perfquery` print: error counters of ports.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace fabricbench::fabric {

/// Counters of a port. Totals since they were reset: how old they are is not known.
struct PortCounters {
  std::string node;        ///< name; of perfquery `lid 2052`
  std::uint64_t guid = 0;  ///< 0: unknown
  int port = 0;
  std::map<std::string, std::uint64_t> values;
};

/// Reads either form. "port ALL", the sum of others, is left out. `file` names the text in messages.
/// Throws Error: `FILE:LINE: what`. Source: ibqueryerrors(8), perfquery(8).
[[nodiscard]] std::vector<PortCounters> read_counters(std::string_view text, std::string_view file);

enum class CounterKind {
  kPhysical,    ///< cable, transceiver or port
  kCongestion,  ///< traffic that was dropped or not relayed
  kRestarts,    ///< the link went down, as it does when a host starts
  kOther,
  kNothing,  ///< says nothing about faults, as PortXmitWait does
};
[[nodiscard]] CounterKind kind_of_counter(std::string_view name);

/// Whether a counter of this name stopped at its largest value: then it is "at least" that.
[[nodiscard]] bool is_saturated(std::string_view name, std::uint64_t value);

struct CounterFinding {
  CounterKind kind = CounterKind::kPhysical;
  std::string node;
  std::uint64_t guid = 0;
  int port = 0;
  std::string text;  ///< `SymbolErrorCounter at least 65535, LinkErrorRecoveryCounter 8; age unknown`
};

/// One for a port and kind: physical errors first, the most of them first. Link-downs of a port count only where it has
/// more than most_restarts, or physical errors too.
[[nodiscard]] std::vector<CounterFinding> counter_findings(const std::vector<PortCounters>& ports,
                                                           std::uint64_t most_restarts = 10);

}  // namespace fabricbench::fabric
