#include "group.h"

#include <algorithm>
#include <utility>

#include "../cuda/fake_cuda.h"
#include "profiler.h"
#include "version.h"

namespace fake_nccl {
namespace {

/// One rank's operations of a group.
struct Batch {
  std::shared_ptr<Rank> rank;
  cudaStream_t stream;
  std::vector<Operation> operations;
};

struct ThreadGroup {
  int depth = 0;
  ncclResult_t problem = ncclSuccess;
  std::vector<Batch> batches;
  std::vector<std::function<ncclResult_t()>> finishes;
};

ThreadGroup& group() {
  thread_local ThreadGroup of_thread;
  return of_thread;
}

ncclResult_t refuse(const std::string& reason) { return failed(ncclInvalidArgument, reason); }

/// Counts a group in a CUDA graph for as long as the graph, or one made from it, is alive; nullptr outside of one.
std::shared_ptr<Rank> recorded_group(const Batch& batch) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(batch.stream, &status) != cudaSuccess || status == cudaStreamCaptureStatusNone) {
    return nullptr;
  }
  ++batch.rank->recorded;
  return {batch.rank.get(), [owner = batch.rank](Rank* rank) { --rank->recorded; }};
}

ncclResult_t launch(const Batch& batch) {
  tell_profiler(*batch.rank, batch.operations);
  int before = 0;
  cudaGetDevice(&before);
  cudaSetDevice(batch.rank->device);  // whose default stream a null handle means
  const cudaError_t result = fake_cuda_enqueue(
      batch.stream, [rank = batch.rank, operations = batch.operations, recorded = recorded_group(batch)] {
        run(*rank, operations, recorded != nullptr);
      });
  cudaSetDevice(before);
  return result == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

ncclResult_t problem_of(const Rank& rank, cudaStream_t stream, const Operation& operation) {
  if (operation.type < 0 || operation.type >= kTypes) return refuse("no such datatype");
  if (operation.root < 0 || operation.root >= rank.ranks) return refuse("no such rank");
  if (stream != nullptr && fake_cuda_device_of(stream) != rank.device)
    return refuse("the stream is one of another device");
  const bool multiplies = operation.reduction == ncclAvg || operation.reduction >= ncclNumOps;
  const bool eight_bit_float = operation.type == ncclFloat8e4m3 || operation.type == ncclFloat8e5m2;
  if (rank.ranks == 1 && multiplies && eight_bit_float) return refuse("");  // as ncclLaunchOneRank
  return ncclSuccess;
}

}  // namespace

void begin_group() { ++group().depth; }

ncclResult_t end_group() {
  if (group().depth == 0) return refuse("ncclGroupEnd without a group");
  if (--group().depth > 0) return ncclSuccess;
  const ThreadGroup ended = std::exchange(group(), ThreadGroup{});
  if (ended.problem != ncclSuccess) return ended.problem;  // and nothing of it is carried out
  for (const auto& finish : ended.finishes) {
    if (const ncclResult_t result = finish(); result != ncclSuccess) return result;
  }
  for (const Batch& batch : ended.batches) {
    if (const ncclResult_t result = launch(batch); result != ncclSuccess) return result;
  }
  return ncclSuccess;
}

ncclResult_t start(ncclComm_t communicator, cudaStream_t stream, const Operation& operation) {
  Rank& rank = *communicator->rank;
  if (rank.null) return ncclSuccess;
  if (const ncclResult_t problem = problem_of(rank, stream, operation); problem != ncclSuccess) return problem;
  if (rank.fault.hits("call_error", rank.rank, rank.calls++)) {
    return failed(ncclSystemError, "a call failed, as the test asked for");
  }
  Operation started = operation;
  if (operation.reduction >= ncclNumOps) {
    const auto index = static_cast<std::size_t>(operation.reduction - ncclNumOps);
    if (index >= rank.mulsums.size() || !rank.mulsums[index].alive) return refuse("no such reduction");
    if (rank.mulsums[index].type != operation.type) return refuse("a reduction of another datatype");
    started.mulsum = rank.mulsums[index];
    started.reduction = ncclSum;
  }
  if (group().depth == 0) return launch({communicator->rank, stream, {started}});
  auto& batches = group().batches;
  const auto found = std::find_if(batches.begin(), batches.end(), [&](const Batch& batch) {
    return batch.rank == communicator->rank && batch.stream == stream;
  });
  if (found != batches.end()) {
    found->operations.push_back(started);
  } else {
    batches.push_back({communicator->rank, stream, {started}});
  }
  return ncclSuccess;
}

ncclResult_t failed(ncclResult_t result, const std::string& reason) {
  set_last_error(reason);
  if (group().depth > 0) group().problem = result;
  return result;
}

ncclResult_t finish_with_group(std::function<ncclResult_t()> finish) {
  if (group().depth == 0) return finish();
  group().finishes.push_back(std::move(finish));
  return ncclSuccess;
}

}  // namespace fake_nccl
