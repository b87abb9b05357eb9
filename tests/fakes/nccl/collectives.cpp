// A collective in chunks: every rank that has data publishes a chunk of it in its slot, all meet, every rank takes what
// is for it from the others' slots, all meet again.
#include <algorithm>
#include <cstring>
#include <functional>

#include "common/core/datatype.h"
#include "rank.h"

namespace fake_nccl {
namespace {

using fabricbench::DataType;
using fabricbench::kIsSmallFloat;
using fabricbench::small_float;
using fabricbench::to_float;

/// NCCL numbers its types as DataType does.
DataType data_type(ncclDataType_t type) { return static_cast<DataType>(type); }

/// Integers wrap around on a GPU, where repeated sums in place soon do; on the host that is defined without sign only.
template <typename T, typename Operation>
T wrapped(T a, T b, Operation operation) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(operation(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
  } else {
    return operation(a, b);
  }
}

template <typename T>
T multiplied(T value, T factor) {
  if constexpr (kIsSmallFloat<T>) {
    return small_float<T>(to_float(value) * to_float(factor));
  } else {
    return wrapped<T>(value, factor, std::multiplies<>());
  }
}

template <typename T>
T combined(T a, T b, ncclRedOp_t reduction) {
  if constexpr (kIsSmallFloat<T>) {
    return small_float<T>(combined(to_float(a), to_float(b), reduction));
  } else {
    switch (reduction) {
      case ncclProd: return wrapped<T>(a, b, std::multiplies<>());
      case ncclMax: return std::max(a, b);
      case ncclMin: return std::min(a, b);
      default: return wrapped<T>(a, b, std::plus<>());
    }
  }
}

template <typename T>
constexpr bool kFloating = kIsSmallFloat<T> || std::is_floating_point_v<T>;

/// Copies a chunk into the rank's slot, as the reduction wants its operands.
void publish(const Rank& rank, const Operation& operation, const std::byte* from, std::size_t bytes) {
  std::byte* slot = rank.shared->slots[static_cast<std::size_t>(rank.rank)].data();
  std::memcpy(slot, from, bytes);
  fabricbench::with_type(data_type(operation.type), [&]<typename T>(std::type_identity<T>) {
    if (!operation.mulsum && !(operation.reduction == ncclAvg && kFloating<T>)) return;
    T* values = reinterpret_cast<T*>(slot);
    T scalar{};
    if (operation.mulsum) std::memcpy(&scalar, &operation.mulsum->scalar_bits, sizeof scalar);
    for (std::size_t i = 0; i < bytes / sizeof(T); ++i) {
      if (operation.mulsum) {
        values[i] = multiplied(values[i], scalar);
      } else if constexpr (kFloating<T>) {
        values[i] = fabricbench::multiplied_by_share(values[i], rank.ranks);
      }
    }
  });
}

/// Reduces `bytes` of all slots from `offset` on.
void reduce_into(const Rank& rank, const Operation& operation, std::byte* into, std::size_t offset, std::size_t bytes) {
  fabricbench::with_type(data_type(operation.type), [&]<typename T>(std::type_identity<T>) {
    for (std::size_t at = 0; at < bytes; at += sizeof(T)) {
      T result{};
      for (int i = 0; i < rank.ranks; ++i) {
        const int source = rank.reversed ? rank.ranks - 1 - i : i;
        T value;
        std::memcpy(&value, rank.shared->slots[static_cast<std::size_t>(source)].data() + offset + at, sizeof value);
        result = i == 0 ? value : combined(result, value, operation.reduction);
      }
      if (operation.reduction == ncclAvg && !kFloating<T>) result = fabricbench::divided(result, rank.ranks);
      std::memcpy(into + at, &result, sizeof result);
    }
  });
}

/// A part of a contribution, in bytes.
struct Part {
  std::size_t begin;
  std::size_t end;
};

/// What a rank takes from the chunk that all have published.
class Consumer {
 public:
  Consumer(const Rank& rank, const Operation& operation, Part chunk)
      : rank_(rank),
        operation_(operation),
        chunk_(chunk),
        block_(operation.count * element_bytes(operation.type)),
        own_(overlap()) {}

