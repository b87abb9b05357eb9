#pragma once

#include <cstddef>
#include <span>

#include "common/core/session.h"
#include "common/core/units.h"
#include "common/measure/test.h"
#include "common/mpi/communicator.h"

namespace fabricbench {

/// What windows of messages from `send` to `recv`, blocks of the session of one size, reach, in bytes per second as a
/// row's algbw counts them: the median of the windows of 0.2 s, five at least, after an untimed one. For comparison
/// only: it has no interval. Of a test with windows. Collective over the pair; the same on both ranks.
[[nodiscard]] double rate_of(Session& session, const Test& test, std::span<const std::byte> send,
                             std::span<std::byte> recv, const mpi::Communicator& pair);

}  // namespace fabricbench
