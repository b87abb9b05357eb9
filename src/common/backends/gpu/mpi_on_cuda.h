#pragma once

#include "common/backends/cuda/memory.h"
#include "common/backends/cuda/stream.h"
#include "common/core/session.h"
#include "common/mpi/communicator.h"
#include "common/mpi/mpi_backend.h"

namespace fabricbench::gpu {

/// A CUDA-aware MPI on GPU memory: one rank a process, and calls that have completed when they return, as
/// messages under way have when `finish` does.
class MpiOnCuda final : public Session {
 public:
  /// `group` must outlive this. `sharing`: processes that use the device. Throws Error.
  MpiOnCuda(const mpi::Communicator& group, int device, int sharing, Seconds time_limit);

  [[nodiscard]] std::string library() const override;
  [[nodiscard]] Conventions conventions() const override;
  [[nodiscard]] std::string why_not(DataType datatype, Reduction reduction) const override;
  [[nodiscard]] std::vector<int> devices() const override { return {stream_.device()}; }
  [[nodiscard]] Backend& backend(int /*local_rank*/) override { return backend_; }
  [[nodiscard]] Memory& memory(int /*local_rank*/) override { return memory_; }
  [[nodiscard]] std::vector<std::byte*> allocate(std::size_t bytes) override { return {memory_.allocate(bytes)}; }
  void release(const std::vector<std::byte*>& blocks) noexcept override;
  [[nodiscard]] std::optional<Bytes> device_memory() const override;
  void wait() override {}

 private:
  int sharing_;
  cuda::Stream stream_;
  cuda::CudaMemory memory_;
  mpi::MpiBackend backend_;
};

}  // namespace fabricbench::gpu
