// What a thread's calls between ncclGroupStart and ncclGroupEnd collect, and what becomes of it at the end.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <nccl.h>

#include "rank.h"

namespace fake_nccl {

void begin_group();
[[nodiscard]] ncclResult_t end_group();

/// Puts an operation into this thread's group, or is a group of its own.
[[nodiscard]] ncclResult_t start(ncclComm_t communicator, cudaStream_t stream, const Operation& operation);

/// A call's result, which becomes that of the group that it is in.
[[nodiscard]] ncclResult_t failed(ncclResult_t result, const std::string& reason);

/// Something that waits for other processes: done by the end of the group, when all of the group have begun.
[[nodiscard]] ncclResult_t finish_with_group(std::function<ncclResult_t()> finish);

}  // namespace fake_nccl
