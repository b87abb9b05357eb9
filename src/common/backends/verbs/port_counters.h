#pragma once

#include <cstdint>
#include <filesystem>
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

}  // namespace fabricbench::verbs
