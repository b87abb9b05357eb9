// The kernels as loops over a few threads, with the same arithmetic and the same strides between a thread's vectors.
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "common/backends/cuda/kernels.h"
#include "common/core/message_reader.h"
#include "state.h"

namespace fabricbench::cuda {
namespace {

constexpr std::uint64_t kThreads = 7;

/// Calls `action(index, cursor)` for every vector, thread by thread.
template <typename Action>
void for_each_vector(const Split& split, const PatternSource& source, Action action) {
  const std::uint32_t period = period_bytes(source.element);
  const Step step = step_of(source.element, kThreads * kVectorBytes);
  for (std::uint64_t thread = 0; thread < kThreads; ++thread) {
    Cursor cursor = cursor_at(source, split.head + thread * kVectorBytes);
    for (std::uint64_t index = thread; index < split.vectors; index += kThreads) {
      action(index, cursor);
      cursor = advanced(cursor, step, period);
    }
  }
}

template <typename Action>
void for_each_loose(const Split& split, std::uint64_t step, Action action) {
  const std::uint64_t behind = split.head + split.vectors * kVectorBytes;
  for (std::uint64_t byte = 0; byte < split.head; byte += step) action(byte);
  for (std::uint64_t byte = 0; byte < split.tail; byte += step) action(behind + byte);
}

void fill(unsigned char* buffer, const Split& split, const Vector16* table, const PatternSource& source) {
  for_each_vector(split, source, [&](std::uint64_t index, Cursor cursor) {
    const Vector16 value = pattern_vector(table, cursor, source.element);
    std::memcpy(buffer + split.head + index * kVectorBytes, &value, kVectorBytes);
  });
  for_each_loose(split, 1, [&](std::uint64_t byte) {
    buffer[byte] = static_cast<unsigned char>(pattern_byte(table, cursor_at(source, byte), source.element));
  });
}

CheckResult check(const unsigned char* buffer, const Split& split, const Vector16* table, const PatternSource& source) {
  const std::uint32_t element = source.element;
  CheckResult found{};
  for_each_vector(split, source, [&](std::uint64_t index, Cursor cursor) {
    const std::uint64_t byte = split.head + index * kVectorBytes;
    Vector16 got;
    std::memcpy(&got, buffer + byte, kVectorBytes);
    const Vector16 expected = pattern_vector(table, cursor, element);
    if (!equal(expected, got)) count_wrong(expected, got, byte / element, element, found);
  });
  for_each_loose(split, element, [&](std::uint64_t byte) {
    const Vector16 expected = pattern_vector(table, cursor_at(source, byte), element);
    std::uint64_t got = 0;
    std::memcpy(&got, buffer + byte, element);
    if (element_bits(expected, 0, element) != got) add_wrong(byte / element, found);
  });
  return found;
}

Split split_of_buffer(const void* buffer, std::size_t bytes, const PatternSource& source) {
  return split_of(reinterpret_cast<std::uintptr_t>(buffer), bytes, source.element);
}

bool usable(const void* buffer, std::size_t bytes, const Vector16* table, const PatternSource& source) {
  return fake_cuda::is_device_memory(buffer, bytes) &&
         fake_cuda::is_device_memory(table, 2 * std::size_t{period_bytes(source.element)});
}

}  // namespace

cudaError_t launch_fill(void* buffer, std::size_t bytes, const Vector16* table, PatternSource source,
                        cudaStream_t stream) {
  return fake_cuda::enqueue(stream, [=] {
    if (!usable(buffer, bytes, table, source)) return cudaErrorIllegalAddress;
    fill(static_cast<unsigned char*>(buffer), split_of_buffer(buffer, bytes, source), table, source);
    return cudaSuccess;
  });
}

cudaError_t launch_check(const void* buffer, std::size_t bytes, const Vector16* table, PatternSource source,
                         CheckResult* result, cudaStream_t stream) {
  return fake_cuda::enqueue(stream, [=] {
    if (!usable(buffer, bytes, table, source) || !fake_cuda::is_device_memory(result, sizeof *result)) {
      return cudaErrorIllegalAddress;
    }
    const CheckResult found =
        check(static_cast<const unsigned char*>(buffer), split_of_buffer(buffer, bytes, source), table, source);
    result->count += found.count;
    if (found.inverted_first > result->inverted_first) result->inverted_first = found.inverted_first;
    return cudaSuccess;
  });
}

cudaError_t launch_gate(GateFlags* flags, std::uint32_t generation, std::uint64_t limit_ns, cudaStream_t stream) {
  return fake_cuda::enqueue(stream, [=] {
    const double end_s = fake_cuda::host_time_s() + 1e-9 * static_cast<double>(limit_ns);
    while (!is_open(std::atomic_ref(flags->opened).load(std::memory_order_acquire), generation)) {
      if (fake_cuda::host_time_s() > end_s) {
        std::atomic_ref(flags->gave_up).store(generation, std::memory_order_release);
        break;
      }
      std::this_thread::yield();
    }
    fake_cuda::go_on_from(fake_cuda::host_time_s());
    return cudaSuccess;
  });
}

cudaError_t launch_reader(const ReaderTask& task, ReaderWords* words, cudaStream_t stream) {
  return fake_cuda::enqueue(stream, [=] {
    const auto now_ns = [] { return static_cast<std::uint64_t>(fake_cuda::host_time_s() * 1e9); };
    const bool own_flag = task.flag == &words->asked || fake_cuda::is_device_memory(task.flag, sizeof *task.flag);
    if (!own_flag || (task.bytes > 0 && !fake_cuda::is_device_memory(task.payload, task.bytes))) {
      return cudaErrorIllegalAddress;
    }
    read_on_host(task, *words, now_ns, [] { std::this_thread::yield(); });
    return cudaSuccess;
  });
}

}  // namespace fabricbench::cuda
