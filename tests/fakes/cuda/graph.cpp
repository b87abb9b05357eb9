#include <utility>

#include "../faulty_call.h"
#include "state.h"

using namespace fake_cuda;

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode /*mode*/) {
  if (fails()) return report(cudaErrorUnknown);
  if (stream == nullptr) return report(cudaErrorStreamCaptureUnsupported);  // CUDA does not record default streams
  if (stream->capturing) return report(cudaErrorIllegalState);
  stream->capturing = true;
  stream->capture_broken = false;
  stream->captured.clear();
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  if (fails()) return report(cudaErrorUnknown);
  *graph = nullptr;
  if (stream == nullptr || !stream->capturing) return report(cudaErrorIllegalState);
  stream->capturing = false;
  if (stream->capture_broken) return report(cudaErrorStreamCaptureInvalidated);
  *graph = new CUgraph_st{std::exchange(stream->captured, {})};
  return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  if (fails()) return report(cudaErrorUnknown);
  const bool active = stream != nullptr && stream->capturing;
  *status = active ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  if (active && stream->capture_broken) *status = cudaStreamCaptureStatusInvalidated;
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph,
                                          unsigned long long /*flags*/) {
  if (fails()) return report(cudaErrorUnknown);
  *executable = nullptr;
  if (graph == nullptr) return report(cudaErrorInvalidValue);
  *executable = new CUgraphExec_st{std::make_shared<const Tasks>(graph->tasks)};
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags) {
  if (fails()) return report(cudaErrorUnknown);
  return cudaGraphInstantiateWithFlags(executable, graph, flags);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  if (fails()) return report(cudaErrorUnknown);
  if (executable == nullptr) return report(cudaErrorInvalidValue);
  return enqueue(stream, [tasks = executable->tasks] {
    for (const Task& task : *tasks) {
      if (const cudaError_t status = task(); status != cudaSuccess) return status;
    }
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  if (fails()) return report(cudaErrorUnknown);
  delete graph;
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  if (fails()) return report(cudaErrorUnknown);
  delete executable;
  return cudaSuccess;
}
}
