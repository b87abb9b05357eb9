// What differs between the two fake libraries: version_2_18.cpp and version_2_28.cpp.
#pragma once

#include <cstddef>

#include <nccl.h>

namespace fake_nccl {

extern const int kVersion;
extern const int kTypes;                ///< datatypes from 0
extern const std::size_t kConfigBytes;  ///< of ncclConfig_t

/// As NCCL does it: INT_MIN is unset. Null where the library's ncclConfig_t has no such member.
[[nodiscard]] const int* cta_policy_of(const void* config);

}  // namespace fake_nccl