  void consume() const {
    const bool root = rank_.rank == operation_.root;
    switch (operation_.kind) {
      case Kind::kAllReduce: reduce(chunk_, operation_.recv + chunk_.begin); return;
      case Kind::kReduce:
        if (root) reduce(chunk_, operation_.recv + chunk_.begin);
        return;
      case Kind::kReduceScatter: reduce(own_, operation_.recv + in_block()); return;
      case Kind::kBroadcast: take(operation_.root, chunk_, operation_.recv + chunk_.begin); return;
      case Kind::kScatter: take(operation_.root, own_, operation_.recv + in_block()); return;
      case Kind::kGather:
        if (root) take_all(chunk_, chunk_.begin);
        return;
      case Kind::kAllGather: take_all(chunk_, chunk_.begin); return;
      case Kind::kAllToAll: take_all(own_, in_block()); return;
      case Kind::kSend:
      case Kind::kRecv:
      case Kind::kPut:
      case Kind::kWait: return;
    }
  }

 private:
  /// The part of the chunk that is this rank's block.
  [[nodiscard]] Part overlap() const {
    const std::size_t begin = static_cast<std::size_t>(rank_.rank) * block_;
    const Part part{std::max(chunk_.begin, begin), std::min(chunk_.end, begin + block_)};
    return part.begin < part.end ? part : Part{begin, begin};
  }
  [[nodiscard]] std::size_t in_block() const { return own_.begin - static_cast<std::size_t>(rank_.rank) * block_; }

  void reduce(Part part, std::byte* into) const {
    if (part.begin < part.end) {
      reduce_into(rank_, operation_, into, part.begin - chunk_.begin, part.end - part.begin);
    }
  }
  void take(int source, Part part, std::byte* into) const {
    if (part.begin == part.end) return;
    std::memcpy(into, rank_.shared->slots[static_cast<std::size_t>(source)].data() + part.begin - chunk_.begin,
                part.end - part.begin);
  }
  void take_all(Part part, std::size_t offset) const {
    for (int source = 0; source < rank_.ranks; ++source) {
      take(source, part, operation_.recv + static_cast<std::size_t>(source) * block_ + offset);
    }
  }

  const Rank& rank_;
  const Operation& operation_;
  Part chunk_;
  std::size_t block_;
  Part own_;
};

bool contributes(const Rank& rank, const Operation& operation) {
  const bool from_root = operation.kind == Kind::kBroadcast || operation.kind == Kind::kScatter;
  return !from_root || rank.rank == operation.root;
}

std::size_t contribution_bytes(const Rank& rank, const Operation& operation) {
  const std::size_t block = operation.count * element_bytes(operation.type);
  const bool a_block_for_each =
      operation.kind == Kind::kReduceScatter || operation.kind == Kind::kAllToAll || operation.kind == Kind::kScatter;
  return a_block_for_each ? block * static_cast<std::size_t>(rank.ranks) : block;
}

bool meet(Rank& rank) {
  rank.device_barrier.arrive(rank.shared->device_arrivals, rank.ranks);
  return rank.device_barrier.wait(rank.shared->device_arrivals, rank.aborted);
}

}  // namespace

std::size_t element_bytes(ncclDataType_t type) { return fabricbench::facts(data_type(type)).size; }

bool run_collective(Rank& rank, const Operation& operation) {
  const std::size_t total = contribution_bytes(rank, operation);
  for (std::size_t begin = 0; begin < total; begin += kSlotBytes) {
    const Part chunk{begin, std::min(total, begin + kSlotBytes)};
    if (contributes(rank, operation)) publish(rank, operation, operation.send + begin, chunk.end - begin);
    if (!meet(rank)) return false;
    Consumer(rank, operation, chunk).consume();
    if (!meet(rank)) return false;
  }
  return true;
}

}  // namespace fake_nccl
