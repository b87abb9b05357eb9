// The reader that waits for messages on the device: one block, of which only the first thread waits and answers; all
// threads sum up the data of a message that is to be checked. Separate from kernels.cu because it needs newer devices:
// loads that acquire and stores that release across the system came with compute capability 7.0.
#include <cstdint>

#include "common/backends/cuda/device_time.cuh"
#include "common/backends/cuda/kernels.h"

namespace fabricbench::cuda {
namespace {

constexpr unsigned kThreads = 1024;
// Loads of the flag between two loads of the host's word that stops the reader: that word is in host memory, and its
// load takes longer than a message should wait.
constexpr unsigned kSpinsPerLook = 1024;

__device__ std::uint64_t acquire(const std::uint64_t* place) {
  std::uint64_t value = 0;
  asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(place) : "memory");
  return value;
}

__device__ void release(std::uint64_t* place, std::uint64_t value) {
  asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(place), "l"(value) : "memory");
}

/// The state of the first thread. No message has the number that ends it.
struct State {
  std::uint64_t next;
  ReaderFindings findings;
};
constexpr std::uint64_t kEnd = ~std::uint64_t{0};

/// Answers messages until one must be checked, and returns its number, or kEnd.
__device__ std::uint64_t next_to_check(const ReaderTask& task, ReaderWords* words, State& state) {
  std::uint64_t since = device_time_ns();
  for (unsigned spins = 1;; ++spins) {
    const std::uint64_t number = acquire(task.flag);
    if (has_come(number, state.next)) {
      state.next = number + 1;
      if (is_checked(task, number)) return number;
      release(&words->seen, number);
      since = 0;
      spins = 0;
    } else if (spins % kSpinsPerLook == 0) {
      if (*const_cast<volatile std::uint32_t*>(&words->abort) != 0) return kEnd;
      const std::uint64_t time = device_time_ns();
      if (since == 0) since = time;
      state.findings.gave_up = time - since > task.limit_ns;
      if (state.findings.gave_up) return kEnd;
    }
  }
}

__global__ void __launch_bounds__(kThreads) reader_kernel(const ReaderTask task, ReaderWords* words) {
  __shared__ std::uint64_t to_check;
  __shared__ unsigned long long sum;
  // Another device writes the data, so each load must go to memory.
  const auto load = [&task](std::uint64_t index) {
    return *const_cast<const volatile std::uint64_t*>(task.payload + index);
  };
  State state{task.first, {}};
  for (;;) {
    if (threadIdx.x == 0) {
      to_check = next_to_check(task, words, state);
      sum = 0;
    }
    __syncthreads();
    const std::uint64_t number = to_check;
    if (number == kEnd) break;
    atomicAdd(&sum, static_cast<unsigned long long>(part_of_sum(load, task.bytes, threadIdx.x, kThreads)));
    __syncthreads();
    if (threadIdx.x == 0) {
      note_check(task, number, sum, state.findings);
      release(&words->seen, number);
    }
  }
  if (threadIdx.x != 0) return;
  words->findings = state.findings;
  __threadfence_system();
  *const_cast<volatile std::uint32_t*>(&words->ended) = 1;
}

}  // namespace

cudaError_t launch_reader(const ReaderTask& task, ReaderWords* words, cudaStream_t stream) {
  ReaderTask own = task;
  void* arguments[] = {&own, &words};
  return cudaLaunchKernel(reinterpret_cast<const void*>(reader_kernel), dim3(1), dim3(kThreads), arguments, 0, stream);
}

}  // namespace fabricbench::cuda
