// What common/backends/nccl_device/device_collectives.cpp uses of nccl_device.h of NCCL 2.30, for tests beside an older
// one: names and values as there, the layout not.
#pragma once

#include <climits>
#include <cstddef>

#include <nccl.h>

enum ncclGinConnectionType_t { NCCL_GIN_CONNECTION_NONE = 0, NCCL_GIN_CONNECTION_FULL = 1 };

struct ncclDevCommRequirements {
  std::size_t size;
  unsigned magic;
  unsigned version;
  bool lsaMultimem;
  int barrierCount;
  int lsaBarrierCount;
  int ginContextCount;
  int ginSignalCount;
  ncclGinConnectionType_t ginConnectionType;
  int ginTrafficClass;
  bool ginStrongSignalsRequired;
  bool ginVaSignalsRequired;
};

#define NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER                                                                   \
  {                                                                                                              \
    sizeof(ncclDevCommRequirements), 0xcafebeef, NCCL_VERSION_CODE, false, 0, 0, 4, 0, NCCL_GIN_CONNECTION_NONE, \
        INT_MIN, true, true                                                                                      \
  }

struct ncclMultimemHandle {
  void* mcBasePtr;
};

struct ncclDevComm {
  int rank;
  int nRanks;
  int lsaSize;
  ncclMultimemHandle lsaMultimem;
  int ginContextCount;
};
