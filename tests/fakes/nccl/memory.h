// What ncclMemAlloc has allocated, and what is registered.
#pragma once

#include <atomic>
#include <string>

#include <nccl.h>

namespace fake_nccl {

[[nodiscard]] bool is_allocated(const void* block);

/// Blocks that are registered now.
[[nodiscard]] std::atomic<int>& registered();

/// A call's result that does not become its group's.
[[nodiscard]] ncclResult_t refuse(const std::string& reason, ncclResult_t result = ncclInvalidArgument);

}  // namespace fake_nccl
