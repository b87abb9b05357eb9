#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/core/units.h"
#include "common/host/nics.h"
#include "common/record/field.h"

namespace fabricbench {

using Names = std::vector<std::string>;

[[nodiscard]] inline bool contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The traffic that a variable controls.
enum class RequestScope {
  kSockets,  ///< traffic through the kernel's network stack
  kRdma,     ///< all traffic, because users who name an HCA want the data there
  kAny       ///< all traffic, for interfaces and RDMA ports alike
};

/// The NICs that one variable or option requests on one host.
struct RequestedNics {
  std::string variable;  ///< `NCCL_IB_HCA`
  std::string value;     ///< as it was set
  RequestScope scope;
  std::vector<std::string> names;  ///< NICs of the host that it allows; empty if there are none

  bool operator==(const RequestedNics&) const = default;
};

template <typename Visitor, record::Of<RequestedNics> Message>
void describe(Visitor& visitor, Message& asked) {
  visitor.internal(asked.variable, asked.value, asked.scope, asked.names);
}

/// Resolves the values of variables for the NICs of this host: names, prefixes, patterns and networks become names of
/// NICs, and a stacked NIC becomes the NICs below it, which count its bytes. Call it on each host.
///
/// `backend` is `nccl` or `mpi`. nccl reads NCCL_IB_HCA and NCCL_SOCKET_IFNAME, mpi reads UCX_NET_DEVICES and
/// OMPI_MCA_btl_{tcp_if_include,tcp_if_exclude,openib_if_include}. A variable counts as unset if it selects only the
/// loopback, or if its transport is disabled by NCCL_IB_DISABLE, NCCL_NET, OMPI_MCA_pml or OMPI_MCA_btl. Source: NCCL's
/// user guide, "Environment Variables"; `ucx_info -cf`; `ompi_info --param btl all --level 9`.
[[nodiscard]] std::vector<RequestedNics> requested_nics(
    std::string_view backend, const std::vector<std::pair<std::string, std::string>>& environment,
    const std::vector<host::Nic>& nics, const std::vector<host::InterfaceAddress>& addresses);

/// The same for --interface, which was given as `value` and selects the interface `name` on this host.
[[nodiscard]] std::vector<RequestedNics> requested_interface(const std::string& value, const std::string& name,
                                                             const std::vector<host::Nic>& nics);

// Which NICs carried a measurement, and whether they are those that the environment asks for. Pure functions.

namespace host {

template <typename Visitor, record::Of<NicCounter> Message>
void describe(Visitor& visitor, Message& counter) {
  visitor.internal(counter.name, counter.kind, counter.tx_bytes, counter.rx_bytes);
}

}  // namespace host

/// The facts about one host's NICs.
struct HostNics {
  std::string host;
  std::vector<host::NicCounter> nics;  ///< traffic of one case: a difference between readings, or a total of several
  std::vector<RequestedNics> asked;
};

template <typename Visitor, record::Of<HostNics> Message>
void describe(Visitor& visitor, Message& host) {
  visitor.internal(host.host, host.nics, host.asked);
}

/// One NIC's share of a host's traffic.
struct NicShare {
  std::string name;
  host::NicKind kind;
  Bytes tx_bytes;
  Bytes rx_bytes;
  double share;  ///< of the bytes of all NICs of the host, in both directions; 0 if there are none
};

struct HostShares {
  std::string host;
  Bytes tx_bytes = 0;
  Bytes rx_bytes = 0;
  std::vector<NicShare> nics;      ///< all but loopback and stacked ones, the largest share first
  std::vector<std::string> rails;  ///< NICs that should carry equal loads; empty if there are fewer than two
  double imbalance = 0;            ///< (most - least) / mean of the bytes of the rails; 0 without rails
};

/// Rails are the RDMA ports that carried at least 1 % of the host's bytes, or the interfaces that did if no RDMA port
/// did. If variables request some of these, only those are rails: the others may serve management or storage.
[[nodiscard]] HostShares nic_shares(const HostNics& host);

inline constexpr double kLeastNicShare = 0.01;       ///< a NIC below this is no rail and is not printed
inline constexpr double kMostRailImbalance = 0.05;   ///< a warning above this
inline constexpr double kLeastCarriedShare = 0.90;   ///< a requested NIC below this did not carry the data
inline constexpr Bytes kLeastHostBytes = 1u << 20U;  ///< a host below this has only background traffic

/// Lines for people, each beginning with `Wires: `: one per host, or on more than 8 hosts one for all that used the
/// same NICs; at most 12, and one with the number of the others. No line contains a word that parsers of the table look
/// for.
[[nodiscard]] std::vector<std::string> nic_lines(const std::vector<HostNics>& hosts);

/// At most one warning about rails and one per variable; each names the worst host and the number of the others. No
/// warning for a single host, whose ranks exchange data through memory, and none about hosts that moved less than
/// `least_bytes` in both directions together, which the caller computes.
///
/// A variable about sockets is judged by the interfaces' bytes alone, and only if these are most of the host's bytes:
/// NCCL uses NCCL_SOCKET_IFNAME to connect ranks even if RDMA carries the data, and UCX does not read Open MPI's
/// btl_tcp variables. If a requested NIC has unknown counters, one of the lines above says so, and there is no warning.
[[nodiscard]] std::vector<std::string> nic_warnings(const std::vector<HostNics>& hosts,
                                                    Bytes least_bytes = kLeastHostBytes);

}  // namespace fabricbench
