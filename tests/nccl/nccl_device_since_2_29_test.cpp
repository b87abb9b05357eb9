// What -D asks NCCL 2.29 and newer for, whose own value to begin a request with is not all zero.
#include "common/backends/nccl_device/device_collectives.h"

#include <gtest/gtest.h>

#include <climits>

#include "common/backends/nccl_device/kernels.h"

namespace fabricbench::nccl_device {

// None is launched here.
cudaError_t launch_lsa_all_reduce(const Launch&, const Work&) { return cudaErrorNotSupported; }
cudaError_t launch_lsa_all_to_all(const Launch&, const Work&) { return cudaErrorNotSupported; }
cudaError_t launch_multimem_all_reduce(const Launch&, const Work&) { return cudaErrorNotSupported; }
cudaError_t launch_gin_all_to_all(const Launch&, const Work&, GinReach) { return cudaErrorNotSupported; }
cudaError_t load_lsa_kernels(DataType, Width) { return cudaErrorNotSupported; }
cudaError_t load_multimem_kernels(DataType, Width) { return cudaErrorNotSupported; }
cudaError_t load_gin_kernels(DataType, GinReach) { return cudaErrorNotSupported; }

namespace nccl_device_since_2_29_test {

ncclDevCommRequirements asked;

/// As ncclDevCommCreate, which makes as many contexts for the network as it was asked for (NCCL's src/gin/gin_host.cc).
ncclResult_t create(ncclComm_t /*communicator*/, const void* requirements, void* made) {
  asked = *static_cast<const ncclDevCommRequirements*>(requirements);
  if (asked.size != sizeof asked || asked.magic != 0xcafebeef) return ncclInvalidUsage;
  auto& communicator = *static_cast<ncclDevComm*>(made);
  communicator = {0, 2, 2, {}, asked.ginConnectionType == NCCL_GIN_CONNECTION_NONE ? 0 : asked.ginContextCount};
  return ncclSuccess;
}

ncclResult_t destroy(ncclComm_t /*communicator*/, const void* /*made*/) { return ncclSuccess; }

TEST(DeviceRequirements, BeginWithWhatNcclSays) {
  DeviceCommunicator communicator({&create, &destroy}, Implementation::kGin, 16);
  ASSERT_EQ(communicator.create(nullptr), ncclSuccess);
  EXPECT_EQ(communicator.why_not(), "");
  EXPECT_EQ(asked.version, NCCL_VERSION_CODE);
  EXPECT_EQ(asked.ginTrafficClass, INT_MIN) << "which leaves NCCL_IB_TC in force";
  EXPECT_TRUE(asked.ginStrongSignalsRequired);
  EXPECT_TRUE(asked.ginVaSignalsRequired);
  EXPECT_EQ(asked.ginSignalCount, 16);
  EXPECT_EQ(asked.barrierCount, 16);
  EXPECT_EQ(communicator.destroy(nullptr), ncclSuccess);
}

}  // namespace nccl_device_since_2_29_test
}  // namespace fabricbench::nccl_device
