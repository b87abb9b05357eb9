#include "common/backends/nccl_device/device_collectives.h"

#include "common/core/error.h"

namespace fabricbench::nccl_device {
namespace {

constexpr const char* kMissing =
    "this program was built without NCCL's device interface; rebuild it with the headers (nccl_device/gin.h) of "
    "NCCL 2.28.7 or newer";

[[noreturn]] void fail() { throw Error(ExitStatus::kMissing, kMissing); }

}  // namespace

struct DeviceCommunicator::State {};

std::string why_not(int /*library_version*/, Implementation /*implementation*/) { return kMissing; }

DeviceCommunicator::DeviceCommunicator(Functions /*functions*/, Implementation /*implementation*/, int /*ctas*/) {
  fail();
}
DeviceCommunicator::DeviceCommunicator(DeviceCommunicator&&) noexcept = default;
DeviceCommunicator::~DeviceCommunicator() = default;

ncclResult_t DeviceCommunicator::create(ncclComm_t /*communicator*/) { fail(); }
ncclResult_t DeviceCommunicator::destroy(ncclComm_t /*communicator*/) { fail(); }
std::string DeviceCommunicator::why_not() const { return kMissing; }
cudaError_t DeviceCommunicator::load(DataType /*datatype*/) const { fail(); }
cudaError_t DeviceCommunicator::all_reduce(Place /*send*/, Place /*recv*/, std::uint64_t /*count*/,
                                           DataType /*datatype*/, cudaStream_t /*stream*/) const {
  fail();
}
cudaError_t DeviceCommunicator::all_to_all(Place /*send*/, Place /*recv*/, std::uint64_t /*count*/,
                                           DataType /*datatype*/, cudaStream_t /*stream*/) const {
  fail();
}

}  // namespace fabricbench::nccl_device
