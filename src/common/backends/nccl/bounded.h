#pragma once

#include <functional>

#include "common/core/units.h"

namespace fabricbench::nccl {

/// Runs `work` on a separate thread. Returns true when it has ended, and rethrows its exception. Returns false after
/// `limit` seconds, 0 for no limit: the thread then continues, so `work` must own everything it uses.
[[nodiscard]] bool finish_within(Seconds limit, std::function<void()> work);

}  // namespace fabricbench::nccl
