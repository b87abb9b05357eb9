#include "common/backends/nccl_device/device_collectives.h"

#include <fmt/format.h>
#include <nccl_device.h>

#include "common/backends/nccl_device/kernels.h"

namespace fabricbench::nccl_device {
namespace {

constexpr int kSameLayout = 100;  // versions are compatible if they agree when divided by it: 2.28.3 and 2.28.9

std::string minor_text(int version) { return fmt::format("{}.{}", version / 10000, version / 100 % 100); }

/// With the leading members that NCCL 2.29 and newer expect; a template, because 2.28 has no such members.
template <typename Requirements>
Requirements empty_requirements() {
  Requirements requirements{};
  if constexpr (requires { requirements.magic; }) {
    requirements.size = sizeof requirements;
    requirements.magic = 0xcafebeef;  // NCCL_API_MAGIC
    requirements.version = NCCL_VERSION_CODE;
  }
  return requirements;
}

}  // namespace

struct DeviceCommunicator::State {
  Functions functions;
  Implementation implementation;
  int ctas;
  ncclDevComm communicator{};

  [[nodiscard]] Width width() const {
    const bool vectors =
        implementation == Implementation::kLsaVectors || implementation == Implementation::kMultimemVectors;
    return vectors ? Width::kVector : Width::kElement;
  }
  [[nodiscard]] Launch launch(DataType datatype, cudaStream_t stream) const {
    return {communicator, datatype, width(), static_cast<unsigned>(ctas), stream};
  }
};

namespace {

Work work_of(Place send, Place recv, std::uint64_t count) {
  return {static_cast<ncclWindow_t>(send.window), send.offset, static_cast<ncclWindow_t>(recv.window), recv.offset,
          count};
}

}  // namespace

std::string why_not(int library_version) {
  if (library_version / kSameLayout == NCCL_VERSION_CODE / kSameLayout) return "";
  return fmt::format(
      "its kernels were compiled with the device API of NCCL {0}, and the library is NCCL {1}; set LD_LIBRARY_PATH to "
      "the folder of an NCCL {0}, or build with the headers of {1}",
      minor_text(NCCL_VERSION_CODE), minor_text(library_version));
}

DeviceCommunicator::DeviceCommunicator(Functions functions, Implementation implementation, int ctas)
    : state_(std::make_unique<State>(State{functions, implementation, ctas})) {}
DeviceCommunicator::DeviceCommunicator(DeviceCommunicator&&) noexcept = default;
DeviceCommunicator::~DeviceCommunicator() = default;

ncclResult_t DeviceCommunicator::create(ncclComm_t communicator) {
  auto requirements = empty_requirements<ncclDevCommRequirements>();
  requirements.lsaBarrierCount = state_->ctas;
  requirements.lsaMultimem = uses_multimem(state_->implementation);
  return state_->functions.create(communicator, &requirements, &state_->communicator);
}

ncclResult_t DeviceCommunicator::destroy(ncclComm_t communicator) {
  return state_->functions.destroy(communicator, &state_->communicator);
}

std::string DeviceCommunicator::why_not() const {
  const ncclDevComm& made = state_->communicator;
  if (made.lsaSize != made.nRanks) {
    return fmt::format(
        "it needs ranks that can all load from and store to each other's memory (NVLink); here only {1} of {0} can",
        made.nRanks, made.lsaSize);
  }
  if (uses_multimem(state_->implementation) && made.lsaMultimem.mcBasePtr == nullptr) {
    return "it needs multicast memory (an NVLink switch, compute capability 9.0), and there is none here";
  }
  return "";
}

cudaError_t DeviceCommunicator::load(DataType datatype) const {
  const Width width = state_->width();
  return uses_multimem(state_->implementation) ? load_multimem_kernels(datatype, width)
                                               : load_lsa_kernels(datatype, width);
}

cudaError_t DeviceCommunicator::all_reduce(Place send, Place recv, std::uint64_t count, DataType datatype,
                                           cudaStream_t stream) const {
  const Launch launch = state_->launch(datatype, stream);
  const Work work = work_of(send, recv, count);
  return uses_multimem(state_->implementation) ? launch_multimem_all_reduce(launch, work)
                                               : launch_lsa_all_reduce(launch, work);
}

cudaError_t DeviceCommunicator::all_to_all(Place send, Place recv, std::uint64_t count, DataType datatype,
                                           cudaStream_t stream) const {
  if (uses_multimem(state_->implementation)) return cudaErrorNotSupported;
  return launch_lsa_all_to_all(state_->launch(datatype, stream), work_of(send, recv, count));
}

}  // namespace fabricbench::nccl_device
