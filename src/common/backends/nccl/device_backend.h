#pragma once

#include <cstddef>
#include <string_view>

#include "common/backends/cuda/stream.h"
#include "common/backends/nccl/device_communicators.h"
#include "common/backends/nccl/registrar.h"
#include "common/core/backend.h"

namespace fabricbench::nccl {

/// One rank whose operations are our kernels on NCCL's device interface (-D): the sum of an all_reduce, and all_to_all.
/// Buffers lie in symmetric windows, at the same place on all ranks. Every other operation throws Error (missing) when
/// called, on all ranks.
class DeviceBackend final : public CollectiveBackend {
 public:
  /// Does not own its arguments, which must outlive it.
  DeviceBackend(const DeviceCommunicators& communicators, const Registrar& registrar, int local_rank,
                cuda::DeviceStream stream);

  void all_reduce(const void* send, void* recv, std::size_t count, DataType datatype, Reduction reduction) override;
  void all_gather(const void* send, void* recv, std::size_t count, DataType datatype) override;
  void reduce_scatter(const void* send, void* recv, std::size_t count, DataType datatype, Reduction reduction) override;
  void broadcast(const void* send, void* recv, std::size_t count, DataType datatype, int root) override;
  void reduce(const void* send, void* recv, std::size_t count, DataType datatype, Reduction reduction,
              int root) override;
  void all_to_all(const void* send, void* recv, std::size_t count, DataType datatype) override;
  void all_to_all_v(const void* send, void* recv, const Exchange& exchange, DataType datatype) override;
  void gather(const void* send, void* recv, std::size_t count, DataType datatype, int root) override;
  void scatter(const void* send, void* recv, std::size_t count, DataType datatype, int root) override;
  void send_recv(const void* send, void* recv, std::size_t count, DataType datatype, Partners partners) override;
  void send(const void* buffer, std::size_t count, DataType datatype, int to) override;
  void recv(void* buffer, std::size_t count, DataType datatype, int from) override;
  void start_send(const void* buffer, std::size_t count, DataType datatype, int to) override;
  void start_recv(void* buffer, std::size_t count, DataType datatype, int from) override;
  void finish() override;
  void copy(const void* from, void* into, std::size_t bytes) override;
  void barrier() override;

 private:
  [[noreturn]] void throw_no_kernel(std::string_view operation) const;

  const nccl_device::DeviceCommunicator* communicator_;
  const Registrar* registrar_;
  nccl_device::Implementation implementation_;
  int local_rank_;
  cuda::DeviceStream stream_;
};

}  // namespace fabricbench::nccl
