// How fast the kernels fill and check 256 MiB of a GPU's memory, against its own copy, in bytes read and written a
// second: alternating, medians over rounds. Exit status 6 where one is below 80 % of the copy; 3 without a GPU.

#include <functional>
#include <vector>

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "common/backends/cuda/clock.h"
#include "common/backends/cuda/device.h"
#include "common/backends/cuda/kernels.h"
#include "common/backends/cuda/memory.h"
#include "common/backends/cuda/stream.h"
#include "common/core/error.h"
#include "common/core/statistics.h"

namespace fabricbench::cuda {
namespace {

constexpr std::size_t kBytes = std::size_t{256} << 20;
constexpr int kRounds = 21;
constexpr double kLeastShare = 0.8;
constexpr Seconds kLimit = 60;

class Measured {
 public:
  Measured() : clock_({stream_.view()}) {
    for (void** block : {&from_, &into_}) check(cudaMalloc(block, kBytes), "cudaMalloc");
    check(cudaMalloc(&result_, sizeof(CheckResult)), "cudaMalloc");
    check(cudaMemset(result_, 0, sizeof(CheckResult)), "cudaMemset");
  }

  /// Seconds of one launch.
  Seconds time(const std::function<cudaError_t()>& launch) {
    clock_.reset();
    clock_.mark();
    check(launch(), "launch");
    clock_.mark();
    wait_for(std::vector{stream_.view()}, kLimit, [] {});
    return clock_.intervals().front().back();
  }

  /// False where the kernels are too slow for this type.
  bool compare(const DataTypeFacts& type) {
    const PatternTable table = PatternTable::moved(type.type, 0);
    void* on_device = nullptr;
    check(cudaMalloc(&on_device, table.two_periods().size()), "cudaMalloc");
    check(cudaMemcpy(on_device, table.two_periods().data(), table.two_periods().size(), cudaMemcpyHostToDevice),
          "cudaMemcpy");
    const auto* elements = static_cast<const Vector16*>(on_device);
    const PatternSource source{0, 0, static_cast<std::uint32_t>(type.size)};
    const auto copy_once = [&] {
      return cudaMemcpyAsync(into_, from_, kBytes, cudaMemcpyDeviceToDevice, stream_.get());
    };
    const auto fill_once = [&] { return launch_fill(from_, kBytes, elements, source, stream_.get()); };
    const auto check_once = [&] {
      return launch_check(from_, kBytes, elements, source, static_cast<CheckResult*>(result_), stream_.get());
    };
    std::vector<double> copies;
    std::vector<double> fills;
    std::vector<double> checks;
    for (int round = 0; round < kRounds; ++round) {
      copies.push_back(time(copy_once));
      fills.push_back(time(fill_once));
      checks.push_back(time(check_once));
    }
    check(cudaFree(on_device), "cudaFree");
    const double copy = 2 * kBytes / median(copies);  // a copy reads and writes
    const double fill = kBytes / median(fills);
    const double checking = kBytes / median(checks);
    fmt::print("{:<9} copy {:7.1f} GB/s, fill {:7.1f} GB/s ({:.0f} %), check {:7.1f} GB/s ({:.0f} %)\n", type.name,
               copy / 1e9, fill / 1e9, 100 * fill / copy, checking / 1e9, 100 * checking / copy);
    return fill >= kLeastShare * copy && checking >= kLeastShare * copy;
  }

 private:
  Stream stream_ = Stream::create(0);
  CudaClock clock_;
  void* from_ = nullptr;
  void* into_ = nullptr;
  void* result_ = nullptr;
};

}  // namespace
}  // namespace fabricbench::cuda

int main() {
  using namespace fabricbench;
  if (const cuda::VisibleDevices seen = cuda::visible_devices(); seen.count == 0) {
    fmt::print(stderr, "kernel_bandwidth: {}\n", seen.why_none);
    return static_cast<int>(ExitStatus::kMissing);
  }
  try {
    cuda::Measured measured;
    bool fast = true;
    for (const DataTypeFacts& type : kDataTypes) fast = measured.compare(type) && fast;
    return static_cast<int>(fast ? ExitStatus::kOk : ExitStatus::kTooSlow);
  } catch (const Error& error) {
    fmt::print(stderr, "kernel_bandwidth: {}\n", error.what());
    return static_cast<int>(error.status());
  }
}
