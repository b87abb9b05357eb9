#pragma once

#include <memory>

#include "common/core/message_reader.h"

// What reads on a GPU. A program is built with one of two implementations: the files beside this where CUDA and NCCL
// were found, or those in absent/, which says what to install.
namespace fabricbench::gpu {

/// A kernel that waits for messages in the memory of CUDA's device of that number. Throws Error.
[[nodiscard]] std::unique_ptr<MessageReader> open_reader(int device);

}  // namespace fabricbench::gpu
