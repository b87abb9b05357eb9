#pragma once

#include <cstdint>

namespace fabricbench::cuda {

/// The device's clock in nanoseconds, with steps of up to a microsecond.
inline __device__ std::uint64_t device_time_ns() {
  std::uint64_t time = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

}  // namespace fabricbench::cuda
