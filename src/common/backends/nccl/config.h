#pragma once

#include <climits>
#include <cstddef>

namespace fabricbench::nccl {

/// ncclConfig_t with the members of NCCL 2.28, declared here so that an older nccl.h compiles too. This is safe in both
/// directions: a library copies no more than the smaller of `size` and its own size, and resets members newer than
/// `version` (parseCommConfig in NCCL's src/init.cc, the same from 2.18 to 2.30).
struct Config {
  static constexpr int kNotSet = INT_MIN;

  std::size_t size = sizeof(Config);
  unsigned int magic = 0xcafebeef;
  unsigned int version = 22800;

  int blocking = kNotSet;
  int cga_cluster_size = kNotSet;
  int min_ctas = kNotSet;
  int max_ctas = kNotSet;
  const char* net_name = nullptr;
  int split_share = kNotSet;
  int traffic_class = kNotSet;  // since 2.26
  const char* communicator_name = nullptr;
  int collnet_enable = kNotSet;
  int cta_policy = kNotSet;  // since 2.27
  int shrink_share = kNotSet;
  int nvls_ctas = kNotSet;
  int channels_per_net_peer = kNotSet;  // since 2.28
  int nvlink_centric = kNotSet;
};

}  // namespace fabricbench::nccl
