#pragma once

#include <memory>
#include <string>

#include "common/backends/verbs/device.h"
#include "common/backends/verbs/provider_transport.h"

namespace fabricbench::verbs {

/// The functions of libefa that SRD needs.
inline constexpr const char* kCreateSrd = "efadv_create_qp_ex";
inline constexpr const char* kQueryEfa = "efadv_query_device";

/// SRD (Scalable Reliable Datagram) of EFA adapters, which spread a queue pair's packets over many paths: every message
/// arrives once, but in any order, and so do completions. Throws Error (missing): no library, not an EFA device, or one
/// without RDMA reads or writes, if that is the verb.
[[nodiscard]] std::unique_ptr<ProviderTransport> open_srd(const OpenDevice& device, Verb verb,
                                                          const std::string& library = "libefa.so.1");

}  // namespace fabricbench::verbs
