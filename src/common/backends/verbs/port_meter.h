// What a port counts while a session uses it: errors, retransmissions, drops, congestion and pauses.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>

namespace fabricbench::verbs {

/// A port's counters of errors, retransmissions, out-of-sequence packets and drops, by name, without traffic counters.
/// Source: counters/ and hw_counters/ below /sys/class/infiniband/DEVICE/ports/PORT. Unreadable counters are left out.
using PortCounters = std::map<std::string, std::uint64_t>;

[[nodiscard]] PortCounters read_counters(const std::string& device, int port,
                                         const std::filesystem::path& sys = "/sys");

/// The growth of each counter that grew. A counter that decreased was reset, and counts from 0; one that was read only
/// once is unknown, and left out.
[[nodiscard]] PortCounters growth_of(const PortCounters& before, const PortCounters& after);

/// The counters that grew, such as `retry_exceeded_err +3, out_of_sequence +7`; empty if none did.
[[nodiscard]] std::string grown(const PortCounters& before, const PortCounters& after);

/// One reading of a port. A counter that the driver does not have is absent, which is not 0.
struct PortReading {
  std::string driver;       ///< such as mlx5_core; empty: unknown
  bool ethernet = false;    ///< its link layer
  bool is_counted = true;   ///< false: the kernel has files for counters, and the driver never fills them
  PortCounters errors;      ///< see read_counters
  PortCounters congestion;  ///< ECN marks, CNPs, waiting for credits
  PortCounters pauses;      ///< pause frames (PFC) and drops of each priority, of the port's interfaces
};

/// Returns the statistics of a network interface by the driver's names; empty if they cannot be read.
using InterfaceStatistics = std::function<PortCounters(const std::string& interface)>;

/// Those that `ethtool -S` prints. Empty for an interface in another network namespace or of a driver without any.
/// Source: SIOCETHTOOL in linux/sockios.h, ETHTOOL_GSTATS in linux/ethtool.h.
[[nodiscard]] PortCounters ethtool_statistics(const std::string& interface);

/// The names of counters differ by driver; port_meter.cpp has a table of them. `sys` replaces /sys in tests.
[[nodiscard]] PortReading read_port(const std::string& device, int port,
                                    const InterfaceStatistics& statistics = ethtool_statistics,
                                    const std::filesystem::path& sys = "/sys");

/// The growth between two readings, as a clause: `out_of_sequence +7; congestion: CNPs sent +3 (np_cnp_sent)`; empty if
/// nothing grew.
[[nodiscard]] std::string growth_text(const PortReading& before, const PortReading& after);

/// What the port's driver does not count, as a clause: `driver efa counts no ECN marks or CNPs and no pause frames, so
/// these are unknown`; empty if it counts all that its link layer has.
[[nodiscard]] std::string unknown_text(const PortReading& reading);

}  // namespace fabricbench::verbs
