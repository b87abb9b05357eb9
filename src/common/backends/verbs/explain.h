#pragma once

#include <infiniband/verbs.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/core/error.h"

namespace fabricbench::verbs {

/// The meaning and likely causes of a completion's status, in one or two sentences without the peer's name: `retry
/// exceeded: no acknowledgement came; ...`. Source: InfiniBand specification 10.10.3, man ibv_poll_cq.
[[nodiscard]] std::string explain_status(ibv_wc_status status);

/// The exit status of a job that ends with this completion status: kTimeout if the other side did not answer (retry
/// exceeded, RNR retry exceeded), else kFailure.
[[nodiscard]] ExitStatus exit_status_of(ibv_wc_status status);

/// Why ibv_reg_mr refused `bytes`, and what to do: ENOMEM (with the current limit on locked memory), EFAULT (memory
/// that this kernel cannot pin: read-only, unmapped, or GPU memory without nvidia-peermem), EOPNOTSUPP, others.
[[nodiscard]] std::string explain_registration(int error, std::size_t bytes);

/// The meaning of ENOMEM with this limit on locked memory in bytes (RLIM_INFINITY: none); `less` is the advice on what
/// to reduce.
[[nodiscard]] std::string explain_no_memory(std::uint64_t limit, const char* less);

/// Why a call such as `ibv_create_qp` failed, and what to do: ENOSYS (a kernel without RDMA support), EPERM, EMFILE,
/// ENOMEM, EINVAL of modify calls (wrong GID, MTU or LID), ENETUNREACH, EHOSTUNREACH, ETIMEDOUT, others by strerror.
[[nodiscard]] std::string explain_call(const char* call, int error);

/// Such as `ACTIVE` or `DOWN`.
[[nodiscard]] const char* name(ibv_port_state state);

/// Throws Error (missing) with explain_call.
[[noreturn]] void fail(const char* call, int error);

/// The same after ibv_poll_cq, whose result is all that it tells. Source: man ibv_poll_cq.
[[noreturn]] void fail_poll(int returned);

/// Fails unless `succeeded`, for calls that return a handle and report errors by errno.
void check(bool succeeded, const char* call);

/// Fails unless `error` is 0, for calls that return the error number: those that query, modify or post. Some return -1
/// and set errno.
inline void check_returned(int error, const char* call) {
  if (error != 0) [[unlikely]]
    fail(call, error > 0 ? error : errno);
}

}  // namespace fabricbench::verbs
