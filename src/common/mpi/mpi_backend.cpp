#include "common/mpi/mpi_backend.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "common/core/clock.h"
#include "common/mpi/environment.h"

namespace fabricbench::mpi {
namespace {

constexpr std::size_t kPage = std::size_t{1} << 20;  // elements; an int counts enough pages

MPI_Datatype contiguous(std::size_t count, MPI_Datatype of) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  check(MPI_Type_contiguous(static_cast<int>(count), of, &type), "MPI_Type_contiguous");
  return type;
}

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

constexpr int kTag = 0;  // of all messages: messages between two ranks match in order

/// Initial capacity for messages in flight, so that windows of the usual sizes allocate nothing while they are timed. A
/// longer window allocates once.
constexpr std::size_t kRoom = 1024;

/// The last step of avg: every element divided by the number of ranks.
void divide(void* buffer, std::size_t count, DataType type, int ranks) {
  with_type(type, [&]<typename T>(std::type_identity<T>) {
    T* elements = static_cast<T*>(buffer);
    for (std::size_t i = 0; i < count; ++i) elements[i] = divided(elements[i], ranks);
  });
}

/// Calls `action(first element, elements)` for parts of at most `most` elements: once if one call can take the count. A
/// count of 0 also makes one call, so that an empty operation is measured.
template <typename Action>
void in_parts(std::size_t count, std::size_t most, Action action) {
  std::size_t done = 0;
  do {
    const std::size_t part = std::min(count - done, most);
    action(done, static_cast<int>(part));
    done += part;
  } while (done < count);
}

void narrow(const std::vector<std::uint64_t>& from, std::vector<int>& into) {
  into.resize(from.size());
  std::transform(from.begin(), from.end(), into.begin(), [](std::uint64_t value) { return static_cast<int>(value); });
}

std::array<MPI_Datatype, kDataTypes.size()> all_types() {
  std::array<MPI_Datatype, kDataTypes.size()> types{};
  for (const DataTypeFacts& type : kDataTypes) types[static_cast<std::size_t>(type.type)] = mpi_datatype(type.type);
  return types;
}

const std::byte* bytes(const void* buffer) { return static_cast<const std::byte*>(buffer); }
std::byte* bytes(void* buffer) { return static_cast<std::byte*>(buffer); }

/// The first actual error after MPI_Waitall, which reports only that there is one. MPI_ERR_PENDING marks messages that
/// were merely held up by it.
int first_error(int code, const std::vector<MPI_Status>& statuses, std::size_t messages) {
  if (code != MPI_ERR_IN_STATUS) return code;
  const auto end = statuses.begin() + static_cast<std::ptrdiff_t>(messages);
  const auto failed = std::find_if(statuses.begin(), end, [](const MPI_Status& status) {
    return status.MPI_ERROR != MPI_SUCCESS && status.MPI_ERROR != MPI_ERR_PENDING;
  });
  return failed == end ? code : failed->MPI_ERROR;
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

MpiBackend::MpiBackend(const Communicator& group, std::size_t most_per_call, Copy copy_bytes)
    : communicator_(group.get()),
      rank_(group.rank()),
      ranks_(group.size()),
      most_per_call_(most_per_call),
      copy_(copy_bytes),
      types_(all_types()),
      statuses_(kRoom) {
  sending_.reserve(kRoom);
  receiving_.reserve(kRoom);
}

/// Short and without calls in the usual case, because it lies between consecutive short messages.
inline MpiBackend::Counted MpiBackend::counted(std::size_t count, DataType datatype) {
  const MPI_Datatype element = types_[static_cast<std::size_t>(datatype)];
  if (count > most_per_call_) [[unlikely]]
    return one_block(count, element);
  return {static_cast<int>(count), element};
}

MpiBackend::Counted MpiBackend::one_block(std::size_t count, MPI_Datatype element) {
  if (!block_ || !block_->is(element, count)) block_.emplace(element, count);
  return {1, block_->get()};
}

/// The part of `rank` in a buffer with `count` elements for every rank.
const std::byte* MpiBackend::place_in(const void* buffer, std::size_t count, DataType datatype, int rank) const {
  return bytes(buffer) + static_cast<std::size_t>(rank) * count * facts(datatype).size;
}

void MpiBackend::all_reduce(const void* send, void* recv, std::size_t count, DataType datatype, Reduction reduction) {
  const MPI_Datatype type = mpi_datatype(datatype);
  const MPI_Op op = reductions_.find(datatype, reduction);
  const std::size_t element = facts(datatype).size;
  in_parts(count, most_per_call_, [&](std::size_t first, int part) {
    const void* from = send == recv ? MPI_IN_PLACE : bytes(send) + first * element;
    check(MPI_Allreduce(from, bytes(recv) + first * element, part, type, op, communicator_), "MPI_Allreduce");
  });
  if (reduction == Reduction::kAvg) divide(recv, count, datatype, ranks_);
}

void MpiBackend::all_gather(const void* send, void* recv, std::size_t count, DataType datatype) {
  const Counted part = counted(count, datatype);
  const void* from = send == place_in(recv, count, datatype, rank_) ? MPI_IN_PLACE : send;
  check(MPI_Allgather(from, part.count, part.type, recv, part.count, part.type, communicator_), "MPI_Allgather");
}

void MpiBackend::reduce_scatter(const void* send, void* recv, std::size_t count, DataType datatype,
                                Reduction reduction) {
  const MPI_Datatype type = mpi_datatype(datatype);
  const MPI_Op op = reductions_.find(datatype, reduction);
  if (count <= most_per_call_) {
    check(MPI_Reduce_scatter_block(send == recv ? MPI_IN_PLACE : send, recv, static_cast<int>(count), type, op,
                                   communicator_),
          "MPI_Reduce_scatter_block");
  } else {
    for (int rank = 0; rank < ranks_; ++rank) {  // MPI cannot count the block: reduce each part separately
      const std::byte* block = place_in(send, count, datatype, rank);
      reduce_to(block, rank == rank_ ? recv : nullptr, count, datatype, op, rank);
    }
  }
  if (reduction == Reduction::kAvg) divide(recv, count, datatype, ranks_);
}

void MpiBackend::reduce_to(const void* send, void* recv, std::size_t count, DataType datatype, MPI_Op op, int root) {
  const MPI_Datatype type = mpi_datatype(datatype);
  const std::size_t element = facts(datatype).size;
  in_parts(count, most_per_call_, [&](std::size_t first, int part) {
    const void* from = send == recv ? MPI_IN_PLACE : bytes(send) + first * element;
    void* into = recv == nullptr ? nullptr : bytes(recv) + first * element;
    check(MPI_Reduce(from, into, part, type, op, root, communicator_), "MPI_Reduce");
  });
}

void MpiBackend::reduce(const void* send, void* recv, std::size_t count, DataType datatype, Reduction reduction,
                        int root) {
  reduce_to(send, rank_ == root ? recv : nullptr, count, datatype, reductions_.find(datatype, reduction), root);
  if (reduction == Reduction::kAvg && rank_ == root) divide(recv, count, datatype, ranks_);
}

/// The root passes its `send`; its `recv` is filled separately out of place.
void MpiBackend::broadcast(const void* send, void* recv, std::size_t count, DataType datatype, int root) {
  const Counted all = counted(count, datatype);
  void* buffer = rank_ == root ? const_cast<void*>(send) : recv;  // MPI_Bcast does not write the root's buffer
  check(MPI_Bcast(buffer, all.count, all.type, root, communicator_), "MPI_Bcast");
}

void MpiBackend::all_to_all(const void* send, void* recv, std::size_t count, DataType datatype) {
  const Counted part = counted(count, datatype);
  check(MPI_Alltoall(send, part.count, part.type, recv, part.count, part.type, communicator_), "MPI_Alltoall");
}

void MpiBackend::all_to_all_v(const void* send, void* recv, const AllToAllVCounts& counts, DataType datatype) {
  if (counts.busiest > most_per_call_) return all_to_all_v_by_messages(send, recv, counts, datatype);
  narrow(counts.send_counts, send_counts_);
  narrow(counts.send_offsets, send_offsets_);
  narrow(counts.recv_counts, recv_counts_);
  narrow(counts.recv_offsets, recv_offsets_);
  const MPI_Datatype type = mpi_datatype(datatype);
  check(MPI_Alltoallv(send, send_counts_.data(), send_offsets_.data(), type, recv, recv_counts_.data(),
                      recv_offsets_.data(), type, communicator_),
        "MPI_Alltoallv");
}

/// MPI cannot count the offsets, so each rank exchanges one message with each peer, in rounds.
void MpiBackend::all_to_all_v_by_messages(const void* send, void* recv, const AllToAllVCounts& counts,
                                          DataType datatype) {
  const std::size_t element = facts(datatype).size;
  for (int round = 0; round < ranks_; ++round) {
    const auto to = static_cast<std::size_t>((rank_ + round) % ranks_);
    const auto from = static_cast<std::size_t>((rank_ - round + ranks_) % ranks_);
    const Counted given = counted(counts.send_counts[to], datatype);
    std::optional<Block> big;
    Counted taken{static_cast<int>(counts.recv_counts[from]), mpi_datatype(datatype)};
    if (counts.recv_counts[from] > most_per_call_) {
      taken = {1, big.emplace(mpi_datatype(datatype), counts.recv_counts[from]).get()};
    }
    check(MPI_Sendrecv(bytes(send) + counts.send_offsets[to] * element, given.count, given.type, static_cast<int>(to),
                       kTag, bytes(recv) + counts.recv_offsets[from] * element, taken.count, taken.type,
                       static_cast<int>(from), kTag, communicator_, MPI_STATUS_IGNORE),
          "MPI_Sendrecv");
  }
}

void MpiBackend::gather(const void* send, void* recv, std::size_t count, DataType datatype, int root) {
  const Counted part = counted(count, datatype);
  const bool in_place = rank_ == root && send == place_in(recv, count, datatype, root);
  check(MPI_Gather(in_place ? MPI_IN_PLACE : send, part.count, part.type, recv, part.count, part.type, root,
                   communicator_),
        "MPI_Gather");
}

void MpiBackend::scatter(const void* send, void* recv, std::size_t count, DataType datatype, int root) {
  const Counted part = counted(count, datatype);
  const bool in_place = rank_ == root && recv == place_in(send, count, datatype, root);
  check(MPI_Scatter(send, part.count, part.type, in_place ? MPI_IN_PLACE : recv, part.count, part.type, root,
                    communicator_),
        "MPI_Scatter");
}

void MpiBackend::send_recv(const void* send, void* recv, std::size_t count, DataType datatype, Partners partners) {
  const Counted all = counted(count, datatype);
  check(MPI_Sendrecv(send, all.count, all.type, partners.to, kTag, recv, all.count, all.type, partners.from, kTag,
                     communicator_, MPI_STATUS_IGNORE),
        "MPI_Sendrecv");
}

void MpiBackend::send(const void* buffer, std::size_t count, DataType datatype, int to) {
  const Counted all = counted(count, datatype);
  check(MPI_Send(buffer, all.count, all.type, to, kTag, communicator_), "MPI_Send");
}

void MpiBackend::recv(void* buffer, std::size_t count, DataType datatype, int from) {
  const Counted all = counted(count, datatype);
  check(MPI_Recv(buffer, all.count, all.type, from, kTag, communicator_, MPI_STATUS_IGNORE), "MPI_Recv");
}

/// The next count may free this one's type: MPI keeps it for messages in flight.
void MpiBackend::start_send(const void* buffer, std::size_t count, DataType datatype, int to) {
  const Counted all = counted(count, datatype);
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Isend(buffer, all.count, all.type, to, kTag, communicator_, &request), "MPI_Isend");
  sending_.push_back(request);
}

void MpiBackend::start_recv(void* buffer, std::size_t count, DataType datatype, int from) {
  const Counted all = counted(count, datatype);
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Irecv(buffer, all.count, all.type, from, kTag, communicator_, &request), "MPI_Irecv");
  receiving_.push_back(request);
}

