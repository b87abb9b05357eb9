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

/// How ranks reach each other's memory; the numbers are nccl-tests' for all_reduce.
enum class Implementation {
  kLsa = 1,              ///< loads and stores, an element at once
  kLsaVectors = 2,       ///< 16 bytes at once
  kMultimem = 3,         ///< the NVLink switch adds and distributes, 4 bytes at once
  kMultimemVectors = 4,  ///< 16 bytes at once
};

[[nodiscard]] constexpr bool uses_multimem(Implementation implementation) {
  return implementation >= Implementation::kMultimem;
}

/// libnccl's functions that are needed, with the types of nccl_device.h as they are in the binary interface.
struct Functions {
  ncclResult_t (*create)(ncclComm_t communicator, const void* requirements, void* device_communicator);
  ncclResult_t (*destroy)(ncclComm_t communicator, const void* device_communicator);
};

/// Why the kernels do not work with a libnccl of this version (NCCL's coding, 22809 is 2.28.9): they were compiled with
/// the layouts of one minor version, which others do not share. Empty where they do.
[[nodiscard]] std::string why_not(int library_version);

/// A buffer as a symmetric window has it: NCCL's handle and bytes from the window's begin. All ranks give the same
/// bytes.
struct Place {
  void* window;
  std::size_t offset;
};

/// One rank's device communicator, and its kernels. Every rank calls a method with the same arguments, but windows.
class DeviceCommunicator {
 public:
  /// `ctas`: blocks of a kernel, 1 to 128.
  DeviceCommunicator(Functions functions, Implementation implementation, int ctas);
  DeviceCommunicator(DeviceCommunicator&&) noexcept;
  DeviceCommunicator& operator=(DeviceCommunicator&&) = delete;
  /// Does not call NCCL.
  ~DeviceCommunicator();

  /// ncclDevCommCreate: waits for the other ranks, within a group at its end. The object must live until then.
  [[nodiscard]] ncclResult_t create(ncclComm_t communicator);
  /// ncclDevCommDestroy.
  [[nodiscard]] ncclResult_t destroy(ncclComm_t communicator);

  /// Why what was created does not do: ranks that cannot be reached by load and store. Empty where it does.
  [[nodiscard]] std::string why_not() const;
  /// Loads the kernels of a datatype onto the current device, so that no launch has to.
  [[nodiscard]] cudaError_t load(DataType datatype) const;

  /// Start a kernel on the current device, which is the rank's. The sum of all ranks' `count` elements; `send` and
  /// `recv` may be the same place.
  [[nodiscard]] cudaError_t all_reduce(Place send, Place recv, std::uint64_t count, DataType datatype,
                                       cudaStream_t stream) const;
  /// `count` elements from each to each; `send` and `recv` do not overlap. By loads and stores only.
  [[nodiscard]] cudaError_t all_to_all(Place send, Place recv, std::uint64_t count, DataType datatype,
                                       cudaStream_t stream) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fabricbench::nccl_device
