// The device code as plain functions that put it into a stream. They return CUDA's error of the launch; errors of the
// execution show when the stream is waited for. The stream's device must be current.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

#include "common/backends/cuda/vector_pattern.h"
#include "common/core/reader_task.h"

namespace fabricbench::cuda {

/// Fills `bytes` at `buffer`, whole elements at any address, with the pattern. `table` is two periods of it, on the
/// device and aligned to 16 bytes (PatternTable::two_periods).
[[nodiscard]] cudaError_t launch_fill(void* buffer, std::size_t bytes, const Vector16* table, PatternSource source,
                                      cudaStream_t stream);

/// Adds the elements of `buffer` that differ from the pattern to `result`, which is on the device and initially zero.
[[nodiscard]] cudaError_t launch_check(const void* buffer, std::size_t bytes, const Vector16* table,
                                       PatternSource source, CheckResult* result, cudaStream_t stream);

/// Host memory that the device reads and writes: the last gate opened by the host, and the last that opened itself.
/// Gates count from 1, and opening a gate opens all earlier ones.
struct GateFlags {
  std::uint32_t opened;
  std::uint32_t gave_up;
};

/// Whether gate `generation` is open if `opened` was the last one opened; the numbers may wrap around.
[[nodiscard]] constexpr bool is_open(std::uint32_t opened, std::uint32_t generation) {
  return static_cast<std::int32_t>(opened - generation) >= 0;
}

/// Holds the stream until gate `generation` is opened, for at most `limit_ns` nanoseconds of the device's clock.
[[nodiscard]] cudaError_t launch_gate(GateFlags* flags, std::uint32_t generation, std::uint64_t limit_ns,
                                      cudaStream_t stream);

/// Reads messages by `task` until the host stops it through `words` (host memory at its device address), or until no
/// message has come for the task's limit. The addresses in `task` are the device's.
[[nodiscard]] cudaError_t launch_reader(const ReaderTask& task, ReaderWords* words, cudaStream_t stream);

}  // namespace fabricbench::cuda