void MpiBackend::finish() {
  complete(receiving_);
  complete(sending_);
}

bool MpiBackend::finish_by(Seconds deadline) {
  const bool received = complete_by(receiving_, deadline);
  return complete_by(sending_, deadline) && received;
}

bool MpiBackend::finish_receiving() {
  complete(receiving_);
  return true;
}

/// With statuses, because MPI reports individual errors only in them.
void MpiBackend::complete(std::vector<MPI_Request>& requests) {
  const std::size_t messages = requests.size();
  if (messages == 0) return;
  if (statuses_.size() < messages) statuses_.resize(messages);
  const int code = MPI_Waitall(static_cast<int>(messages), requests.data(), statuses_.data());
  requests.clear();
  check(first_error(code, statuses_, messages), "MPI_Waitall");
}

/// Drops requests that have not completed by the deadline, and leaves them to MPI.
bool MpiBackend::complete_by(std::vector<MPI_Request>& requests, Seconds deadline) {
  const std::size_t messages = requests.size();
  if (messages == 0) return true;
  if (statuses_.size() < messages) statuses_.resize(messages);
  int done = 0;
  int code = MPI_SUCCESS;
  do {
    code = MPI_Testall(static_cast<int>(messages), requests.data(), &done, statuses_.data());
  } while (code == MPI_SUCCESS && done == 0 && now() < deadline);
  requests.clear();
  if (code != MPI_SUCCESS) check(first_error(code, statuses_, messages), "MPI_Testall");
  return done != 0;
}

void MpiBackend::copy(const void* from, void* into, std::size_t count) {
  if (from != into) copy_(from, into, count);
}

void MpiBackend::copy_on_host(const void* from, void* into, std::size_t count) { std::memcpy(into, from, count); }

void MpiBackend::barrier() { check(MPI_Barrier(communicator_), "MPI_Barrier"); }

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
