#include "common/backends/rdma_cm/check.h"

#include <cerrno>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "common/backends/verbs/explain.h"
#include "common/core/error.h"

namespace fabricbench::rdma_cm {
namespace {

const char* hint_of(std::string_view call, int error) {
  const bool opens = call == "rdma_create_event_channel";
  if (opens && (error == ENODEV || error == ENOENT)) {
    return "the kernel's rdma_cm is not available to programs; load its module (modprobe rdma_ucm), and in a container "
           "pass "
           "--device=/dev/infiniband/rdma_cm";
  }
  if (opens && (error == EACCES || error == EPERM)) {
    return "this user may not use rdma_cm; check the permissions of /dev/infiniband/rdma_cm";
  }
  if (error == EADDRNOTAVAIL || error == ENODEV) {
    return "no RDMA device has this address; is its interface up, and does it still have its address (ip addr, rdma "
           "link)?";
  }
  return nullptr;
}

}  // namespace

std::string explain_call(const char* call, int error) {
  const char* hint = hint_of(call, error);
  if (hint == nullptr) return verbs::explain_call(call, error);
  return fmt::format("rdma_cm: {}: {}; {}", call, std::strerror(error), hint);
}

void check(bool succeeded, const char* call) {
  if (!succeeded) throw Error(ExitStatus::kMissing, explain_call(call, errno));
}

}  // namespace fabricbench::rdma_cm
