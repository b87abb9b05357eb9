// What came with NCCL 2.19, 2.27 and 2.28.
#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include <cuda_runtime_api.h>

#include "group.h"

namespace {

using fake_nccl::Kind;
using fake_nccl::Operation;
using fake_nccl::Rank;

std::mutex allocated_guard;
std::set<const void*> allocated;  // by ncclMemAlloc
std::atomic<int> registered = 0;

Operation operation(Kind kind, const void* send, void* recv, std::size_t count, ncclDataType_t type, int root) {
  return {kind, static_cast<const std::byte*>(send), static_cast<std::byte*>(recv), count, type, ncclSum, root, {}};
}

ncclResult_t refuse(const std::string& reason, ncclResult_t result = ncclInvalidArgument) {
  fake_nccl::set_last_error(reason);
  return result;
}

/// A call that returns on no rank before all have made it.
ncclResult_t meet(ncclComm_t communicator) {
  const std::shared_ptr<Rank> rank = communicator->rank;
  rank->host_barrier.arrive(rank->shared->host_arrivals, rank->ranks);
  return fake_nccl::finish_with_group([rank] {
    const bool met = rank->host_barrier.wait(rank->shared->host_arrivals, rank->aborted);
    return met ? ncclSuccess : ncclInternalError;
  });
}

}  // namespace

/// Blocks that are registered now; for tests.
extern "C" int fake_nccl_registered() { return registered; }

ncclResult_t ncclMemAlloc(void** block, size_t bytes) {
  if (fake_nccl::fault_of_environment().kind == "out_of_memory" || cudaMalloc(block, bytes) != cudaSuccess) {
    cudaGetLastError();
    return refuse("Cuda failure 2 'out of memory'", ncclUnhandledCudaError);
  }
  const std::lock_guard lock(allocated_guard);
  allocated.insert(*block);
  return ncclSuccess;
}

ncclResult_t ncclMemFree(void* block) {
  const std::lock_guard lock(allocated_guard);
  if (allocated.erase(block) == 0) return refuse("not a block of ncclMemAlloc");
  return cudaFree(block) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

ncclResult_t ncclCommRegister(const ncclComm_t /*communicator*/, void* block, size_t bytes, void** handle) {
  if (block == nullptr || bytes == 0) return refuse("nothing to register");
  ++registered;
  *handle = block;
  return ncclSuccess;
}

ncclResult_t ncclCommDeregister(const ncclComm_t /*communicator*/, void* /*handle*/) {
  --registered;
  return ncclSuccess;
}

ncclResult_t ncclCommWindowRegister(ncclComm_t communicator, void* block, size_t /*bytes*/, ncclWindow_t* window,
                                    int flags) {
  {
    const std::lock_guard lock(allocated_guard);
    if (allocated.count(block) == 0) return refuse("a window takes a block of ncclMemAlloc");
  }
  if (flags != NCCL_WIN_COLL_SYMMETRIC) return refuse("the fake has symmetric windows only");
  ++registered;
  *window = static_cast<ncclWindow_t>(block);
  return meet(communicator);
}

ncclResult_t ncclCommWindowDeregister(ncclComm_t communicator, ncclWindow_t /*window*/) {
  --registered;
  return meet(communicator);
}

ncclResult_t ncclAlltoAll(const void* send, void* recv, size_t count, ncclDataType_t type, ncclComm_t communicator,
                          cudaStream_t stream) {
  return fake_nccl::start(communicator, stream, operation(Kind::kAllToAll, send, recv, count, type, 0));
}

ncclResult_t ncclGather(const void* send, void* recv, size_t count, ncclDataType_t type, int root,
                        ncclComm_t communicator, cudaStream_t stream) {
  return fake_nccl::start(communicator, stream, operation(Kind::kGather, send, recv, count, type, root));
}

ncclResult_t ncclScatter(const void* send, void* recv, size_t count, ncclDataType_t type, int root,
                         ncclComm_t communicator, cudaStream_t stream) {
  return fake_nccl::start(communicator, stream, operation(Kind::kScatter, send, recv, count, type, root));
}
