#include "common/backends/verbs/explain.h"

#include <sys/resource.h>

#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "common/core/units.h"

namespace fabricbench::verbs {
namespace {

struct StatusText {
  ibv_wc_status status;
  const char* text;
};

// Causes, most frequent first. Source: InfiniBand specification 10.10.3, man ibv_poll_cq.
constexpr StatusText kStatuses[] = {
    {IBV_WC_SUCCESS, "success"},
    {IBV_WC_LOC_LEN_ERR,
     "local length error: the message is longer than the receive buffer, or than the port sends; the two ends disagree "
     "about the size"},
    {IBV_WC_LOC_QP_OP_ERR,
     "local queue pair operation error: the device cannot carry out this request on this queue pair; a driver's or "
     "this "
     "program's mistake, or a limit of the device"},
    {IBV_WC_LOC_EEC_OP_ERR, "local end-to-end context operation error"},
    {IBV_WC_LOC_PROT_ERR,
     "local protection error: this end's buffer lies outside its memory region; GPU memory that was freed or whose "
     "mapping was revoked also gives this error"},
    {IBV_WC_WR_FLUSH_ERR,
     "flushed: the queue pair was in error before this request began; an earlier completion, perhaps the other end's, "
     "has the cause"},
    {IBV_WC_MW_BIND_ERR, "memory window bind error: the window could not be bound to its region"},
    {IBV_WC_BAD_RESP_ERR,
     "bad response: the answer does not belong to this request; the device's firmware or the path may be faulty"},
    {IBV_WC_LOC_ACCESS_ERR,
     "local access error: what arrived may not be written to this end's buffer, whose region lacks the right"},
    {IBV_WC_REM_INV_REQ_ERR,
     "remote invalid request: the other end does not take this request; its receive buffer is shorter than the "
     "message, "
     "or its queue pair does not allow reads or atomics"},
    {IBV_WC_REM_ACCESS_ERR,
     "remote access error: the other end's memory region does not allow this; its process has ended, the key or "
     "address "
     "is wrong or no longer valid, or an atomic's address is not a multiple of 8"},
    {IBV_WC_REM_OP_ERR,
     "remote operation error: the other end failed while it carried the request out; see its log (dmesg), and for a "
     "GPU's memory try host memory"},
    {IBV_WC_RETRY_EXC_ERR,
     "retry exceeded: no acknowledgement came; the link or the other end is down, the GID (-x) is wrong, the path MTU "
     "(-m) is larger than what switches let through, a firewall drops UDP port 4791 (RoCE), or packets are lost for "
     "lack of flow control (PFC); a path that is gone for moments takes a longer timeout (-u 20)"},
    {IBV_WC_RNR_RETRY_EXC_ERR,
     "receiver-not-ready retry exceeded: the other end had no receive posted for too long; its process is stuck or too "
     "slow, so give it more receives (-r)"},
    {IBV_WC_LOC_RDD_VIOL_ERR, "local reliable datagram domain violation: the queue pair is not of this domain"},
    {IBV_WC_REM_INV_RD_REQ_ERR, "remote invalid reliable datagram request: the domains of the two ends differ"},
    {IBV_WC_REM_ABORT_ERR, "remote aborted: the other end gave the operation up"},
    {IBV_WC_INV_EECN_ERR, "invalid end-to-end context number"},
    {IBV_WC_INV_EEC_STATE_ERR, "invalid end-to-end context state"},
    {IBV_WC_FATAL_ERR, "fatal error: the device failed; see the kernel's log (dmesg), and reset or replace the device"},
    {IBV_WC_RESP_TIMEOUT_ERR,
     "response timeout: the other end did not answer in time; its process or its device is stuck"},
    {IBV_WC_GENERAL_ERR, "general error: the device gives no reason; see the kernel's log (dmesg)"},
    {IBV_WC_TM_ERR, "tag matching error"},
    {IBV_WC_TM_RNDV_INCOMPLETE, "tag matching: the rendezvous is not complete"}};

struct ErrorName {
  int error;
  const char* name;
};

constexpr ErrorName kErrorNames[] = {{EPERM, "EPERM"},
                                     {ENOENT, "ENOENT"},
                                     {EIO, "EIO"},
                                     {EBADF, "EBADF"},
                                     {EAGAIN, "EAGAIN"},
                                     {ENOMEM, "ENOMEM"},
                                     {EACCES, "EACCES"},
                                     {EFAULT, "EFAULT"},
                                     {EBUSY, "EBUSY"},
                                     {ENODEV, "ENODEV"},
                                     {EINVAL, "EINVAL"},
                                     {EMFILE, "EMFILE"},
                                     {ENOSPC, "ENOSPC"},
                                     {ENOSYS, "ENOSYS"},
                                     {EPROTONOSUPPORT, "EPROTONOSUPPORT"},
                                     {EOPNOTSUPP, "EOPNOTSUPP"},
                                     {ENETUNREACH, "ENETUNREACH"},
                                     {ETIMEDOUT, "ETIMEDOUT"},
                                     {EHOSTUNREACH, "EHOSTUNREACH"}};

// `Invalid argument (EINVAL)`. The C library's function for names of errors (strerrorname_np) is newer than some
// clusters.
std::string words(int error) {
  for (const ErrorName& known : kErrorNames) {
    if (known.error == error) return fmt::format("{} ({})", std::strerror(error), known.name);
  }
  return fmt::format("{} (errno {})", std::strerror(error), error);
}

struct Hint {
  int error;
  std::string_view call;  // prefix of the call's name; empty: any
  const char* text;
};

// The first match counts.
constexpr Hint kHints[] = {
    {ENOSYS, "", "the kernel has no RDMA support, or its module ib_uverbs is not loaded (modprobe ib_uverbs)"},
    {EPERM, "",
     "this user may not use the device; check the permissions of /dev/infiniband/uverbs*, and in a container pass "
     "--device=/dev/infiniband"},
    {EACCES, "",
     "this user may not use the device; check the permissions of /dev/infiniband/uverbs*, and in a container pass "
     "--device=/dev/infiniband"},
    {ENOENT, "", "the device's file is missing below /dev/infiniband; in a container pass --device=/dev/infiniband"},
    {EMFILE, "", "this process has too many open files; raise the limit (ulimit -n)"},
    {EINVAL, "ibv_create_qp", "more than the device can do was asked for; take a smaller -t, -r or -I"},
    {EINVAL, "ibv_create_cq", "more than the device can do was asked for; take a smaller -t, -r or -q"},
    {EINVAL, "ibv_modify_qp",
     "the GID (-x), the MTU (-m), the LID or another attribute of the path does not suit this port; is the network "
     "interface of the GID up, and does it still have its address?"},
    {EINVAL, "ibv_create_ah",
     "the GID (-x) or the LID of the path does not suit this port; is the network interface of the GID up, and does it "
     "still have its address?"},
    {ENETUNREACH, "",
     "there is no route from the chosen GID to the other end's; let both ends' GIDs be of one subnet (-x), or add a "
     "route (ip route)"},
    {EHOSTUNREACH, "",
     "the other end's address does not answer; is its interface up, and are both in one VLAN (ip neigh)?"},
    {ETIMEDOUT, "",
     "the other end's address was not resolved in time; is its interface up, and are both in one VLAN (ip neigh)?"},
    {EOPNOTSUPP, "", "this device or its driver cannot do that"},
    {EPROTONOSUPPORT, "", "this device or its driver cannot do that"},
    {ENOSPC, "", "the device has no more of these; take fewer queue pairs (-q), or end other jobs on this host"},
    {EIO, "", "the device failed or was removed; see the kernel's log (dmesg)"},
    {ENODEV, "", "the device failed or was removed; see the kernel's log (dmesg)"},
    {EAGAIN, "", "the device or the kernel is short of resources; take fewer queue pairs (-q) or a smaller -t"}};

const char* hint_of(std::string_view call, int error) {
  for (const Hint& hint : kHints) {
    if (hint.error == error && call.starts_with(hint.call)) return hint.text;  // `ibv_modify_qp to RTR`
  }
  return "";
}

rlim_t locked_memory_limit() {
  rlimit limit{};
  return getrlimit(RLIMIT_MEMLOCK, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

}  // namespace

std::string explain_status(ibv_wc_status status) {
  for (const StatusText& known : kStatuses) {
    if (known.status == status) return known.text;
  }
  return fmt::format("{} (status {})", ibv_wc_status_str(status), static_cast<int>(status));
}

ExitStatus exit_status_of(ibv_wc_status status) {
  const bool no_answer =
      status == IBV_WC_RETRY_EXC_ERR || status == IBV_WC_RNR_RETRY_EXC_ERR || status == IBV_WC_RESP_TIMEOUT_ERR;
  return no_answer ? ExitStatus::kTimeout : ExitStatus::kFailure;
}

std::string explain_no_memory(std::uint64_t limit, const char* less) {
  if (limit == RLIM_INFINITY) {
    return fmt::format("locked memory is not limited here, so the host, the cgroup or the device has none left; {}",
                       less);
  }
  return fmt::format(
      "the limit on locked memory is {}; set it to unlimited (ulimit -l unlimited; memlock in "
      "/etc/security/limits.conf; LimitMEMLOCK=infinity of slurmd; --ulimit memlock=-1 of a container), or {}",
      readable_bytes(limit), less);
}

std::string explain_registration(int error, std::size_t bytes) {
  std::string why = hint_of("ibv_reg_mr", error);
  if (error == ENOMEM) why = explain_no_memory(locked_memory_limit(), "take smaller messages (-e)");
  if (error == EINVAL) why = "the device does not take a region of this size or with these rights";
  if (error == EFAULT) {
    why =
        "this is not memory that the kernel may pin: GPU memory needs the module nvidia-peermem (modprobe "
        "nvidia-peermem) "
        "or dma-buf (the GPU's open kernel modules and Linux 5.12); host memory must be mapped and writable";
  }
  return fmt::format("verbs: ibv_reg_mr of {}: {}{}{}", readable_bytes(bytes), words(error), why.empty() ? "" : "; ",
                     why);
}

std::string explain_call(const char* call, int error) {
  std::string why = hint_of(call, error);
  if (error == ENOMEM)
    why = explain_no_memory(locked_memory_limit(), "take fewer queue pairs (-q), or a smaller -t or -r");
  return fmt::format("verbs: {}: {}{}{}", call, words(error), why.empty() ? "" : "; ", why);
}

const char* name(ibv_port_state state) {
  switch (state) {
    case IBV_PORT_NOP: return "NOP";
    case IBV_PORT_DOWN: return "DOWN";
    case IBV_PORT_INIT: return "INIT";
    case IBV_PORT_ARMED: return "ARMED";
    case IBV_PORT_ACTIVE: return "ACTIVE";
    case IBV_PORT_ACTIVE_DEFER: return "ACTIVE_DEFER";
    default: return "unknown";
  }
}

void fail(const char* call, int error) { throw Error(ExitStatus::kMissing, explain_call(call, error)); }

void fail_poll(int returned) {
  throw Error(
      ExitStatus::kMissing,
      fmt::format("verbs: ibv_poll_cq returned {}: the completion queue is broken, as where the device failed or "
                  "was removed; see the kernel's log (dmesg)",
                  returned));
}

void check(bool succeeded, const char* call) {
  if (!succeeded) fail(call, errno);
}

}  // namespace fabricbench::verbs
