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

/// How ranks access each other's memory; the numbers are nccl-tests' for all_reduce.
enum class Implementation {
  kLsa = 1,              ///< loads and stores of single elements
  kLsaVectors = 2,       ///< loads and stores of 16 bytes
  kMultimem = 3,         ///< the NVLink switch adds and distributes, 4 bytes at a time
  kMultimemVectors = 4,  ///< the same, 16 bytes at a time
};

[[nodiscard]] constexpr bool uses_multimem(Implementation implementation) {
  return implementation >= Implementation::kMultimem;
}

/// The required functions of libnccl, with the types of nccl_device.h in their binary form.
struct Functions {
  ncclResult_t (*create)(ncclComm_t communicator, const void* requirements, void* device_communicator);
  ncclResult_t (*destroy)(ncclComm_t communicator, const void* device_communicator);
};

/// Why the kernels do not work with a libnccl of this version (in NCCL's coding, 22809 is 2.28.9): they were compiled
/// with the layouts of one minor version. Empty if they do.
[[nodiscard]] std::string why_not(int library_version);

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

  /// Why the created communicator cannot be used: ranks that cannot be reached by load and store. Empty if it can.
  [[nodiscard]] std::string why_not() const;
  /// Loads the kernels of a datatype onto the current device in advance.
  [[nodiscard]] cudaError_t load(DataType datatype) const;

  /// Starts a kernel on the current device, which is the rank's. Sums all ranks' `count` elements; `send` and `recv`
  /// may be the same place.
  [[nodiscard]] cudaError_t all_reduce(Place send, Place recv, std::uint64_t count, DataType datatype,
                                       cudaStream_t stream) const;
  /// `count` elements from each rank to each rank; `send` and `recv` do not overlap. Only by loads and stores.
  [[nodiscard]] cudaError_t all_to_all(Place send, Place recv, std::uint64_t count, DataType datatype,
                                       cudaStream_t stream) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fabricbench::nccl_device
