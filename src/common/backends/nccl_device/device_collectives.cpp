#include "common/backends/nccl_device/device_collectives.h"

#include <fmt/format.h>
#include <nccl_device.h>

#include "common/backends/nccl_device/kernels.h"

namespace fabricbench::nccl_device {
namespace {

constexpr int kOldestWithGin = 22807;
constexpr int kSameLayout = 100;  // versions are compatible if they agree when divided by it: 2.28.3 and 2.28.9

std::string minor_text(int version) { return fmt::format("{}.{}", version / 10000, version / 100 % 100); }

/// Barriers and signals of the network, a set for each block, and connections between all ranks. NCCL 2.29.7 replaced
/// the flag for the latter by a kind, of which 1 is NCCL_GIN_CONNECTION_FULL.
template <typename Requirements>
void require_gin(Requirements& requirements, int ctas) {
  requirements.barrierCount = ctas;
  requirements.ginSignalCount = ctas;
  if constexpr (requires { requirements.ginConnectionType; }) {
    requirements.ginConnectionType = static_cast<decltype(requirements.ginConnectionType)>(1);
  } else {
    requirements.ginForceEnable = true;
  }
}

}  // namespace

struct DeviceCommunicator::State {
  Functions functions;
  Implementation implementation;
  int ctas;
  ncclDevComm communicator{};

  [[nodiscard]] Width width() const {
    const bool elements = implementation == Implementation::kLsa || implementation == Implementation::kMultimem;
    return elements ? Width::kElement : Width::kVector;
  }
  [[nodiscard]] Launch launch(DataType datatype, cudaStream_t stream) const {
    return {communicator, datatype, width(), static_cast<unsigned>(ctas), stream};
  }
  [[nodiscard]] GinReach reach() const {
    return implementation == Implementation::kGin ? GinReach::kAllRanks : GinReach::kBeyondLoads;
  }
};

namespace {

Work work_of(Place send, Place recv, std::uint64_t count) {
  return {static_cast<ncclWindow_t>(send.window), send.offset, static_cast<ncclWindow_t>(recv.window), recv.offset,
          count};
}

}  // namespace

std::string why_not(int library_version, Implementation implementation) {
  if (library_version / kSameLayout == NCCL_VERSION_CODE / kSameLayout) {
    if (!uses_gin(implementation) || library_version >= kOldestWithGin) return "";
    return "the device API's access to network adapters (GIN) came with NCCL 2.28.7, and the library is older";
  }
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
  // From 2.29 on not all zero: contexts for the network, the traffic class of NCCL_IB_TC, strong signals.
  ncclDevCommRequirements requirements = FABRICBENCH_INITIAL_REQUIREMENTS;
  requirements.lsaBarrierCount = state_->ctas;
  requirements.lsaMultimem = uses_multimem(state_->implementation);
  if (uses_gin(state_->implementation)) require_gin(requirements, state_->ctas);
  return state_->functions.create(communicator, &requirements, &state_->communicator);
}

ncclResult_t DeviceCommunicator::destroy(ncclComm_t communicator) {
  return state_->functions.destroy(communicator, &state_->communicator);
}

std::string DeviceCommunicator::why_not() const {
  const ncclDevComm& made = state_->communicator;
  if (uses_gin(state_->implementation)) {
    if (made.ginContextCount > 0) return "";
    return "it needs network adapters that a GPU can drive (GIN), and NCCL has none here";
  }
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
  if (uses_gin(state_->implementation)) return load_gin_kernels(datatype, state_->reach());
  return uses_multimem(state_->implementation) ? load_multimem_kernels(datatype, width)
                                               : load_lsa_kernels(datatype, width);
}

cudaError_t DeviceCommunicator::all_reduce(Place send, Place recv, std::uint64_t count, DataType datatype,
                                           cudaStream_t stream) const {
  if (uses_gin(state_->implementation)) return cudaErrorNotSupported;
  const Launch launch = state_->launch(datatype, stream);
  const Work work = work_of(send, recv, count);
  return uses_multimem(state_->implementation) ? launch_multimem_all_reduce(launch, work)
                                               : launch_lsa_all_reduce(launch, work);
}

cudaError_t DeviceCommunicator::all_to_all(Place send, Place recv, std::uint64_t count, DataType datatype,
                                           cudaStream_t stream) const {
  if (uses_multimem(state_->implementation)) return cudaErrorNotSupported;
  const Launch launch = state_->launch(datatype, stream);
  const Work work = work_of(send, recv, count);
  return uses_gin(state_->implementation) ? launch_gin_all_to_all(launch, work, state_->reach())
                                          : launch_lsa_all_to_all(launch, work);
}

}  // namespace fabricbench::nccl_device
