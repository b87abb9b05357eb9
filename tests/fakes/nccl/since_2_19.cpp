// What came with NCCL 2.19.
#include <mutex>
#include <set>

#include <cuda_runtime_api.h>

#include "../faulty_call.h"
#include "faults.h"
#include "memory.h"
#include "rank.h"

namespace fake_nccl {
namespace {

std::mutex allocated_guard;
std::set<const void*> allocated;  // by ncclMemAlloc

}  // namespace

bool is_allocated(const void* block) {
  const std::lock_guard lock(allocated_guard);
  return allocated.count(block) > 0;
}

std::atomic<int>& registered() {
  static std::atomic<int> count = 0;
  return count;
}

ncclResult_t refuse(const std::string& reason, ncclResult_t result) {
  set_last_error(reason);
  return result;
}

}  // namespace fake_nccl

using namespace fake_nccl;

/// Blocks that are registered now; for tests.
extern "C" int fake_nccl_registered() { return registered(); }

ncclResult_t ncclMemAlloc(void** block, size_t bytes) {
  if (fails()) return ncclSystemError;
  if (fault_of_environment().kind == "out_of_memory" || cudaMalloc(block, bytes) != cudaSuccess) {
    cudaGetLastError();
    return refuse("Cuda failure 2 'out of memory'", ncclUnhandledCudaError);
  }
  const std::lock_guard lock(allocated_guard);
  allocated.insert(*block);
  return ncclSuccess;
}

ncclResult_t ncclMemFree(void* block) {
  if (fails()) return ncclSystemError;
  const std::lock_guard lock(allocated_guard);
  if (allocated.erase(block) == 0) return refuse("not a block of ncclMemAlloc");
  return cudaFree(block) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

ncclResult_t ncclCommRegister(const ncclComm_t /*communicator*/, void* block, size_t bytes, void** handle) {
  if (fails()) return ncclSystemError;
  if (block == nullptr || bytes == 0) return refuse("nothing to register");
  ++registered();
  *handle = block;
  return ncclSuccess;
}

ncclResult_t ncclCommDeregister(const ncclComm_t /*communicator*/, void* /*handle*/) {
  if (fails()) return ncclSystemError;
  --registered();
  return ncclSuccess;
}
