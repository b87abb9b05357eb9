#include "common/backends/cuda/stream.h"

#include <cstdlib>
#include <string_view>

#include "common/backends/cuda/check.h"

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

}  // namespace

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

}  // namespace fabricbench::cuda
