#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/backends/cuda/memory.h"
#include "common/backends/cuda/stream.h"
#include "common/backends/nccl/communicators.h"
#include "common/backends/nccl/registrar.h"
#include "common/core/backend.h"

namespace fabricbench::nccl {

/// Why NCCL cannot write into peers' memory here; empty if it can, and where it does not tell. Of this process alone.
[[nodiscard]] std::string why_not_one_sided(const Communicators& communicators);

/// One rank of NCCL on its stream. `multiplied`: the datatypes to prepare mulsum for. Does not own communicators and
/// stream, which must outlive it.
[[nodiscard]] std::unique_ptr<CollectiveBackend> make_nccl_backend(const Communicators& communicators, int local_rank,
                                                                   cuda::DeviceStream stream,
                                                                   const std::vector<DataType>& multiplied);

/// One rank's messages by puts. Does not own its arguments, which must outlive it. `meet` returns once every process
/// has called it: a message may come without the receiver's doing, and must not come before its buffers are ready.
[[nodiscard]] std::unique_ptr<Backend> make_put_backend(const Communicators& communicators, const Registrar& registrar,
                                                        int local_rank, cuda::DeviceStream stream,
                                                        std::function<void()> meet);

}  // namespace fabricbench::nccl
