#pragma once

#include <cstddef>

#include <mpi.h>

namespace fabricbench::mpi {

/// An MPI datatype of many consecutive elements, so that a call's count can be 1: MPI 3 counts in `int`.
class Block {
 public:
  Block(MPI_Datatype element, std::size_t elements);
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block();

  [[nodiscard]] MPI_Datatype get() const { return type_; }
  [[nodiscard]] bool is(MPI_Datatype element, std::size_t elements) const {
    return element == element_ && elements == elements_;
  }

 private:
  MPI_Datatype element_;
  std::size_t elements_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

}  // namespace fabricbench::mpi
