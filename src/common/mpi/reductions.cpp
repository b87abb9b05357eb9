#include "common/mpi/reductions.h"

#include <algorithm>

#include "common/mpi/check.h"

namespace fabricbench::mpi {
namespace {

Half rounded(float value, Half) { return to_half(value); }
Bfloat16 rounded(float value, Bfloat16) { return to_bfloat16(value); }

struct Sum {
  static float combine(float a, float b) { return a + b; }
};
struct Product {
  static float combine(float a, float b) { return a * b; }
};
struct Minimum {
  static float combine(float a, float b) { return std::min(a, b); }
};
struct Maximum {
  static float combine(float a, float b) { return std::max(a, b); }
};

/// An MPI_User_function: MPI calls it with as many elements as it likes.
template <typename T, typename Operation>
void reduce_elements(void* in, void* in_out, int* count, MPI_Datatype* /*type*/) {
  const T* from = static_cast<const T*>(in);
  T* into = static_cast<T*>(in_out);
  for (int i = 0; i < *count; ++i) {
    into[i] = rounded(Operation::combine(to_float(into[i]), to_float(from[i])), T{});
  }
}

MPI_Op commutative(MPI_User_function* function) {
  MPI_Op op = MPI_OP_NULL;
  check(MPI_Op_create(function, 1, &op), "MPI_Op_create");
  return op;
}

template <typename T>
void create_row(MPI_Op (&row)[names_of(Reduction{}).size()]) {
  row[static_cast<std::size_t>(Reduction::kSum)] = commutative(&reduce_elements<T, Sum>);
  row[static_cast<std::size_t>(Reduction::kProd)] = commutative(&reduce_elements<T, Product>);
  row[static_cast<std::size_t>(Reduction::kMin)] = commutative(&reduce_elements<T, Minimum>);
  row[static_cast<std::size_t>(Reduction::kMax)] = commutative(&reduce_elements<T, Maximum>);
}

bool is_ours(DataType type) { return type == DataType::kHalf || type == DataType::kBfloat16; }

}  // namespace

MPI_Datatype mpi_datatype(DataType type) {
  switch (type) {
    case DataType::kInt8: return MPI_INT8_T;
    case DataType::kUint8: return MPI_UINT8_T;
    case DataType::kInt32: return MPI_INT32_T;
    case DataType::kUint32: return MPI_UINT32_T;
    case DataType::kInt64: return MPI_INT64_T;
    case DataType::kUint64: return MPI_UINT64_T;
    case DataType::kHalf:
    case DataType::kBfloat16: return MPI_UINT16_T;
    case DataType::kDouble: return MPI_DOUBLE;
    case DataType::kF8e4m3:
    case DataType::kF8e5m2: return MPI_UINT8_T;
    case DataType::kFloat: break;
  }
  return MPI_FLOAT;
}

ReductionTable::ReductionTable() {
  for (auto& row : ops_) {
    row[static_cast<std::size_t>(Reduction::kSum)] = MPI_SUM;
    row[static_cast<std::size_t>(Reduction::kProd)] = MPI_PROD;
    row[static_cast<std::size_t>(Reduction::kMin)] = MPI_MIN;
    row[static_cast<std::size_t>(Reduction::kMax)] = MPI_MAX;
    row[static_cast<std::size_t>(Reduction::kMulSum)] = MPI_OP_NULL;
    row[static_cast<std::size_t>(Reduction::kNone)] = MPI_OP_NULL;
  }
  create_row<Half>(ops_[static_cast<std::size_t>(DataType::kHalf)]);
  create_row<Bfloat16>(ops_[static_cast<std::size_t>(DataType::kBfloat16)]);
  for (auto& row : ops_)
    row[static_cast<std::size_t>(Reduction::kAvg)] = row[static_cast<std::size_t>(Reduction::kSum)];
}

ReductionTable::~ReductionTable() {
  for (const DataTypeFacts& type : kDataTypes) {
    if (!is_ours(type.type)) continue;
    for (const Reduction reduction : {Reduction::kSum, Reduction::kProd, Reduction::kMin, Reduction::kMax}) {
      MPI_Op op = find(type.type, reduction);
      MPI_Op_free(&op);
    }
  }
}

}  // namespace fabricbench::mpi
