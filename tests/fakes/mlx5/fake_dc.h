// What the fake libmlx5 has for a device with DC. It refuses what providers/mlx5 of rdma-core refuses.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <functional>

struct FakeDc {
  bool is_mlx5 = true;              // the device, whichever it is
  std::uint32_t most_inline = 220;  // bytes
  /// Make an initiator, to which ibv_wr_* post, and a target with this access key.
  std::function<ibv_qp*(ibv_pd*, const ibv_qp_init_attr_ex&)> create_initiator{};
  std::function<ibv_qp*(ibv_pd*, const ibv_qp_init_attr_ex&, std::uint64_t)> create_target{};
  /// Names the target of the request that is being made.
  std::function<void(ibv_qp_ex*, std::uint32_t, std::uint64_t)> name_target{};
};

/// A test begins with a new one.
FakeDc& fake_dc();
