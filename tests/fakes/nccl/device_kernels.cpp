// The launches of common/backends/nccl_device/kernels.h, as collectives of the fake NCCL: where they reach and what
// they are asked for is checked, the kernels are not. A window of the fake is its block.
#include "common/backends/nccl_device/kernels.h"

#include "device.h"

namespace fabricbench::nccl_device {
namespace {

using fake_nccl::DeviceCommunicator;

ncclDataType_t type_of(const Launch& launch) { return static_cast<ncclDataType_t>(launch.datatype); }

std::byte* address(ncclWindow_t window, std::uint64_t offset) { return reinterpret_cast<std::byte*>(window) + offset; }

/// The kernel's end of the device communicator; null where a kernel could not have worked.
const DeviceCommunicator* usable(const Launch& launch) {
  const auto* own = reinterpret_cast<const DeviceCommunicator*>(launch.communicator.windowTable);
  return static_cast<int>(launch.ctas) == own->ctas && launch.communicator.lsaSize == launch.communicator.nRanks
             ? own
             : nullptr;
}

cudaError_t status_of(ncclResult_t result) { return result == ncclSuccess ? cudaSuccess : cudaErrorLaunchFailure; }

cudaError_t all_reduce(const Launch& launch, const Work& work) {
  const DeviceCommunicator* own = usable(launch);
  if (own == nullptr) return cudaErrorInvalidValue;
  return status_of(own->all_reduce(address(work.send_window, work.send_offset),
                                   address(work.recv_window, work.recv_offset), work.count, type_of(launch), ncclSum,
                                   own->communicator, launch.stream));
}

cudaError_t all_to_all(const DeviceCommunicator& own, const Launch& launch, const Work& work) {
  return status_of(own.all_to_all(address(work.send_window, work.send_offset),
                                  address(work.recv_window, work.recv_offset), work.count, type_of(launch),
                                  own.communicator, launch.stream));
}

}  // namespace

cudaError_t launch_lsa_all_reduce(const Launch& launch, const Work& work) { return all_reduce(launch, work); }

cudaError_t launch_multimem_all_reduce(const Launch& launch, const Work& work) {
  return launch.communicator.lsaMultimem.mcBasePtr == nullptr ? cudaErrorInvalidValue : all_reduce(launch, work);
}

cudaError_t launch_lsa_all_to_all(const Launch& launch, const Work& work) {
  const DeviceCommunicator* own = usable(launch);
  if (own == nullptr) return cudaErrorInvalidValue;
  return all_to_all(*own, launch, work);
}

cudaError_t launch_gin_all_to_all(const Launch& launch, const Work& work, GinReach /*reach*/) {
  const auto* own = reinterpret_cast<const DeviceCommunicator*>(launch.communicator.windowTable);
  if (static_cast<int>(launch.ctas) != own->gin_ctas || launch.communicator.ginContextCount == 0) {
    return cudaErrorInvalidValue;
  }
  return all_to_all(*own, launch, work);
}

cudaError_t load_lsa_kernels(DataType /*datatype*/, Width /*width*/) { return cudaSuccess; }
cudaError_t load_multimem_kernels(DataType /*datatype*/, Width /*width*/) { return cudaSuccess; }
cudaError_t load_gin_kernels(DataType /*datatype*/, GinReach /*reach*/) { return cudaSuccess; }

}  // namespace fabricbench::nccl_device
