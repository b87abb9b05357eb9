// The code compiled by nvcc, except for the reader (reader_kernel.cu). The computations are in vector_pattern.h; this
// file distributes them over threads.
#include <cstdint>

#include "common/backends/cuda/device_time.cuh"
#include "common/backends/cuda/kernels.h"

namespace fabricbench::cuda {
namespace {

constexpr unsigned kThreads = 256;  // per block
constexpr unsigned kUnrolled = 4;   // vectors in flight per thread, to keep enough loads in flight
constexpr unsigned kTileVectors = kThreads * kUnrolled;
constexpr std::uint64_t kTileBytes = std::uint64_t{kTileVectors} * kVectorBytes;
constexpr unsigned kBlocksPerMultiprocessor = 16;  // a few times the number that runs at once, so that all end together

/// The common part of both kernels: the pattern, and a buffer divided into vectors and the rest.
struct Work {
  PatternSource source;
  Split split;
  Step between_vectors;  // for a thread within a tile
  Step between_tiles;    // for a block
};

// A buffer passes through once, so it must not evict the table, which is read all the time.
__device__ void store_once(Vector16* into, const Vector16& value) {
  __stcs(reinterpret_cast<uint4*>(into), make_uint4(value.words[0], value.words[1], value.words[2], value.words[3]));
}

__device__ Vector16 load_once(const Vector16* from) {
  const uint4 value = __ldcs(reinterpret_cast<const uint4*>(from));
  return {{value.x, value.y, value.z, value.w}};
}

/// Calls `action(first, cursor)` for this thread's vectors: in each tile, those at intervals of kThreads from `first`
/// on.
template <typename Action>
__device__ void for_each_tile(const Work& work, Action action) {
  const std::uint32_t period = period_bytes(work.source.element);
  const std::uint64_t stride = std::uint64_t{gridDim.x} * kTileVectors;
  std::uint64_t first = std::uint64_t{blockIdx.x} * kTileVectors + threadIdx.x;
  Cursor cursor = cursor_at(work.source, work.split.head + first * kVectorBytes);
  for (; first < work.split.vectors; first += stride) {
    action(first, cursor);
    cursor = advanced(cursor, work.between_tiles, period);
  }
}

/// Calls `action(byte)` for every `step`-th byte outside the vectors.
template <typename Action>
__device__ void for_each_loose(const Split& split, std::uint64_t step, Action action) {
  const std::uint64_t thread = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  const std::uint64_t stride = std::uint64_t{gridDim.x} * kThreads * step;
  const std::uint64_t behind = split.head + split.vectors * kVectorBytes;
  for (std::uint64_t byte = thread * step; byte < split.head + split.tail; byte += stride) {
    action(byte < split.head ? byte : byte - split.head + behind);
  }
}

__global__ void __launch_bounds__(kThreads)
    fill_kernel(unsigned char* __restrict__ buffer, const Vector16* __restrict__ table, const Work work) {
  const std::uint32_t element = work.source.element;
  const std::uint32_t period = period_bytes(element);
  auto* vectors = reinterpret_cast<Vector16*>(buffer + work.split.head);
  for_each_tile(work, [&](std::uint64_t first, Cursor cursor) {
#pragma unroll
    for (unsigned i = 0; i < kUnrolled; ++i) {
      const std::uint64_t index = first + i * kThreads;
      const Vector16 value = pattern_vector(table, cursor, element);
      if (index < work.split.vectors) store_once(vectors + index, value);
      cursor = advanced(cursor, work.between_vectors, period);
    }
  });
  for_each_loose(work.split, 1, [&](std::uint64_t byte) {
    buffer[byte] = static_cast<unsigned char>(pattern_byte(table, cursor_at(work.source, byte), element));
  });
}

__device__ std::uint64_t loose_bits(const unsigned char* from, std::uint32_t element) {
  std::uint64_t bits = 0;
  for (std::uint32_t i = 0; i < element; ++i) bits |= std::uint64_t{from[i]} << (8 * i);
  return bits;
}

__global__ void __launch_bounds__(kThreads)
    check_kernel(const unsigned char* __restrict__ buffer, const Vector16* __restrict__ table, const Work work,
                 CheckResult* result) {
  const std::uint32_t element = work.source.element;
  const std::uint32_t period = period_bytes(element);
  const auto* vectors = reinterpret_cast<const Vector16*>(buffer + work.split.head);
  CheckResult found{};
  for_each_tile(work, [&](std::uint64_t first, Cursor cursor) {
    Vector16 got[kUnrolled] = {};
#pragma unroll
    for (unsigned i = 0; i < kUnrolled; ++i) {
      const std::uint64_t index = first + i * kThreads;
      if (index < work.split.vectors) got[i] = load_once(vectors + index);
    }
#pragma unroll
    for (unsigned i = 0; i < kUnrolled; ++i) {
      const std::uint64_t index = first + i * kThreads;
      const Vector16 expected = pattern_vector(table, cursor, element);
      if (index < work.split.vectors && !equal(expected, got[i])) {
        count_wrong(expected, got[i], (work.split.head + index * kVectorBytes) / element, element, found);
      }
      cursor = advanced(cursor, work.between_vectors, period);
    }
  });
  for_each_loose(work.split, element, [&](std::uint64_t byte) {
    const std::uint64_t expected =
        element_bits(pattern_vector(table, cursor_at(work.source, byte), element), 0, element);
    if (expected != loose_bits(buffer + byte, element)) add_wrong(byte / element, found);
  });
  if (found.count == 0) return;
  atomicAdd(&result->count, found.count);
  atomicMax(&result->inverted_first, found.inverted_first);
}

__global__ void gate_kernel(volatile GateFlags* flags, const std::uint32_t generation, const std::uint64_t limit_ns) {
  const std::uint64_t start = device_time_ns();
  while (!is_open(flags->opened, generation)) {
    if (device_time_ns() - start > limit_ns) {
      flags->gave_up = generation;
      __threadfence_system();
      return;
    }
  }
}

/// The launch parameters for a buffer, or the reason why it cannot be launched.
struct Launch {
  cudaError_t error;
  unsigned blocks;
  Work work;
};

Launch plan(const void* buffer, std::size_t bytes, const PatternSource& source) {
  const Split split = split_of(reinterpret_cast<std::uintptr_t>(buffer), bytes, source.element);
  Launch launch{cudaSuccess, 0, {source, split, {}, {}}};
  int device = 0;
  int multiprocessors = 0;
  launch.error = cudaGetDevice(&device);
  if (launch.error != cudaSuccess) return launch;
  launch.error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  const std::uint64_t most = std::uint64_t{kBlocksPerMultiprocessor} * static_cast<unsigned>(multiprocessors);
  const std::uint64_t tiles = split.vectors / kTileVectors + (split.head + split.tail) / kTileBytes + 1;
  launch.blocks = static_cast<unsigned>(tiles < most ? tiles : most);
  launch.work.between_vectors = step_of(source.element, std::uint64_t{kThreads} * kVectorBytes);
  launch.work.between_tiles = step_of(source.element, launch.blocks * kTileBytes);
  return launch;
}

/// Like `kernel<<<blocks, threads, 0, stream>>>(arguments...)`, whose error could be confused with another call's.
template <typename... Parameters>
cudaError_t start(void (*kernel)(Parameters...), unsigned blocks, unsigned threads, cudaStream_t stream,
                  Parameters... arguments) {
  void* pointers[] = {const_cast<void*>(static_cast<const volatile void*>(&arguments))...};
  return cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(blocks), dim3(threads), pointers, 0, stream);
}

}  // namespace

cudaError_t launch_fill(void* buffer, std::size_t bytes, const Vector16* table, PatternSource source,
                        cudaStream_t stream) {
  const Launch launch = plan(buffer, bytes, source);
  if (launch.error != cudaSuccess) return launch.error;
  return start(fill_kernel, launch.blocks, kThreads, stream, static_cast<unsigned char*>(buffer), table, launch.work);
}

cudaError_t launch_check(const void* buffer, std::size_t bytes, const Vector16* table, PatternSource source,
                         CheckResult* result, cudaStream_t stream) {
  const Launch launch = plan(buffer, bytes, source);
  if (launch.error != cudaSuccess) return launch.error;
  return start(check_kernel, launch.blocks, kThreads, stream, static_cast<const unsigned char*>(buffer), table,
               launch.work, result);
}

cudaError_t launch_gate(GateFlags* flags, std::uint32_t generation, std::uint64_t limit_ns, cudaStream_t stream) {
  return start(gate_kernel, 1, 1, stream, static_cast<volatile GateFlags*>(flags), generation, limit_ns);
}

}  // namespace fabricbench::cuda
