#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace fabricbench::verbs {

/// The counters of a port that tell of trouble: errors, retransmissions, what arrived out of sequence, what was
/// dropped; by name. Those of traffic are left out. Source: counters/ and hw_counters/ below
/// /sys/class/infiniband/DEVICE/ports/PORT; a counter that cannot be read is left out.
using PortCounters = std::map<std::string, std::uint64_t>;

[[nodiscard]] PortCounters read_counters(const std::string& device, int port,
                                         const std::filesystem::path& sys = "/sys");

/// What grew, by how much, as `retry_exceeded_err +3, out_of_sequence +7`; empty where nothing did. A counter that went
/// back was reset, and counts from 0.
[[nodiscard]] std::string grown(const PortCounters& before, const PortCounters& after);

}  // namespace fabricbench::verbs
