// What came with NCCL 2.27 and 2.28.
#include <cstddef>
#include <memory>

#include <cuda_runtime_api.h>

#include "../faulty_call.h"
#include "group.h"
#include "memory.h"

namespace {

using fake_nccl::Kind;
using fake_nccl::Operation;
using fake_nccl::Rank;

Operation operation(Kind kind, const void* send, void* recv, std::size_t count, ncclDataType_t type, int root) {
  return {kind, static_cast<const std::byte*>(send), static_cast<std::byte*>(recv), count, type, ncclSum, root, {}};
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

ncclResult_t ncclCommWindowRegister(ncclComm_t communicator, void* block, size_t bytes, ncclWindow_t* window,
                                    int flags) {
  if (fails()) return ncclSystemError;
  if (!fake_nccl::is_allocated(block)) return fake_nccl::refuse("a window takes a block of ncclMemAlloc");
  if (flags != NCCL_WIN_COLL_SYMMETRIC) return fake_nccl::refuse("the fake has symmetric windows only");
  ++fake_nccl::registered();
  communicator->rank->windows.push_back({static_cast<std::byte*>(block), bytes});
  *window = static_cast<ncclWindow_t>(block);
  return meet(communicator);
}

ncclResult_t ncclCommWindowDeregister(ncclComm_t communicator, ncclWindow_t window) {
  if (fails()) return ncclSystemError;
  --fake_nccl::registered();
  for (fake_nccl::Window& known : communicator->rank->windows) {
    if (static_cast<void*>(known.block) == static_cast<void*>(window)) known = {nullptr, 0};
  }
  return meet(communicator);
}

ncclResult_t ncclAlltoAll(const void* send, void* recv, size_t count, ncclDataType_t type, ncclComm_t communicator,
                          cudaStream_t stream) {
  if (fails()) return ncclSystemError;
  return fake_nccl::start(communicator, stream, operation(Kind::kAllToAll, send, recv, count, type, 0));
}

ncclResult_t ncclGather(const void* send, void* recv, size_t count, ncclDataType_t type, int root,
                        ncclComm_t communicator, cudaStream_t stream) {
  if (fails()) return ncclSystemError;
  return fake_nccl::start(communicator, stream, operation(Kind::kGather, send, recv, count, type, root));
}

ncclResult_t ncclScatter(const void* send, void* recv, size_t count, ncclDataType_t type, int root,
                         ncclComm_t communicator, cudaStream_t stream) {
  if (fails()) return ncclSystemError;
  return fake_nccl::start(communicator, stream, operation(Kind::kScatter, send, recv, count, type, root));
}
