#include "common/harness/wire_meter.h"

#include <algorithm>

namespace fabricbench {

WireMeter::WireMeter(const Team& team, const Placed& placed, const std::string& backend)
    : team_(team), placed_(placed) {
  const std::vector<std::uint64_t> hosts = team.group().all_gather(placed.host_id);
  reads_ = std::find(hosts.begin(), hosts.end(), placed.host_id) == hosts.begin() + team.group().rank();
  if (reads_) {
    asked_ = asked_wires(backend, whitelisted_environment(), reader_.wires(), host::interface_addresses());
  }
}

void WireMeter::begin() {
  if (reads_) before_ = reader_.read();
  team_.world().barrier();  // or another host's bytes could come before this one has read
}

void WireMeter::end(host::WireTotal& total, Bytes least_bytes) {
  if (!reads_) return;
  const std::vector<host::WireCounter> traffic = host::wire_traffic(before_, reader_.read());
  total.add(traffic);
  all_.add(traffic);
  least_bytes_ += least_bytes;
}

std::vector<WireBytes> WireMeter::by_host(const host::WireTotal& total) const {
  std::vector<WireBytes> list;
  const std::string own = reads_ ? to_text(HostWires{placed_.host, total.wires(), {}}) : "";
  for (const std::string& text : team_.group().gather(own)) {
    if (text.empty()) continue;
    const HostWires wires = host_wires_from_text(text);
    for (const host::WireCounter& wire : wires.wires) {
      list.push_back({wires.host, wire.name, wire.tx_bytes, wire.rx_bytes});
    }
  }
  return list;
}

void WireMeter::report(Ending& ending) const {
  const bool speaks = placed_.local_process == 0;
  const std::vector<std::string> texts =
      team_.world().gather(speaks ? to_text(HostWires{placed_.host, all_.wires(), asked_}) : "");
  if (placed_.hosts < 2 || !team_.world().is_root()) return;
  std::vector<HostWires> hosts;
  for (const std::string& text : texts) {
    if (!text.empty()) hosts.push_back(host_wires_from_text(text));
  }
  ending.wires = wire_lines(hosts);
  const std::vector<std::string> warnings =
      wire_warnings(hosts, std::max(least_bytes_ / static_cast<Bytes>(placed_.hosts), kLeastHostBytes));
  ending.notes.insert(ending.notes.end(), warnings.begin(), warnings.end());
}

}  // namespace fabricbench
