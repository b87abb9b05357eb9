#include "../faulty_call.h"
#include "state.h"

namespace fake_cuda {
namespace {

bool is_complete(const Record& record) { return record.completed == record.asked; }

}  // namespace
}  // namespace fake_cuda

using namespace fake_cuda;

extern "C" {

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned /*flags*/) {
  if (fails()) return report(cudaErrorUnknown);
  if (const cudaError_t status = make_context(current_device()); status != cudaSuccess) return status;
  *event = new CUevent_st;
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  if (fails()) return report(cudaErrorUnknown);
  return cudaEventCreateWithFlags(event, 0);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  if (fails()) return report(cudaErrorUnknown);
  delete event;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (fails()) return report(cudaErrorUnknown);
  const auto record = event->record;
  std::uint64_t own = 0;
  {
    const std::lock_guard lock(record->mutex);
    own = ++record->asked;
  }
  return enqueue(stream, [record, own] {
    const std::lock_guard lock(record->mutex);
    record->completed = own;
    record->time_s = stream_time_s();
    record->changed.notify_all();
    return cudaSuccess;
  });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  if (fails()) return report(cudaErrorUnknown);
  const std::lock_guard lock(event->record->mutex);
  return report(is_complete(*event->record) ? cudaSuccess : cudaErrorNotReady);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (fails()) return report(cudaErrorUnknown);
  std::unique_lock lock(event->record->mutex);
  event->record->changed.wait(lock, [&] { return is_complete(*event->record); });
  return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  if (fails()) return report(cudaErrorUnknown);
  double times_s[2] = {};
  int i = 0;
  for (const cudaEvent_t event : {start, end}) {
    const std::lock_guard lock(event->record->mutex);
    if (event->record->asked == 0) return report(cudaErrorInvalidResourceHandle);
    if (!is_complete(*event->record)) return report(cudaErrorNotReady);
    times_s[i++] = event->record->time_s;
  }
  *milliseconds = static_cast<float>((times_s[1] - times_s[0]) * 1e3);
  return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned /*flags*/) {
  if (fails()) return report(cudaErrorUnknown);
  const auto record = event->record;
  std::uint64_t awaited = 0;
  {
    const std::lock_guard lock(record->mutex);
    awaited = record->asked;
  }
  return enqueue(stream, [record, awaited] {
    std::unique_lock lock(record->mutex);
    record->changed.wait(lock, [&] { return record->completed >= awaited; });
    go_on_from(record->time_s);
    return cudaSuccess;
  });
}
}
