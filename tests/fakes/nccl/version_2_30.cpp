#include "version.h"

namespace fake_nccl {

const int kVersion = 23007;
const int kTypes = 12;
const std::size_t kConfigBytes = 96;
const bool kSharesGpus = true;

const int* cta_policy_of(const void* config) { return &static_cast<const ncclConfig_t*>(config)->CTAPolicy; }

const int* most_peers_of(const void* config) {
  constexpr std::size_t kOffset = 88;  // behind graphUsageMode and numRmaCtx, which are newer than nccl.h
  return reinterpret_cast<const int*>(static_cast<const std::byte*>(config) + kOffset);
}

std::string shared_gpu_text(int /*rank*/, int /*other*/, unsigned /*bus*/) {
  return "Multiple Ranks are using the same GPU/Partition. Set NCCL_MULTI_RANK_GPU_ENABLE=1 to enable this "
         "configuration.";
}

}  // namespace fake_nccl
