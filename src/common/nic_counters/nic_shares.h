#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/core/units.h"
#include "common/host/nics.h"
#include "common/nic_counters/requested_nics.h"
#include "common/record/field.h"

/// Which NICs carried a measurement, and whether they are those that the environment asks for. Pure functions.
namespace fabricbench {

namespace host {

template <typename Form, record::Of<NicCounter> Message>
void describe(Form& form, Message& counter) {
  form.hidden(counter.name, counter.kind, counter.tx_bytes, counter.rx_bytes);
}

}  // namespace host

/// What one host knows of its NICs.
struct HostNics {
  std::string host;
  std::vector<host::NicCounter> nics;  ///< traffic of one case: a difference or a total of readings
  std::vector<RequestedNics> asked;
};

template <typename Form, record::Of<HostNics> Message>
void describe(Form& form, Message& host) {
  form.hidden(host.host, host.nics, host.asked);
}

/// One NIC's part of what a host sent and received.
struct NicShare {
  std::string name;
  host::NicKind kind;
  Bytes tx_bytes;
  Bytes rx_bytes;
  double share;  ///< of the bytes of all NICs of the host, both ways; 0 where there are none
};

struct HostShares {
  std::string host;
  Bytes tx_bytes = 0;
  Bytes rx_bytes = 0;
  std::vector<NicShare> nics;      ///< all but loopback and stacked ones, the largest share first
  std::vector<std::string> rails;  ///< NICs that should carry alike; empty where there are not two
  double imbalance = 0;            ///< (most - least) / mean of the bytes of the rails; 0 without rails
};

/// Rails are the RDMA ports, or where none of those carried 1 % the interfaces, that carried 1 % of the host's bytes
/// or more. Where variables ask for any of these, only those are rails: another may serve the management or
/// the storage.
[[nodiscard]] HostShares nic_shares(const HostNics& host);

inline constexpr double kLeastNicShare = 0.01;       ///< below, a NIC is no rail and is not printed
inline constexpr double kMostRailImbalance = 0.05;   ///< above, there is a warning
inline constexpr double kLeastCarriedShare = 0.90;   ///< below, what was asked for did not carry the data
inline constexpr Bytes kLeastHostBytes = 1u << 20U;  ///< below, there is nothing but the noise of a living host

/// Lines for people, each beginning with `Wires: `: one a host, or on more than 8 hosts one for all with the same
/// picture, at most 12 and one that counts the rest. No line holds a word that parsers of the table look for.
[[nodiscard]] std::vector<std::string> nic_lines(const std::vector<HostNics>& hosts);

/// At most one warning about rails and one for each variable; each names the worst host and counts the others.
/// None for a single host, whose ranks meet in memory, and none about hosts that moved less than `least_bytes`
/// both ways: the caller knows what a case had to move.
///
/// A variable about sockets is judged by the interfaces' bytes alone, and only where they are most of the host's:
/// NCCL uses NCCL_SOCKET_IFNAME to get ranks acquainted even where RDMA carries the data, and UCX does not read Open
/// MPI's btl_tcp variables. Where counters of a NIC asked for are not known, there is no warning but a line above.
[[nodiscard]] std::vector<std::string> nic_warnings(const std::vector<HostNics>& hosts,
                                                    Bytes least_bytes = kLeastHostBytes);

}  // namespace fabricbench
