#include "common/host/checks/checks.h"
#include "common/host/checks/devices.h"

#include <array>

#include <fmt/format.h>

namespace fabricbench::host {
namespace {

/// A counter of a port that stops at its highest value.
struct PhysicalCounter {
  std::string_view name;
  std::uint64_t highest;
  std::uint64_t usual = 0;  ///< what restarts and re-cabling leave behind
};

/// Discards and waits are congestion, not cables. Source of widths: PortCounters, InfiniBand Architecture
/// Specification 16.1.3.5, which sysfs shows.
constexpr std::array<PhysicalCounter, 7> kPhysicalCounters = {{{"symbol_error", 65535},
                                                               {"link_error_recovery", 255},
                                                               {"link_downed", 255, 9},
                                                               {"port_rcv_errors", 65535},
                                                               {"port_rcv_remote_physical_errors", 65535},
                                                               {"local_link_integrity_errors", 15},
                                                               {"excessive_buffer_overrun_errors", 15}}};

/// `link_downed at least 255`; empty where it is as usual. Drivers may show the wider counters of PortCountersExtended.
std::string told(Look& host, const RdmaPort& port, const PhysicalCounter& counter) {
  const auto count = host.number<std::uint64_t>(fmt::format("{}/counters/{}", port.folder(), counter.name));
  if (count <= counter.usual) return "";
  const bool is_at_end = count == counter.highest || count == UINT32_MAX;
  return fmt::format("{} {}{}", counter.name, is_at_end ? "at least " : "", count);
}

void look_at_counters(Look& host, const RdmaPort& port) {
  std::string all;
  for (const PhysicalCounter& counter : kPhysicalCounters) {
    host.attempt([&] {
      const std::string text = told(host, port, counter);
      if (!text.empty()) all += (all.empty() ? "" : ", ") + text;
    });
  }
  if (all.empty()) return;
  host.report({.level = CheckLevel::kNote,
               .device = port.name(),
               .measured = all + " since the last reset, whose age is unknown",
               .expected = "no errors of the link",
               .consequence = "if they still grow, the cable or one of its ends is bad: retries, then a lost link",
               .next = "fabricbench preflight --watch 60 shows whether they grow"});
}

/// Adapters without the counters of InfiniBand, such as EFA, have neither link layer.
void examine_error_counters(Look& host) {
  for (const char* layer : {"InfiniBand", "Ethernet"}) {
    each_active_port(host, layer, [&](const RdmaPort& port) { look_at_counters(host, port); });
  }
}

std::optional<std::string> no_counted_port(Look& host) {
  if (!no_infiniband_port(host) || !no_roce_port(host)) return std::nullopt;
  return "no InfiniBand or RoCE port";
}

}  // namespace

Check error_counters_check() {
  return {.name = "error_counters",
          .what =
              "Active ports have counted no errors of their links since the last reset. Waits and discards are no "
              "such errors.",
          .reads = "/sys/class/infiniband/*/ports/*/counters",
          .absent = no_counted_port,
          .look = examine_error_counters};
}

}  // namespace fabricbench::host
