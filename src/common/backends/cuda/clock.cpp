#include "common/backends/cuda/clock.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "common/core/error.h"

namespace fabricbench::cuda {
namespace {

/// The flags are shared with the device, which has no std::atomic.
std::atomic_ref<std::uint32_t> shared(std::uint32_t& flag) { return std::atomic_ref(flag); }

}  // namespace

CudaClock::CudaClock(std::vector<DeviceStream> streams, Seconds gate_limit)
    : streams_(std::move(streams)),
      gate_limit_(gate_limit),
      events_(streams_.size()),
      flags_(allocate_mapped<GateFlags>(streams_.front().device)) {
  for (const DeviceStream& stream : streams_) device_flags_.push_back(mapped_address(stream.device, flags_.get()));
  const std::uint32_t first = ++generation_;
  open_gate();
  launch_gates(first);
}

CudaClock::~CudaClock() {
  constexpr Seconds kPatience = 1;
  open_gate();
  try {
    wait_for(streams_, kPatience);
  } catch (const Error&) {
    (void)flags_.release();  // a gate may still read them, and freeing them would wait for the device
  }
}

void CudaClock::reserve(std::size_t marks) {
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const DeviceGuard guard(streams_[i].device);
    while (events_[i].size() < marks) events_[i].push_back(create_event());
  }
}

void CudaClock::mark() {
  reserve(marks_ + 1);
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const DeviceGuard guard(streams_[i].device);
    check(cudaEventRecord(events_[i][marks_].get(), streams_[i].stream), "cudaEventRecord");
  }
  ++marks_;
}

std::vector<std::vector<Seconds>> CudaClock::intervals() {
  if (gate_gave_up()) {
    gave_up_reported_ = shared(flags_->gave_up);
    throw Error(ExitStatus::kFailure,
                fmt::format("cuda: the gate before an operation opened itself after {}, so the operation's time "
                            "contains its launch; choose --timing pipelined",
                            readable_seconds(gate_limit_)));
  }
  std::vector<std::vector<Seconds>> all(streams_.size());
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    for (std::size_t mark = 1; mark < marks_; ++mark) {
      float milliseconds = 0;
      check(cudaEventElapsedTime(&milliseconds, events_[i][mark - 1].get(), events_[i][mark].get()),
            "cudaEventElapsedTime");
      all[i].push_back(static_cast<Seconds>(milliseconds) * 1e-3);
      learn_resolution(all[i].back());
    }
  }
  return all;
}

/// Intervals are multiples of the clock's step, so their differences are too.
void CudaClock::learn_resolution(Seconds interval) {
  constexpr Seconds kLeast = 1e-9;  // below it there are rounding errors only
  const Seconds difference = std::abs(interval - last_interval_);
  if (difference >= kLeast) resolution_ = std::min(resolution_, difference);
  last_interval_ = interval;
}

void CudaClock::close_gate() { launch_gates(++generation_); }

void CudaClock::launch_gates(std::uint32_t generation) {
  const auto limit_ns = static_cast<std::uint64_t>(gate_limit_ * 1e9);
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const DeviceGuard guard(streams_[i].device);
    check(launch_gate(device_flags_[i], generation, limit_ns, streams_[i].stream), "launch_gate");
  }
}

void CudaClock::open_gate() { shared(flags_->opened).store(generation_.load(), std::memory_order_release); }

bool CudaClock::gate_gave_up() const {
  return shared(flags_->gave_up).load(std::memory_order_acquire) != gave_up_reported_;
}

}  // namespace fabricbench::cuda
