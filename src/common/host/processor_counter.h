// The processor's own count of time: a source file for each kind of processor, of which src/CMakeLists.txt takes one.
#pragma once

#include <cstdint>

namespace fabricbench::host {

// Whether this kind of processor has a counter that `processor_count` knows how to read.
[[nodiscard]] bool has_processor_counter();

// What it shows, not before what stands in front of the call has been done; 0 where there is none. Whether it is
// constant, and the same on all processors, is the kernel's to say.
[[nodiscard, gnu::hot]] std::uint64_t processor_count();

}  // namespace fabricbench::host
