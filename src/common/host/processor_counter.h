// The processor's time counter: a source file for each kind of processor, of which src/CMakeLists.txt chooses one.
#pragma once

#include <cstdint>

namespace fabricbench::host {

// Whether `processor_count` supports this kind of processor.
[[nodiscard]] bool has_processor_counter();

// The counter's value, read after all preceding instructions have completed; 0 if unsupported. The kernel knows whether
// it is constant and the same on all processors.
[[nodiscard, gnu::hot]] std::uint64_t processor_count();

}  // namespace fabricbench::host
