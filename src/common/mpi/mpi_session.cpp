#include "common/mpi/mpi_session.h"

#include <fmt/format.h>

#include "common/mpi/environment.h"

namespace fabricbench::mpi {

std::string MpiSession::library() const { return mpi::library(); }
Conventions MpiSession::conventions() const { return mpi::conventions(); }
std::string MpiSession::why_not(DataType datatype, Reduction reduction) const {
  return mpi::why_not(datatype, reduction);
}

std::vector<std::byte*> MpiSession::allocate(std::size_t bytes) { return {HostMemory::allocate(bytes)}; }

void MpiSession::release(const std::vector<std::byte*>& blocks) noexcept {
  for (std::byte* block : blocks) HostMemory::release(block);
}

Conventions conventions() {
  return {.broadcast_copies_at_root = false, .reduce_scatter_stays_in_block = false, .average = Average::kDividesSum};
}

std::string why_not(DataType datatype, Reduction reduction) {
  if (datatype == DataType::kF8e4m3 || datatype == DataType::kF8e5m2) {
    return fmt::format("MPI has no {}", facts(datatype).name);
  }
  if (reduction == Reduction::kMulSum) return "MPI has no mulsum, a sum of values that are multiplied first";
  return "";
}

}  // namespace fabricbench::mpi
