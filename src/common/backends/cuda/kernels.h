// What runs on the device, as plain functions that put it into a stream. They return what CUDA says of the launch; the
// work's own errors show when the stream is waited for. The stream's device is the current one.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

#include "common/backends/cuda/vector_pattern.h"
#include "common/core/reader_task.h"

namespace fabricbench::cuda {

/// Writes the pattern over `bytes` at `buffer`, whole elements at any address. `table` is two periods of it, on the
/// device and aligned to 16 bytes (PatternTable::two_periods).
[[nodiscard]] cudaError_t launch_fill(void* buffer, std::size_t bytes, const Vector16* table, PatternSource source,
                                      cudaStream_t stream);

/// Adds the elements of `buffer` that are not the pattern's to `result`, on the device, which begins as zeros. An
/// element passes that is at most `tolerance` representable values away; 0 for types that are not floating-point.
[[nodiscard]] cudaError_t launch_check(const void* buffer, std::size_t bytes, const Vector16* table,
                                       PatternSource source, std::uint64_t tolerance, CheckResult* result,
                                       cudaStream_t stream);

/// Host memory that the device reads and writes: the last gate that the host opened, and the last that opened itself.
/// Gates count from 1, and an opened gate opens all before it.
struct GateFlags {
  std::uint32_t opened;
  std::uint32_t gave_up;
};

/// Whether gate `generation` is open where `opened` was the last; the numbers may start again from 0.
[[nodiscard]] constexpr bool is_open(std::uint32_t opened, std::uint32_t generation) {
  return static_cast<std::int32_t>(opened - generation) >= 0;
}

/// Holds the stream until gate `generation` is opened, at most `limit_ns` nanoseconds of the device's clock.
[[nodiscard]] cudaError_t launch_gate(GateFlags* flags, std::uint32_t generation, std::uint64_t limit_ns,
                                      cudaStream_t stream);

/// Reads messages by `task` until the host ends it by `words`, host memory as the device addresses it, or no message
/// has come for as long as the task allows. `task`'s places are the device's.
[[nodiscard]] cudaError_t launch_reader(const ReaderTask& task, ReaderWords* words, cudaStream_t stream);

}  // namespace fabricbench::cuda
