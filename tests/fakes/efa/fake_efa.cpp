#include "fake_efa.h"

#include <infiniband/efadv.h>

#include <cerrno>

namespace {

constexpr std::uint64_t kSends = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;
constexpr std::uint64_t kWrites = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
constexpr std::uint32_t kCanRead = 1 << 0;
constexpr std::uint32_t kCanWrite = 1 << 3;

std::uint64_t operations() {
  std::uint64_t all = kSends;
  if ((fake_efa().capabilities & kCanRead) != 0) all |= IBV_QP_EX_WITH_RDMA_READ;
  if ((fake_efa().capabilities & kCanWrite) != 0) all |= kWrites;
  return all;
}

int refusal_of(const ibv_qp_init_attr_ex& wanted, const efadv_qp_init_attr& type) {
  constexpr std::uint32_t kMask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  if (!fake_efa().is_efa) return EOPNOTSUPP;
  if (wanted.qp_type != IBV_QPT_DRIVER || type.comp_mask != 0) return EINVAL;
  if (type.driver_qp_type != EFADV_QP_DRIVER_TYPE_SRD || (wanted.comp_mask & ~kMask) != 0) return EOPNOTSUPP;
  if ((wanted.send_ops_flags & ~operations()) != 0) return EOPNOTSUPP;
  if (wanted.srq != nullptr || wanted.cap.max_inline_data > fake_efa().most_inline) return EINVAL;
  return wanted.cap.max_recv_sge > fake_efa().most_parts_received ? EINVAL : 0;
}

}  // namespace

FakeEfa& fake_efa() {
  static FakeEfa efa;
  return efa;
}

extern "C" {

int efadv_query_device(ibv_context* /*device*/, efadv_device_attr* facts, std::uint32_t bytes) {
  if (!fake_efa().is_efa) return EOPNOTSUPP;
  if (bytes < sizeof *facts) return EINVAL;
  *facts = {};
  facts->device_caps = fake_efa().capabilities;
  facts->max_rdma_size = fake_efa().most_rdma;
  return 0;
}

ibv_qp* efadv_create_qp_ex(ibv_context* /*device*/, ibv_qp_init_attr_ex* wanted, efadv_qp_init_attr* type,
                           std::uint32_t /*bytes*/) {
  errno = refusal_of(*wanted, *type);
  return errno == 0 ? fake_efa().create(wanted->pd, *wanted) : nullptr;
}

}  // extern "C"
