#include "common/backends/cuda/stream.h"

#include <cstdlib>
#include <string_view>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "common/core/clock.h"
#include "common/core/error.h"

namespace fabricbench::cuda {
namespace {

thread_local bool has_chosen = false;  // a device for this thread

/// The device that this thread has chosen; -1: none.
int chosen_device() {
  int current = -1;
  if (!has_chosen || cudaGetDevice(&current) == cudaSuccess) return current;
  cudaGetLastError();  // clears the error; whoever uses a lost device next reports it
  return -1;
}

bool is_idle(const DeviceStream& stream) {
  // A null stream belongs to the current device.
  const DeviceGuard guard(stream.device);
  const cudaError_t status = cudaStreamQuery(stream.stream);
  if (status == cudaErrorNotReady) {
    cudaGetLastError();  // CUDA keeps even this answer as an error, which a later call would report
    return false;
  }
  check(status, "cudaStreamQuery");
  return true;
}

}  // namespace

void fail(cudaError_t code, const char* call) {
  cudaGetLastError();  // clears the error that it returns
  const char* const advice =
      code == cudaErrorDevicesUnavailable
          ? "; another process uses it, or has it for itself (nvidia-smi -q -d COMPUTE shows the mode)"
          : "";
  throw Error(ExitStatus::kFailure,
              fmt::format("cuda: {}: {} ({}){}", call, cudaGetErrorString(code), cudaGetErrorName(code), advice));
}

void make_current(int device) {
  check(cudaSetDevice(device), "cudaSetDevice");
  has_chosen = true;
}

DeviceGuard::DeviceGuard(int device) : previous_(chosen_device()) {
  if (previous_ == device) {
    previous_ = -1;  // nothing to go back to
  } else {
    make_current(device);
  }
}

DeviceGuard::~DeviceGuard() {
  if (previous_ >= 0) cudaSetDevice(previous_);  // it was current before, so this fails only if the device is lost
}

bool launches_block() {
  const char* const value = std::getenv("CUDA_LAUNCH_BLOCKING");
  return value != nullptr && std::string_view(value) != "" && std::string_view(value) != "0";
}

Stream Stream::create(int device) {
  const DeviceGuard guard(device);
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  return {device, stream};
}

Event create_event() {
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventDefault), "cudaEventCreateWithFlags");
  return Event(event);
}

Recording::Recording(std::vector<DeviceStream> streams, cudaStreamCaptureMode mode)
    : streams_(std::move(streams)), mode_(mode) {}

Recording::~Recording() { drop_open(); }

void Recording::drop() noexcept {
  drop_open();
  executables_.clear();
}

void Recording::drop_open() noexcept {
  while (open_ > 0) {
    cudaGraph_t graph = nullptr;
    cudaStreamEndCapture(streams_[--open_].stream, &graph);
    const Graph owner(graph);
  }
  cudaGetLastError();  // clears the error of a failed capture
}

void Recording::begin() {
  drop();
  for (const DeviceStream& stream : streams_) {
    check(cudaStreamBeginCapture(stream.stream, mode_), "cudaStreamBeginCapture");
    ++open_;
  }
}

void Recording::end() {
  std::vector<Graph> graphs(streams_.size());
  cudaError_t first_failure = cudaSuccess;
  while (open_ > 0) {  // all of them, including those after a failed one
    --open_;
    cudaGraph_t graph = nullptr;
    const cudaError_t status = cudaStreamEndCapture(streams_[open_].stream, &graph);
    graphs[open_].reset(graph);
    if (first_failure == cudaSuccess) first_failure = status;
  }
  check(first_failure, "cudaStreamEndCapture");
  for (const Graph& graph : graphs) {
    cudaGraphExec_t executable = nullptr;
    check(cudaGraphInstantiateWithFlags(&executable, graph.get(), 0), "cudaGraphInstantiateWithFlags");
    executables_.emplace_back(executable);
  }
}

void Recording::launch() {
  if (executables_.size() != streams_.size()) {
    throw Error(ExitStatus::kFailure, "cuda: nothing was recorded that could be launched");
  }
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    check(cudaGraphLaunch(executables_[i].get(), streams_[i].stream), "cudaGraphLaunch");
  }
}

void wait_for(std::span<const DeviceStream> streams, Seconds limit, const std::function<void()>& poll) {
  const Seconds start = now();
  for (const DeviceStream& stream : streams) {
    while (!is_idle(stream)) {
      if (poll) poll();
      if (limit > 0 && now() - start > limit) {
        throw Error(ExitStatus::kTimeout, fmt::format("cuda: device {} has not finished its work after {}",
                                                      stream.device, readable_seconds(limit)));
      }
      std::this_thread::yield();
    }
  }
}

}  // namespace fabricbench::cuda
