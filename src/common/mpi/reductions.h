#pragma once

#include <mpi.h>

#include "common/core/datatype.h"

namespace fabricbench::mpi {

/// The MPI datatype whose elements are moved for `type`. MPI has no half and no bfloat16: they travel as
/// 16-bit integers and are reduced by our own operations.
[[nodiscard]] MPI_Datatype mpi_datatype(DataType type);

/// The MPI operations for half or bfloat16; MPI's own for all other types. avg is a sum here: the division is
/// no reduction, and the backend does it at the end.
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
