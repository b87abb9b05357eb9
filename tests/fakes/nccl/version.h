// What differs between the fake libraries: version_2_18.cpp and its neighbours.
#pragma once

#include <cstddef>
#include <string>

#include <nccl.h>

namespace fake_nccl {

extern const int kVersion;
extern const int kTypes;                ///< datatypes from 0
extern const std::size_t kConfigBytes;  ///< of ncclConfig_t
extern const bool kSharesGpus;          ///< whether NCCL_MULTI_RANK_GPU_ENABLE=1 lets ranks share a GPU

inline constexpr std::size_t kMostConfigBytes = 128;

/// As NCCL does it: INT_MIN is unset. Null where the library's ncclConfig_t has no such member.
[[nodiscard]] const int* cta_policy_of(const void* config);

/// ncclConfig_t::maxP2pPeers, in the same way.
[[nodiscard]] const int* most_peers_of(const void* config);

/// NCCL's words about two ranks on one GPU.
[[nodiscard]] std::string shared_gpu_text(int rank, int other, unsigned bus);

}  // namespace fake_nccl
