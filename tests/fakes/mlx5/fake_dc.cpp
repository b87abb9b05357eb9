#include "fake_dc.h"

#include <infiniband/mlx5dv.h>

#include <cerrno>
#include <deque>

namespace {

/// The calls of one initiator.
struct Extension {
  mlx5dv_qp_ex calls{};
  ibv_qp_ex* owner = nullptr;
};

std::deque<Extension>& extensions() {
  static std::deque<Extension> all;
  return all;
}

void set_address(mlx5dv_qp_ex* calls, ibv_ah* /*way*/, std::uint32_t number, std::uint64_t key) {
  for (const Extension& one : extensions()) {
    if (&one.calls == calls) fake_dc().name_target(one.owner, number, key);
  }
}

int refusal_of_initiator(const ibv_qp_init_attr_ex& wanted) {
  constexpr std::uint32_t kMask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  if (wanted.comp_mask != kMask || wanted.send_ops_flags == 0) return EINVAL;
  return wanted.cap.max_inline_data > fake_dc().most_inline ? EINVAL : 0;
}

/// The kernel wants a queue for what arrives; a target sends nothing.
int refusal_of_target(const ibv_qp_init_attr_ex& wanted) {
  if (wanted.comp_mask != IBV_QP_INIT_ATTR_PD) return EINVAL;
  return wanted.srq == nullptr || wanted.recv_cq == nullptr ? EINVAL : 0;
}

}  // namespace

FakeDc& fake_dc() {
  static FakeDc dc;
  return dc;
}

extern "C" {

bool mlx5dv_is_supported(ibv_device* /*device*/) { return fake_dc().is_mlx5; }

ibv_qp* mlx5dv_create_qp(ibv_context* /*device*/, ibv_qp_init_attr_ex* wanted, mlx5dv_qp_init_attr* type) {
  errno = EINVAL;
  if (wanted->qp_type != IBV_QPT_DRIVER || (type->comp_mask & MLX5DV_QP_INIT_ATTR_MASK_DC) == 0) return nullptr;
  const bool sends = type->dc_init_attr.dc_type == MLX5DV_DCTYPE_DCI;
  errno = sends ? refusal_of_initiator(*wanted) : refusal_of_target(*wanted);
  if (errno != 0) return nullptr;
  if (sends) return fake_dc().create_initiator(wanted->pd, *wanted);
  return fake_dc().create_target(wanted->pd, *wanted, type->dc_init_attr.dct_access_key);
}

mlx5dv_qp_ex* mlx5dv_qp_ex_from_ibv_qp_ex(ibv_qp_ex* owner) {
  Extension& made = extensions().emplace_back();
  made.calls.wr_set_dc_addr = set_address;
  made.owner = owner;
  return &made.calls;
}

}  // extern "C"
