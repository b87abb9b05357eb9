#include "common/backends/cuda/stream.h"

#include "common/backends/cuda/check.h"

namespace fabricbench::cuda {

DeviceGuard::DeviceGuard(int device) {
  check(cudaGetDevice(&previous_), "cudaGetDevice");
  if (previous_ == device) return;
  check(cudaSetDevice(device), "cudaSetDevice");
  changed_ = true;
}

DeviceGuard::~DeviceGuard() {
  if (changed_) cudaSetDevice(previous_);  // it was current before, so this fails only if the device is lost
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
