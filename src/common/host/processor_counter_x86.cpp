// The time stamp counter. Source: RDTSC in the Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2.

#include <x86intrin.h>

#include "common/host/tick_counter.h"

namespace fabricbench::host {

bool has_processor_counter() { return true; }

std::uint64_t processor_count() {
  _mm_lfence();
  return __rdtsc();
}

}  // namespace fabricbench::host
