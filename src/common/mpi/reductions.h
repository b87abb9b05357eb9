#pragma once

#include <mpi.h>

#include "common/core/datatype.h"

namespace fabricbench::mpi {

/// The MPI datatype that carries elements of `type`. MPI has no half and no bfloat16: they are sent as 16-bit integers
/// and reduced by our own operations.
[[nodiscard]] MPI_Datatype mpi_datatype(DataType type);

/// The MPI operations for half and bfloat16, and MPI's own for all other types. avg is a sum here, because the division
/// is not a reduction; the backend divides at the end.
class ReductionTable {
 public:
  ReductionTable();
  ReductionTable(const ReductionTable&) = delete;
  ReductionTable& operator=(const ReductionTable&) = delete;
  ~ReductionTable();

  [[nodiscard]] MPI_Op find(DataType type, Reduction reduction) const {
    return ops_[static_cast<std::size_t>(type)][static_cast<std::size_t>(reduction)];
  }

 private:
  MPI_Op ops_[kDataTypes.size()][names_of(Reduction{}).size()];
};

}  // namespace fabricbench::mpi
