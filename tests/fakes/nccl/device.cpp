// The device interface of NCCL 2.28, as far as its host functions go. The environment says what the machine lacks:
//
//   FAKE_NCCL_LSA_SIZE=N      ranks reach each other's memory in groups of N only
//   FAKE_NCCL_NO_SYMMETRIC=1  none does, which NCCL refuses
//   FAKE_NCCL_NO_MULTIMEM=1   there is no multicast memory, which NCCL refuses too
//   FAKE_NCCL_NO_GIN=1        no adapter can be driven by GPUs, which NCCL refuses as an internal error
//                             (ncclGinConnectOnce in its src/gin/gin_host.cc)
#include "device.h"
#include "../faulty_call.h"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "group.h"

namespace {

using fake_nccl::DeviceCommunicator;
using fake_nccl::Rank;

int number_of(const char* variable, int otherwise) {
  const char* value = std::getenv(variable);
  return value != nullptr ? std::atoi(value) : otherwise;
}

}  // namespace

/// Device communicators that there are now; for tests.
extern "C" int* fake_nccl_device_communicators() {
  static int count = 0;
  return &count;
}

ncclResult_t ncclDevCommCreate(ncclComm_t communicator, ncclDevCommRequirements_t const* requirements,
                               ncclDevComm_t* made) {
  if (fails()) return ncclSystemError;
  const std::shared_ptr<Rank> rank = communicator->rank;
  if (number_of("FAKE_NCCL_NO_SYMMETRIC", 0) == 1) {
    return fake_nccl::failed(ncclInvalidUsage, "Communicator does not support symmetric memory!");
  }
  if (requirements->lsaMultimem && number_of("FAKE_NCCL_NO_MULTIMEM", 0) == 1) {
    return fake_nccl::failed(ncclInvalidArgument, "Multicast support requested for team but none available on system.");
  }
  const bool gin = requirements->ginSignalCount > 0 || requirements->ginForceEnable;
  if (gin && number_of("FAKE_NCCL_NO_GIN", 0) == 1) {
    return fake_nccl::failed(ncclInternalError, "No GIN-capable devices found.");
  }
  *made = {};
  made->rank = rank->rank;
  made->nRanks = rank->ranks;
  made->lsaSize = number_of("FAKE_NCCL_LSA_SIZE", rank->ranks);
  made->lsaRank = rank->rank % made->lsaSize;
  made->lsaMultimem.mcBasePtr = requirements->lsaMultimem ? rank.get() : nullptr;
  made->ginContextCount = gin ? 1 : 0;
  auto* own = new DeviceCommunicator{communicator, requirements->lsaBarrierCount,
                                     std::min(requirements->barrierCount, requirements->ginSignalCount), &ncclAllReduce,
                                     &ncclAlltoAll};
  made->windowTable = reinterpret_cast<ncclDevCommWindowTable*>(own);
  ++*fake_nccl_device_communicators();
  rank->host_barrier.arrive(rank->shared->host_arrivals, rank->ranks);
  return fake_nccl::finish_with_group([rank] {
    return rank->host_barrier.wait(rank->shared->host_arrivals, rank->aborted) ? ncclSuccess : ncclInternalError;
  });
}

ncclResult_t ncclDevCommDestroy(ncclComm_t /*communicator*/, ncclDevComm_t const* made) {
  if (fails()) return ncclSystemError;
  delete reinterpret_cast<DeviceCommunicator*>(made->windowTable);
  --*fake_nccl_device_communicators();
  return ncclSuccess;
}
