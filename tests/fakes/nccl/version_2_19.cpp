#include "version.h"

namespace fake_nccl {

const int kVersion = 21903;
const int kTypes = 10;
const std::size_t kConfigBytes = 48;
const bool kSharesGpus = false;

const int* cta_policy_of(const void* /*config*/) { return nullptr; }

const int* most_peers_of(const void* /*config*/) { return nullptr; }

}  // namespace fake_nccl
