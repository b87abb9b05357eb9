#include "common/backends/nccl/device_backend.h"

#include <fmt/format.h>

#include "common/backends/cuda/check.h"
#include "common/core/error.h"

namespace fabricbench::nccl {

DeviceBackend::DeviceBackend(const DeviceCommunicators& communicators, const Registrar& registrar, int local_rank,
                             cuda::DeviceStream stream)
    : communicator_(&communicators.get(local_rank)),
      registrar_(&registrar),
      implementation_(communicators.implementation()),
      local_rank_(local_rank),
      stream_(stream) {}

void DeviceBackend::all_reduce(const void* send, void* recv, std::size_t count, DataType datatype,
                               Reduction reduction) {
  if (const std::string reason = why_no_kernel(implementation_, datatype, reduction); !reason.empty()) {
    throw Error(ExitStatus::kMissing, reason);
  }
  const cuda::DeviceGuard device(stream_.device);
  cuda::check(communicator_->all_reduce(registrar_->place_of(local_rank_, send),
                                        registrar_->place_of(local_rank_, recv), count, datatype, stream_.stream),
              "cudaLaunchKernel");
}

void DeviceBackend::all_to_all(const void* send, void* recv, std::size_t count, DataType datatype) {
  if (uses_multimem(implementation_)) throw_no_kernel("alltoall by multimem");
  const cuda::DeviceGuard device(stream_.device);
  cuda::check(communicator_->all_to_all(registrar_->place_of(local_rank_, send),
                                        registrar_->place_of(local_rank_, recv), count, datatype, stream_.stream),
              "cudaLaunchKernel");
}

void DeviceBackend::copy(const void* from, void* into, std::size_t bytes) {
  if (from == into || bytes == 0) return;
  const cuda::DeviceGuard device(stream_.device);
  cuda::check(cudaMemcpyAsync(into, from, bytes, cudaMemcpyDeviceToDevice, stream_.stream), "cudaMemcpyAsync");
}

void DeviceBackend::all_gather(const void* /*send*/, void* /*recv*/, std::size_t /*count*/, DataType /*datatype*/) {
  throw_no_kernel("all_gather");
}

void DeviceBackend::reduce_scatter(const void* /*send*/, void* /*recv*/, std::size_t /*count*/, DataType /*datatype*/,
                                   Reduction /*reduction*/) {
  throw_no_kernel("reduce_scatter");
}

void DeviceBackend::broadcast(const void* /*send*/, void* /*recv*/, std::size_t /*count*/, DataType /*datatype*/,
                              int /*root*/) {
  throw_no_kernel("broadcast");
}

void DeviceBackend::reduce(const void* /*send*/, void* /*recv*/, std::size_t /*count*/, DataType /*datatype*/,
                           Reduction /*reduction*/, int /*root*/) {
  throw_no_kernel("reduce");
}

void DeviceBackend::all_to_all_v(const void* /*send*/, void* /*recv*/, const Exchange& /*exchange*/,
                                 DataType /*datatype*/) {
  throw_no_kernel("alltoallv");
}

void DeviceBackend::gather(const void* /*send*/, void* /*recv*/, std::size_t /*count*/, DataType /*datatype*/,
                           int /*root*/) {
  throw_no_kernel("gather");
}

void DeviceBackend::scatter(const void* /*send*/, void* /*recv*/, std::size_t /*count*/, DataType /*datatype*/,
                            int /*root*/) {
  throw_no_kernel("scatter");
}

void DeviceBackend::send_recv(const void* /*send*/, void* /*recv*/, std::size_t /*count*/, DataType /*datatype*/,
                              Partners /*partners*/) {
  throw_no_kernel("send and receive");
}

void DeviceBackend::send(const void* /*buffer*/, std::size_t /*count*/, DataType /*datatype*/, int /*to*/) {
  throw_no_kernel("send");
}

void DeviceBackend::recv(void* /*buffer*/, std::size_t /*count*/, DataType /*datatype*/, int /*from*/) {
  throw_no_kernel("receive");
}

void DeviceBackend::start_send(const void* /*buffer*/, std::size_t /*count*/, DataType /*datatype*/, int /*to*/) {
  throw_no_kernel("send");
}

void DeviceBackend::start_recv(void* /*buffer*/, std::size_t /*count*/, DataType /*datatype*/, int /*from*/) {
  throw_no_kernel("receive");
}

void DeviceBackend::finish() { throw_no_kernel("windows of messages"); }

void DeviceBackend::barrier() { throw_no_kernel("barrier"); }

void DeviceBackend::throw_no_kernel(std::string_view operation) const {
  throw Error(ExitStatus::kMissing, fmt::format("-D {}: there are kernels for all_reduce and alltoall, none for {}; "
                                                "leave out -D to measure NCCL's own",
                                                option_of(implementation_), operation));
}

}  // namespace fabricbench::nccl
