#include "common/nic_counters/nic_meter.h"

#include <algorithm>

#include "common/backends/sockets/interfaces.h"
#include "common/host/environment.h"
#include "common/ranks/agreement.h"

namespace fabricbench {
namespace {

/// The name of the interface that --interface selects on this host. Connections over it exist, so the choice succeeds.
std::string interface_meant(const std::string& asked) {
  const std::vector<sockets::Interface> known = sockets::interfaces();
  return sockets::interface_of(sockets::choose_addresses(asked, known).front().address, known);
}

}  // namespace

NicMeter::NicMeter(const Team& team, const ProcessLocation& location, const std::string& backend,
                   const std::string& interface)
    : team_(team), location_(location) {
  const std::vector<std::uint64_t> hosts = team.group().all_gather(location.host_id);
  reads_ = std::find(hosts.begin(), hosts.end(), location.host_id) == hosts.begin() + team.group().rank();
  if (reads_) {
    asked_ = interface.empty()
                 ? requested_nics(backend, host::communication_variables(), reader_.nics(), host::interface_addresses())
                 : requested_interface(interface, interface_meant(interface), reader_.nics());
  }
}

void NicMeter::begin() {
  if (reads_) before_ = reader_.read();
  team_.world().barrier();  // no other host may send before this one has read its counters
}

void NicMeter::end(host::NicTotal& total, Bytes least_bytes) {
  if (!reads_) return;
  const std::vector<host::NicCounter> traffic = host::nic_traffic(before_, reader_.read());
  total.add(traffic);
  all_.add(traffic);
  least_bytes_ += least_bytes;
}

std::vector<NicBytes> NicMeter::by_host(const host::NicTotal& total) const {
  std::vector<NicBytes> list;
  std::vector<HostNics> own;
  if (reads_) own.push_back({location_.host, total.nics(), {}});
  for (const HostNics& nics : gather_lists_on_first(team_.group(), own)) {
    for (const host::NicCounter& nic : nics.nics) {
      list.push_back({nics.host, nic.name, nic.tx_bytes, nic.rx_bytes});
    }
  }
  return list;
}

NicReport NicMeter::report() const {
  std::vector<HostNics> own;
  if (location_.local_process == 0) own.push_back({location_.host, all_.nics(), asked_});
  return {gather_lists_on_first(team_.world(), own), least_bytes_};
}

void NicReport::add(const NicReport& later) {
  least_bytes += later.least_bytes;
  for (const HostNics& host : later.hosts) {
    const auto same =
        std::find_if(hosts.begin(), hosts.end(), [&](const HostNics& known) { return known.host == host.host; });
    if (same == hosts.end()) {
      hosts.push_back(host);
      continue;
    }
    host::NicTotal total;
    total.add(same->nics);
    total.add(host.nics);
    same->nics = total.nics();
  }
}

void NicReport::add_to(Ending& ending) const {
  if (hosts.size() < 2) return;
  ending.nics = nic_lines(hosts);
  const std::vector<std::string> warnings =
      nic_warnings(hosts, std::max(least_bytes / static_cast<Bytes>(hosts.size()), kLeastHostBytes));
  ending.notes.insert(ending.notes.end(), warnings.begin(), warnings.end());
}

}  // namespace fabricbench
