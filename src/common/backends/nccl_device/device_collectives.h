// All-reduce and all-to-all by kernels of ours on NCCL's device interface (2.28 and newer).
// Where nccl_device.h is not there, what lies in absent/ is built in its place, and says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <cuda_runtime_api.h>
#include <nccl.h>

#include "common/core/datatype.h"

namespace fabricbench::nccl_device {

/// How ranks access each other's memory.
enum class Implementation {
  kLsa,              ///< loads and stores of single elements
  kLsaVectors,       ///< loads and stores of 16 bytes
  kMultimem,         ///< the NVLink switch adds and distributes, 4 bytes at a time
  kMultimemVectors,  ///< the same, 16 bytes at a time
  kGin,              ///< the GPU has network adapters write (GPU-initiated networking)
  kGinAndLsa,        ///< the same, and loads and stores of 16 bytes where they reach
};

/// -D 1 to 4, whose meaning depends on the collective as in nccl-tests.
[[nodiscard]] constexpr Implementation implementation_of(int option, bool all_to_all) {
  constexpr Implementation kOfAllReduce[] = {Implementation::kLsa, Implementation::kLsaVectors,
                                             Implementation::kMultimem, Implementation::kMultimemVectors};
  if (all_to_all && option == 3) return Implementation::kGin;
  if (all_to_all && option == 4) return Implementation::kGinAndLsa;
  return kOfAllReduce[option - 1];
}

[[nodiscard]] constexpr bool uses_gin(Implementation implementation) {
  return implementation == Implementation::kGin || implementation == Implementation::kGinAndLsa;
}
[[nodiscard]] constexpr bool uses_multimem(Implementation implementation) {
  return implementation == Implementation::kMultimem || implementation == Implementation::kMultimemVectors;
}

/// The number of -D.
[[nodiscard]] constexpr int option_of(Implementation implementation) {
  return static_cast<int>(implementation) + (uses_gin(implementation) ? -1 : 1);
}

/// The required functions of libnccl, with the types of nccl_device.h in their binary form.
struct Functions {
  ncclResult_t (*create)(ncclComm_t communicator, const void* requirements, void* device_communicator);
  ncclResult_t (*destroy)(ncclComm_t communicator, const void* device_communicator);
};

/// Why the kernels do not work with a libnccl of this version (in NCCL's coding, 22809 is 2.28.9): they were compiled
/// with the layouts of one minor version, and those for network adapters need 2.28.7. Empty if they do.
[[nodiscard]] std::string why_not(int library_version, Implementation implementation);

/// A buffer in a symmetric window: NCCL's handle and the offset in bytes. The offset is the same on all ranks.
struct Place {
  void* window;
  std::size_t offset;
};

/// One rank's device communicator, and its kernels. Every rank calls a method with the same arguments, except for
/// windows.
class DeviceCommunicator {
 public:
  /// `ctas`: blocks per kernel, 1 to 128.
  DeviceCommunicator(Functions functions, Implementation implementation, int ctas);
  DeviceCommunicator(DeviceCommunicator&&) noexcept;
  DeviceCommunicator& operator=(DeviceCommunicator&&) = delete;
  /// Does not call NCCL.
  ~DeviceCommunicator();

  /// Calls ncclDevCommCreate, which waits for the other ranks; within a group, at the group's end. The object must live
  /// until then.
  [[nodiscard]] ncclResult_t create(ncclComm_t communicator);
  /// ncclDevCommDestroy.
  [[nodiscard]] ncclResult_t destroy(ncclComm_t communicator);

  /// Why the created communicator cannot be used: ranks that cannot be reached in the way of the implementation. Empty
  /// if it can.
  [[nodiscard]] std::string why_not() const;
  /// Loads the kernels of a datatype onto the current device in advance.
  [[nodiscard]] cudaError_t load(DataType datatype) const;

  /// Starts a kernel on the current device, which is the rank's. Sums all ranks' `count` elements; `send` and `recv`
  /// may be the same place.
  [[nodiscard]] cudaError_t all_reduce(Place send, Place recv, std::uint64_t count, DataType datatype,
                                       cudaStream_t stream) const;
  /// `count` elements from each rank to each rank; `send` and `recv` do not overlap. Not by multimem.
  [[nodiscard]] cudaError_t all_to_all(Place send, Place recv, std::uint64_t count, DataType datatype,
                                       cudaStream_t stream) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fabricbench::nccl_device
