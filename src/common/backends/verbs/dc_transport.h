#pragma once

#include <memory>
#include <string>

#include "common/backends/verbs/device.h"
#include "common/backends/verbs/provider_transport.h"

namespace fabricbench::verbs {

/// The functions of libmlx5 that DC needs.
inline constexpr const char* kKnowsMlx5 = "mlx5dv_is_supported";
inline constexpr const char* kCreateDc = "mlx5dv_create_qp";
inline constexpr const char* kExtendDc = "mlx5dv_qp_ex_from_ibv_qp_ex";

/// DC (Dynamically Connected) of mlx5 adapters, as reliable and as ordered as RC: a queue pair, the initiator (DCI),
/// sends to any number of targets (DCT) of other processes, one after the other, which saves connections. Here each has
/// one, as in perftest. Targets take their receives from a shared queue. Throws Error (missing): no library, or not an
/// mlx5 device.
[[nodiscard]] std::unique_ptr<ProviderTransport> open_dc(const OpenDevice& device, Verb verb,
                                                         const std::string& library = "libmlx5.so.1");

}  // namespace fabricbench::verbs
