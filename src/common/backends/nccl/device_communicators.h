#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/backends/nccl/communicators.h"
#include "common/backends/nccl_device/device_collectives.h"
#include "common/core/datatype.h"

namespace fabricbench::nccl {

/// What -D and -V ask for.
struct DevicePlan {
  nccl_device::Implementation implementation;
  int ctas;                         ///< blocks of a kernel
  std::vector<DataType> datatypes;  ///< whose kernels are loaded beforehand
};

/// Why the kernels of -D cannot run with this library; empty where they can.
[[nodiscard]] std::string why_no_device_implementation(const Library& library);
/// The same of a GPU: its compute capability, 90 for 9.0.
[[nodiscard]] std::string why_no_device_implementation(int compute_capability);
/// Why there is no kernel for the two; empty where there is, and where data is only moved (Reduction::kNone).
[[nodiscard]] std::string why_no_kernel(nccl_device::Implementation implementation, DataType datatype,
                                        Reduction reduction);

/// The device communicators of this process's ranks.
class DeviceCommunicators {
 public:
  /// Collective over all processes. `communicators` lives longer. Throws Error: missing with the reason where NCCL or
  /// the machine cannot do it, the same on every process, else failure or timeout.
  DeviceCommunicators(const Communicators& communicators, const DevicePlan& plan);
  DeviceCommunicators(const DeviceCommunicators&) = delete;
  DeviceCommunicators& operator=(const DeviceCommunicators&) = delete;
  /// In the order of all processes too. Nothing where an exception is under way or the communicators have been aborted;
  /// warns on stderr where NCCL does not end in time.
  ~DeviceCommunicators();

  [[nodiscard]] const nccl_device::DeviceCommunicator& get(int local_rank) const;
  [[nodiscard]] nccl_device::Implementation implementation() const { return implementation_; }

 private:
  struct Work;  // what a thread needs that may wait for other processes

  void check_usable() const;
  void load_kernels(const std::vector<DataType>& datatypes) const;

  const Communicators* communicators_;
  nccl_device::Implementation implementation_;
  std::shared_ptr<Work> work_;
};

}  // namespace fabricbench::nccl
