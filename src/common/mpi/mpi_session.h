#pragma once

#include "common/core/session.h"
#include "common/mpi/communicator.h"
#include "common/mpi/mpi_backend.h"

namespace fabricbench::mpi {

/// MPI on host memory: one rank per process, and calls that have completed when they return.
class MpiSession final : public Session {
 public:
  /// `group` must outlive this.
  explicit MpiSession(const Communicator& group) : backend_(group) {}

  [[nodiscard]] std::string library() const override;
  [[nodiscard]] Conventions conventions() const override;
  [[nodiscard]] std::string why_not(DataType datatype, Reduction reduction) const override;
  [[nodiscard]] Backend& backend(int /*local_rank*/) override { return backend_; }
  [[nodiscard]] Memory& memory(int /*local_rank*/) override { return memory_; }
  [[nodiscard]] std::vector<std::byte*> allocate(std::size_t bytes) override;
  void release(const std::vector<std::byte*>& blocks) noexcept override;
  void wait() override {}

 private:
  MpiBackend backend_;
  HostMemory memory_;
};

/// Why MPI does not support the combination, in any memory; empty if it does.
[[nodiscard]] std::string why_not(DataType datatype, Reduction reduction);

/// MPI's definitions where libraries differ.
[[nodiscard]] Conventions conventions();

}  // namespace fabricbench::mpi
