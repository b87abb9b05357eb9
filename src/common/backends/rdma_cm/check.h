#pragma once

#include <string>

namespace fabricbench::rdma_cm {

/// Why a call of librdmacm failed, and what to do: ENODEV and ENOENT (the kernel's module rdma_ucm), EADDRNOTAVAIL,
/// EACCES, others as in verbs::explain_call.
[[nodiscard]] std::string explain_call(const char* call, int error);

/// Throws Error (missing) with explain_call and errno unless `succeeded`.
void check(bool succeeded, const char* call);

}  // namespace fabricbench::rdma_cm
