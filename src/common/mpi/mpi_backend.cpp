#include "common/mpi/mpi_backend.h"

#include <algorithm>

#include "common/mpi/check.h"
#include "common/mpi/environment.h"

namespace fabricbench::mpi {
namespace {

/// The last step of avg: every element divided by the number of ranks.
void divide(void* buffer, std::size_t count, DataType type, int ranks) {
  with_type(type, [&]<typename T>(std::type_identity<T>) {
    T* elements = static_cast<T*>(buffer);
    for (std::size_t i = 0; i < count; ++i) elements[i] = divided(elements[i], ranks);
  });
}

}  // namespace

MpiBackend::MpiBackend(const Communicator& world, std::size_t most_per_call)
    : communicator_(world.get()), ranks_(world.size()), most_per_call_(most_per_call) {}

std::string MpiBackend::library() const { return mpi::library(); }

void MpiBackend::all_reduce(const void* send, void* recv, std::size_t count, DataType datatype, Reduction reduction) {
  const MPI_Datatype type = mpi_datatype(datatype);
  const MPI_Op op = reductions_.find(datatype, reduction);
  const bool in_place = send == recv;
  const auto* from = static_cast<const std::byte*>(send);
  auto* into = static_cast<std::byte*>(recv);
  std::size_t left = count;
  do {  // once, for any count that one call can take; also for 0, so that an empty operation is measured too
    const std::size_t part = std::min(left, most_per_call_);
    check(MPI_Allreduce(in_place ? MPI_IN_PLACE : from, into, static_cast<int>(part), type, op, communicator_),
          "MPI_Allreduce");
    from += part * facts(datatype).size;
    into += part * facts(datatype).size;
    left -= part;
  } while (left > 0);
  if (reduction == Reduction::kAvg) divide(recv, count, datatype, ranks_);
}

}  // namespace fabricbench::mpi
