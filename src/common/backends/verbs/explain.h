#pragma once

#include <infiniband/verbs.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/core/error.h"

namespace fabricbench::verbs {

/// What a completion's status means and its likely causes, in one sentence or two without the peer's name: `retry
/// exceeded: no acknowledgement came; ...`. Source: InfiniBand specification 10.10.3, man ibv_poll_cq.
[[nodiscard]] std::string explain_status(ibv_wc_status status);

/// The exit status of a job that a completion with this status ends: kTimeout where the other side did not answer
/// (retry exceeded, RNR retry exceeded), else kFailure.
[[nodiscard]] ExitStatus exit_status_of(ibv_wc_status status);

/// Why ibv_reg_mr refused `bytes`, and what to do: ENOMEM (the limit on locked memory, with what it is now), EFAULT
/// (not memory that this kernel may pin: read-only, unmapped, or a GPU's without nvidia-peermem), EOPNOTSUPP, others.
[[nodiscard]] std::string explain_registration(int error, std::size_t bytes);

/// What ENOMEM means where the limit on locked memory is so many bytes (RLIM_INFINITY: there is none); `less` says what
/// to take less of.
[[nodiscard]] std::string explain_no_memory(std::uint64_t limit, const char* less);

/// Why a call such as `ibv_create_qp` failed, and what to do: ENOSYS (a kernel without RDMA support), EPERM, EMFILE,
/// ENOMEM, EINVAL of modify calls (wrong GID, MTU or LID), ENETUNREACH, EHOSTUNREACH, ETIMEDOUT, others by strerror.
[[nodiscard]] std::string explain_call(const char* call, int error);

/// Such as `ACTIVE` and `DOWN`.
[[nodiscard]] const char* name(ibv_port_state state);

/// Throws Error (missing) with explain_call.
[[noreturn]] void fail(const char* call, int error);

/// Does so unless `succeeded`, for calls that say by errno what went wrong: those that return a handle.
void check(bool succeeded, const char* call);

/// Does so unless `error` is 0, for calls that return the number of the error itself: those that query, modify or post.
/// Some return -1 and set errno.
inline void check_returned(int error, const char* call) {
  if (error != 0) [[unlikely]]
    fail(call, error > 0 ? error : errno);
}

}  // namespace fabricbench::verbs
