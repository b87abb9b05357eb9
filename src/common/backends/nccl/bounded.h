#pragma once

#include <functional>

#include "common/core/units.h"

namespace fabricbench::nccl {

/// Runs `work` on a thread of its own and returns true when it has ended, throwing what it threw. Returns false after
/// `limit` seconds, 0 for no limit: the thread is then left behind, so `work` must own all that it uses.
[[nodiscard]] bool finish_within(Seconds limit, std::function<void()> work);

}  // namespace fabricbench::nccl
