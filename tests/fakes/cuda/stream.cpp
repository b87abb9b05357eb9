#include <map>
#include <utility>

#include "../faulty_call.h"
#include "fake_cuda.h"
#include "state.h"

namespace fake_cuda {
namespace {

void work_off(const std::shared_ptr<Queue>& queue) {
  std::unique_lock lock(queue->mutex);
  for (;;) {
    queue->changed.wait(lock, [&] { return queue->closing || !queue->tasks.empty(); });
    if (queue->tasks.empty()) return;
    Task task = std::move(queue->tasks.front());
    queue->tasks.pop_front();
    queue->running = true;
    const bool failed = queue->failure != cudaSuccess;
    lock.unlock();
    const cudaError_t status = failed ? cudaSuccess : task();
    task = nullptr;  // what it holds goes before the stream counts as idle
    lock.lock();
    queue->running = false;
    if (status != cudaSuccess) queue->failure = status;
    queue->changed.notify_all();
  }
}

bool is_idle(const Queue& queue) { return queue.tasks.empty() && !queue.running; }

CUstream_st* new_stream(int device) {
  auto* stream = new CUstream_st;
  stream->device = device;
  stream->thread = std::thread(work_off, stream->queue);
  return stream;
}

/// A null handle stands for the current device's default stream, which is made when it is first used and never ends.
CUstream_st* resolve(cudaStream_t stream) {
  static auto* mutex = new std::mutex;
  static auto* defaults = new std::map<int, CUstream_st*>;
  if (stream != nullptr && stream != cudaStreamLegacy && stream != cudaStreamPerThread) return stream;
  const std::lock_guard lock(*mutex);
  CUstream_st*& own = (*defaults)[current_device()];
  if (own == nullptr) own = new_stream(current_device());
  return own;
}

/// As CUDA does, what may not be asked of a stream that records ends the recording.
bool breaks_capture(CUstream_st* stream) {
  if (stream->capturing) stream->capture_broken = true;
  return stream->capturing;
}

}  // namespace

cudaError_t drain(cudaStream_t handle) {
  CUstream_st* stream = resolve(handle);
  if (breaks_capture(stream)) return report(cudaErrorStreamCaptureUnsupported);
  std::unique_lock lock(stream->queue->mutex);
  stream->queue->changed.wait(lock, [&] { return is_idle(*stream->queue); });
  return report(stream->queue->failure);
}

cudaError_t enqueue(cudaStream_t handle, Task task) {
  CUstream_st* stream = resolve(handle);
  if (stream->capturing) {
    stream->captured.push_back(std::move(task));
    return cudaSuccess;
  }
  {
    const std::lock_guard lock(stream->queue->mutex);
    if (stream->queue->failure != cudaSuccess) return report(stream->queue->failure);
    stream->queue->tasks.push_back(not_before_its_launch(std::move(task)));
    stream->queue->changed.notify_all();
  }
  return environment("CUDA_LAUNCH_BLOCKING", "0") == "1" ? drain(handle) : cudaSuccess;
}

}  // namespace fake_cuda

using namespace fake_cuda;

extern "C" {

cudaError_t fake_cuda_enqueue(cudaStream_t stream, const std::function<void()>& work) {
  return enqueue(stream, [work] {
    work();
    return cudaSuccess;
  });
}

cudaError_t fake_cuda_enqueue_fallible(cudaStream_t stream, const std::function<cudaError_t()>& work) {
  return enqueue(stream, work);
}

int fake_cuda_device_of(cudaStream_t stream) { return resolve(stream)->device; }

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned /*flags*/) {
  if (fails()) return report(cudaErrorUnknown);
  int device = 0;
  if (const cudaError_t status = cudaGetDevice(&device); status != cudaSuccess) return status;
  if (const cudaError_t status = make_context(device); status != cudaSuccess) return status;
  *stream = new_stream(device);
  return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  if (fails()) return report(cudaErrorUnknown);
  return cudaStreamCreateWithFlags(stream, 0);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (fails()) return report(cudaErrorUnknown);
  if (stream == nullptr) return report(cudaErrorInvalidResourceHandle);
  bool idle = false;
  {
    const std::lock_guard lock(stream->queue->mutex);
    stream->queue->closing = true;
    idle = is_idle(*stream->queue);
    stream->queue->changed.notify_all();
  }
  if (idle) {
    stream->thread.join();
  } else {
    stream->thread.detach();
  }
  delete stream;
  return cudaSuccess;
}

cudaError_t cudaStreamQuery(cudaStream_t handle) {
  if (fails()) return report(cudaErrorUnknown);
  CUstream_st* stream = resolve(handle);
  if (breaks_capture(stream)) return report(cudaErrorStreamCaptureUnsupported);
  const std::lock_guard lock(stream->queue->mutex);
  if (stream->queue->failure != cudaSuccess) return report(stream->queue->failure);
  return report(is_idle(*stream->queue) ? cudaSuccess : cudaErrorNotReady);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (fails()) return report(cudaErrorUnknown);
  return drain(stream);
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  if (fails()) return report(cudaErrorUnknown);
  *device = resolve(stream)->device;
  return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  if (fails()) return report(cudaErrorUnknown);
  return enqueue(stream, [=] {
    function(data);
    return cudaSuccess;
  });
}
}
