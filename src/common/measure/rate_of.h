#pragma once

#include <cstddef>
#include <span>

#include "common/core/session.h"
#include "common/measure/test.h"
#include "common/mpi/communicator.h"

namespace fabricbench {

/// The bandwidth of windows of messages from `send` to `recv`, in bytes per second as in a row's algbw: the median over
/// 0.2 s and at least five windows, after an untimed one. `send` and `recv` are blocks of the session of the same size.
/// It has no interval, and serves for comparison only. The test must have windows. Collective over the pair; the same
/// on both ranks.
[[nodiscard]] double rate_of(Session& session, const Test& test, std::span<const std::byte> send,
                             std::span<std::byte> recv, const mpi::Communicator& pair);

}  // namespace fabricbench
