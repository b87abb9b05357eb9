#pragma once

#include "common/core/units.h"

namespace fabricbench::host {

/// now() less what the kernel says when asked past the C library and the code that it maps into every process (vDSO).
/// It stays within microseconds of 0 unless a preloaded library, or a clock source that differs between processors,
/// makes now() leap.
[[nodiscard]] Seconds lead_of_clock();

}  // namespace fabricbench::host
