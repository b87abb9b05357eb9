#include "common/backends/cuda/copies.h"

#include <fmt/format.h>

#include "common/core/error.h"

namespace fabricbench::cuda {
namespace {

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute");
  return value;
}

/// 0 if the driver does not know the attribute.
double attribute_if_known(cudaDeviceAttr which, int device) {
  int value = 0;
  if (cudaDeviceGetAttribute(&value, which, device) == cudaSuccess) return value;
  cudaGetLastError();  // clears the error, which this function's result already tells
  return 0;
}

bool can_reach(int device, int peer) {
  int can = 0;
  check(cudaDeviceCanAccessPeer(&can, device, peer), "cudaDeviceCanAccessPeer");
  return can != 0;
}

void enable_access(int device, int peer) {
  const DeviceGuard guard(device);
  const cudaError_t status = cudaDeviceEnablePeerAccess(peer, 0);
  if (status == cudaErrorPeerAccessAlreadyEnabled) {
    cudaGetLastError();
    return;
  }
  check(status, "cudaDeviceEnablePeerAccess");
}

void start(const CopyDirection& direction, std::size_t bytes, cudaStream_t stream) {
  if (direction.from_device == kHostMemory || direction.into_device == kHostMemory) {
    const auto kind = direction.from_device == kHostMemory ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
    check(cudaMemcpyAsync(direction.into, direction.from, bytes, kind, stream), "cudaMemcpyAsync");
  } else if (direction.from_device == direction.into_device) {
    check(cudaMemcpyAsync(direction.into, direction.from, bytes, cudaMemcpyDeviceToDevice, stream), "cudaMemcpyAsync");
  } else {
    check(cudaMemcpyPeerAsync(direction.into, direction.into_device, direction.from, direction.from_device, bytes,
                              stream),
          "cudaMemcpyPeerAsync");
  }
}

}  // namespace

PinnedRange pin(std::span<std::byte> host_memory) {
  const cudaError_t status = cudaHostRegister(host_memory.data(), host_memory.size(), cudaHostRegisterPortable);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // clears the error, which is reported here
    throw Error(ExitStatus::kMissing,
                fmt::format("cuda: cannot lock {} of host memory for the devices; raise the limit (ulimit -l) or lower "
                            "-e",
                            readable_bytes(host_memory.size())));
  }
  check(status, "cudaHostRegister");
  return PinnedRange(host_memory.data());
}

bool reaches_host_by_pci(int device) {
  return attribute(cudaDevAttrPageableMemoryAccessUsesHostPageTables, device) == 0;
}

std::optional<double> memory_bytes_per_s(int device) {
  const double clock_hz = attribute_if_known(cudaDevAttrMemoryClockRate, device) * 1e3;
  const double width_bytes = attribute_if_known(cudaDevAttrGlobalMemoryBusWidth, device) / 8;
  const double rate = 2 * clock_hz * width_bytes;
  return rate > 0 ? std::optional(rate) : std::nullopt;
}

bool connect_peers(int from, int into) {
  if (!can_reach(from, into) || !can_reach(into, from)) return false;
  enable_access(from, into);
  enable_access(into, from);
  return true;
}

TimedCopies::TimedCopies(int device, Seconds limit)
    : device_(device),
      limit_(limit),
      streams_{Stream::create(device), Stream::create(device)},
      clock_({streams_[0].view(), streams_[1].view()}) {}

std::vector<std::vector<Seconds>> TimedCopies::time_copies(const CopySettings& run) {
  const DeviceGuard guard(device_);
  clock_.reserve(static_cast<std::size_t>(run.times) + 1);
  clock_.reset();
  if (run.gated && !launches_block()) clock_.close_gate();
  clock_.mark();
  for (std::int64_t i = 0; i < run.times; ++i) {
    for (std::size_t direction = 0; direction < run.directions.size(); ++direction) {
      start(run.directions[direction], run.bytes, streams_[direction].get());
    }
    clock_.mark();
  }
  clock_.open_gate();
  bool called = !run.under_way;
  const auto call_once = [&] {
    if (!called) run.under_way();
    called = true;
  };
  const DeviceStream streams[] = {streams_[0].view(), streams_[1].view()};
  wait_for(streams, limit_, call_once);
  call_once();
  std::vector<std::vector<Seconds>> times = clock_.intervals();
  times.resize(run.directions.size());
  return times;
}

}  // namespace fabricbench::cuda
