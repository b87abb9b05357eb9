#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

template <typename Form, record::Of<RequestedNics> Message>
void describe(Form& form, Message& asked) {
  form.hidden(asked.variable, asked.value, asked.scope, asked.names);
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

}  // namespace fabricbench
