#include "common/mpi/block.h"

#include "common/mpi/check.h"

namespace fabricbench::mpi {
namespace {

constexpr std::size_t kPage = std::size_t{1} << 20;  // elements; an int counts enough pages

MPI_Datatype contiguous(std::size_t count, MPI_Datatype of) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  check(MPI_Type_contiguous(static_cast<int>(count), of, &type), "MPI_Type_contiguous");
  return type;
}

}  // namespace

Block::Block(MPI_Datatype element, std::size_t elements) : element_(element), elements_(elements) {
  MPI_Aint lower = 0;
  MPI_Aint element_bytes = 0;
  check(MPI_Type_get_extent(element, &lower, &element_bytes), "MPI_Type_get_extent");
  MPI_Datatype page = contiguous(kPage, element);
  MPI_Datatype parts[] = {contiguous(elements / kPage, page), contiguous(elements % kPage, element)};
  const int lengths[] = {1, 1};
  const MPI_Aint places[] = {0, static_cast<MPI_Aint>(elements / kPage * kPage) * element_bytes};
  check(MPI_Type_create_struct(2, lengths, places, parts, &type_), "MPI_Type_create_struct");
  check(MPI_Type_commit(&type_), "MPI_Type_commit");
  check(MPI_Type_free(&page), "MPI_Type_free");
  for (MPI_Datatype& part : parts) check(MPI_Type_free(&part), "MPI_Type_free");
}

Block::~Block() { MPI_Type_free(&type_); }

}  // namespace fabricbench::mpi
