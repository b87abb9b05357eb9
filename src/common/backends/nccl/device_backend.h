#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/backends/cuda/stream.h"
#include "common/backends/nccl/communicators.h"
#include "common/backends/nccl/registrar.h"
#include "common/backends/nccl_device/device_collectives.h"
#include "common/core/backend.h"
#include "common/core/datatype.h"
#include "common/core/ownership.h"

namespace fabricbench::nccl {

/// The settings of -D and -V.
struct DevicePlan {
  nccl_device::Implementation implementation;
  int ctas;                         ///< blocks per kernel
  std::vector<DataType> datatypes;  ///< their kernels are loaded in advance
};

/// Why the kernels of -D cannot run with this library; empty if they can.
[[nodiscard]] std::string why_no_device_implementation(const Library& library,
                                                       nccl_device::Implementation implementation);
/// The same for a GPU's compute capability, 90 for 9.0.
[[nodiscard]] std::string why_no_device_implementation(int compute_capability);
/// Why there is no kernel for the combination; empty if there is one, and for operations that only move data
/// (Reduction::kNone).
[[nodiscard]] std::string why_no_kernel(nccl_device::Implementation implementation, DataType datatype,
                                        Reduction reduction);

/// The device communicators of this process's ranks.
class DeviceCommunicators : NotCopied {
 public:
  /// Collective over all processes. `communicators` must outlive this. Throws Error: missing with the reason if NCCL or
  /// the machine does not support it (the same on every process), else failure or timeout.
  DeviceCommunicators(const Communicators& communicators, const DevicePlan& plan);
  /// Collective too. Does nothing while an exception is in flight or after the communicators were aborted; warns on
  /// stderr if NCCL does not end in time.
  ~DeviceCommunicators();

  [[nodiscard]] const nccl_device::DeviceCommunicator& get(int local_rank) const;
  [[nodiscard]] nccl_device::Implementation implementation() const { return implementation_; }

 private:
  struct Work;  // data of a thread that may wait for other processes

  void check_usable() const;
  void load_kernels(const std::vector<DataType>& datatypes) const;

  const Communicators* communicators_;
  nccl_device::Implementation implementation_;
  std::shared_ptr<Work> work_;
};

/// One rank whose operations are our kernels on NCCL's device interface (-D). Does not own its arguments, which must
/// outlive it.
[[nodiscard]] std::unique_ptr<CollectiveBackend> make_device_backend(const DeviceCommunicators& communicators,
                                                                     const Registrar& registrar, int local_rank,
                                                                     cuda::DeviceStream stream);

}  // namespace fabricbench::nccl
