#pragma once

#include <cstdint>

namespace fabricbench {

/// A random number that nobody outside the job can guess. It goes to the other ranks over MPI, and never stands on a
/// command line, in the environment or in a record. Source: std::random_device, the kernel's random numbers.
[[nodiscard]] std::uint64_t draw_secret();

}  // namespace fabricbench
