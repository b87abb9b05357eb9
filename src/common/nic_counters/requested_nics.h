#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/host/nics.h"
#include "common/record/field.h"

namespace fabricbench {

/// Which traffic a variable decides about.
enum class RequestScope {
  kSockets,  ///< what goes through the kernel's network stack
  kRdma,     ///< all traffic: who names an HCA wants the data there
  kAny       ///< all traffic, for interfaces and RDMA ports alike
};

/// What one variable, or option, asks for on one host.
struct RequestedNics {
  std::string variable;  ///< `NCCL_IB_HCA`
  std::string value;     ///< as it was set
  RequestScope scope;
  std::vector<std::string> names;  ///< the host's NICs that it allows; empty where it has none such

  bool operator==(const RequestedNics&) const = default;
};

template <typename Form, record::Of<RequestedNics> Message>
void describe(Form& form, Message& asked) {
  form.hidden(asked.variable, asked.value, asked.scope, asked.names);
}

/// Resolves what the variables ask for against the NICs of this host: names, prefixes, patterns and networks become
/// names of NICs, and a stacked NIC becomes those below it, which count its bytes. Call it on each host.
///
/// `backend` is `nccl` or `mpi`. nccl reads NCCL_IB_HCA and NCCL_SOCKET_IFNAME, mpi reads UCX_NET_DEVICES and
/// OMPI_MCA_btl_{tcp_if_include,tcp_if_exclude,openib_if_include}. A variable of a transport that is switched off
/// by NCCL_IB_DISABLE, NCCL_NET, OMPI_MCA_pml or OMPI_MCA_btl asks for nothing, and so does one that only asks for
/// the loopback.
/// Source: NCCL's user guide, "Environment Variables"; `ucx_info -cf`; `ompi_info --param btl all --level 9`.
[[nodiscard]] std::vector<RequestedNics> requested_nics(
    std::string_view backend, const std::vector<std::pair<std::string, std::string>>& environment,
    const std::vector<host::Nic>& nics, const std::vector<host::InterfaceAddress>& addresses);

/// The same of --interface, which was given as `value` and means the interface `name` on this host.
[[nodiscard]] std::vector<RequestedNics> requested_interface(const std::string& value, const std::string& name,
                                                             const std::vector<host::Nic>& nics);

}  // namespace fabricbench
