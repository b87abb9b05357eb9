// What the fake library and the fake kernels (device_kernels.cpp), which are not linked with each other, know of an
// ncclDevComm: its windowTable points to this.
#pragma once

#include <cstddef>

#include <cuda_runtime_api.h>
#include <nccl_device.h>

namespace fake_nccl {

struct DeviceCommunicator {
  ncclComm_t communicator;
  int ctas;      ///< barriers of the LSA team that were asked for
  int gin_ctas;  ///< barriers and signals through the network
  decltype(&ncclAllReduce) all_reduce;
  decltype(&ncclAllGather) all_to_all;
};

}  // namespace fake_nccl
