// Loaded before libibverbs (LD_PRELOAD) in the guests, lets queue pairs wait longer for an acknowledgement before they
// send again: 1 s instead of 67 ms, which an emulated processor of a busy machine needs at times. Soft-RoCE of
// Linux 6.1 may refuse a message of several packets that is sent again while it still arrives ("remote invalid
// request").

#include <dlfcn.h>
#include <infiniband/verbs.h>

#include <algorithm>
#include <cstdint>

namespace {

constexpr std::uint8_t kAcknowledgeTimeout = 18;  // 4.096 us * 2^18

}  // namespace

extern "C" int ibv_modify_qp(ibv_qp* queue_pair, ibv_qp_attr* attributes, int mask) {
  using Modify = int (*)(ibv_qp*, ibv_qp_attr*, int);
  ibv_qp_attr changed = *attributes;
  if ((mask & IBV_QP_TIMEOUT) != 0) changed.timeout = std::max(changed.timeout, kAcknowledgeTimeout);
  return reinterpret_cast<Modify>(dlsym(RTLD_NEXT, "ibv_modify_qp"))(queue_pair, &changed, mask);
}
