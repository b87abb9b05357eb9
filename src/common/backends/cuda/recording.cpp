#include "common/backends/cuda/recording.h"

#include <utility>

#include "common/backends/cuda/check.h"
#include "common/core/error.h"

namespace fabricbench::cuda {

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

}  // namespace fabricbench::cuda
