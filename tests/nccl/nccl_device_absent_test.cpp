// -D in a build whose nccl.h has no device interface.

#include "common/core/error.h"
#include "nccl_fixture.h"

namespace fabricbench::nccl {
namespace nccl_device_absent_test {

using NcclDeviceAbsentTest = NcclTest;

TEST_F(NcclDeviceAbsentTest, SaysWhatToBuildWith) {
  Options options = test_options();
  options.nccl.device_implementation = 1;
  options.nccl.registration = Registration::kSymmetric;
  try {
    make_session(options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kMissing);
    EXPECT_NE(std::string(error.what()).find("built without NCCL's device interface"), std::string::npos)
        << error.what();
  }
}

}  // namespace nccl_device_absent_test
}  // namespace fabricbench::nccl
