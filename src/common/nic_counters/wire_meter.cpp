#include "common/nic_counters/wire_meter.h"

#include <algorithm>

#include "common/backends/sockets/interfaces.h"
#include "common/host/environment.h"
#include "common/ranks/exchange.h"

namespace fabricbench {
namespace {

/// The interface that --interface means on this host, where connections by it have been made.
std::string interface_meant(const std::string& asked) {
  const std::vector<sockets::Interface> known = sockets::interfaces();
  return sockets::interface_of(sockets::choose_addresses(asked, known).front().address, known);
}

}  // namespace

WireMeter::WireMeter(const Team& team, const Placed& placed, const std::string& backend, const std::string& interface)
    : team_(team), placed_(placed) {
  const std::vector<std::uint64_t> hosts = team.group().all_gather(placed.host_id);
  reads_ = std::find(hosts.begin(), hosts.end(), placed.host_id) == hosts.begin() + team.group().rank();
  if (reads_) {
    asked_ = interface.empty()
                 ? asked_wires(backend, host::communication_variables(), reader_.wires(), host::interface_addresses())
                 : asked_interface(interface, interface_meant(interface), reader_.wires());
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
  std::vector<HostWires> own;
  if (reads_) own.push_back({placed_.host, total.wires(), {}});
  for (const HostWires& wires : gather_lists(team_.group(), own)) {
    for (const host::WireCounter& wire : wires.wires) {
      list.push_back({wires.host, wire.name, wire.tx_bytes, wire.rx_bytes});
    }
  }
  return list;
}

WireReport WireMeter::report() const {
  std::vector<HostWires> own;
  if (placed_.local_process == 0) own.push_back({placed_.host, all_.wires(), asked_});
  return {gather_lists(team_.world(), own), least_bytes_};
}

void WireReport::add(const WireReport& later) {
  least_bytes += later.least_bytes;
  for (const HostWires& host : later.hosts) {
    const auto same =
        std::find_if(hosts.begin(), hosts.end(), [&](const HostWires& known) { return known.host == host.host; });
    if (same == hosts.end()) {
      hosts.push_back(host);
      continue;
    }
    host::WireTotal total;
    total.add(same->wires);
    total.add(host.wires);
    same->wires = total.wires();
  }
}

void WireReport::add_to(Ending& ending) const {
  if (hosts.size() < 2) return;
  ending.wires = wire_lines(hosts);
  const std::vector<std::string> warnings =
      wire_warnings(hosts, std::max(least_bytes / static_cast<Bytes>(hosts.size()), kLeastHostBytes));
  ending.notes.insert(ending.notes.end(), warnings.begin(), warnings.end());
}

}  // namespace fabricbench
