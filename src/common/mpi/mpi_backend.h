#pragma once

#include <cstddef>

#include "common/core/backend.h"
#include "common/mpi/communicator.h"
#include "common/mpi/reductions.h"

namespace fabricbench::mpi {

/// MPI collectives on host memory. Every primitive is MPI's blocking call, so `wait` has nothing to do.
class MpiBackend final : public Backend {
 public:
  /// `most_per_call`: elements that one MPI call may be given. MPI 3 counts in `int`, so longer
  /// operations are several calls (docs/decisions/0002-large-counts.md); tests lower it.
  explicit MpiBackend(const Communicator& world, std::size_t most_per_call = std::size_t{1} << 30);

  [[nodiscard]] std::string library() const override;
  void all_reduce(const void* send, void* recv, std::size_t count, DataType datatype, Reduction reduction) override;
  void wait() override {}

 private:
  MPI_Comm communicator_;
  int ranks_;
  std::size_t most_per_call_;
  ReductionTable reductions_;
};

}  // namespace fabricbench::mpi
