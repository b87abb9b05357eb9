// Found before MPI's own, makes MPI's collectives and MPI_Sendrecv faulty in one chosen way. What the harness
// itself sends is left alone: only calls with at least FAULTY_MPI_LEAST_COUNT elements are touched, of MPI_Allreduce
// none with text (MPI_BYTE), flags (MPI_UINT8_T) or located times (MPI_DOUBLE_INT), and of others only those with
// floats.
//
//   FAULTY_MPI_MODE         half       0.5 is added to one float
//                           swap       two blocks of the result change places
//                           hole       a block of the result is not written
//                           tail       the last element is not written
//                           nothing    nothing is done, and success returned; give it to all ranks
//                           reorder    every second MPI_Allreduce adds floats from the last rank to the first
//                           overrun    one byte behind the result is written
//                           error      an error is returned and nothing done
//                           hang       the call never returns
//                           message_tail, message_nothing   of messages of bytes that MPI_Recv and MPI_Irecv receive:
//                                      the last byte, or none of them, is what was sent
//                           message_lost   messages of bytes that MPI_Isend sends to FAULTY_MPI_PEER never arrive
//   FAULTY_MPI_RANK         on this rank of MPI_COMM_WORLD only; without it, on all
//   FAULTY_MPI_AFTER        the first so many calls are good
//   FAULTY_MPI_CALLS        and only so many after them are not
//   FAULTY_MPI_LEAST_COUNT  64 unless given
//   FAULTY_MPI_MEMINFO      is read instead of /proc/meminfo, whatever the mode

#include <dlfcn.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "run.h"

namespace {

int setting(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoi(text);
}

bool mode_is(const char* name) {
  const char* mode = std::getenv("FAULTY_MPI_MODE");
  return mode != nullptr && std::strcmp(mode, name) == 0;
}

int calls_that_applied = 0;

bool applies(int count) {
  if (count < setting("FAULTY_MPI_LEAST_COUNT", 64)) return false;
  int rank = -1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (setting("FAULTY_MPI_RANK", rank) != rank) return false;
  const int good = setting("FAULTY_MPI_AFTER", 0);
  return ++calls_that_applied > good && calls_that_applied - good <= setting("FAULTY_MPI_CALLS", calls_that_applied);
}

/// From the middle on, the first element whose sum with a half is exact: large floats would round it away.
void add_half(float* values, int count) {
  for (int i = count / 2; i < count; ++i) {
    const float more = values[i] + 0.5F;
    if (more - values[i] != 0.5F || more - 0.5F != values[i]) continue;
    values[i] = more;
    return;
  }
}

void swap_blocks(std::byte* first, std::byte* second, std::size_t size) {
  const std::vector<std::byte> kept(first, first + size);
  std::memmove(first, second, size);
  std::memcpy(second, kept.data(), size);
}

/// What a call leaves on this rank: `count` elements in so many blocks; the second half's first is the one at fault.
struct Result {
  void* data;
  int count;
  MPI_Datatype type;
  int blocks;
};

template <typename Call>
int faulty(const Result& result, Call call) {
  if (result.count == 0 || !applies(result.count)) return call();
  if (mode_is("nothing")) return MPI_SUCCESS;
  if (mode_is("error")) return MPI_ERR_OTHER;
  while (mode_is("hang")) pause();
  int element = 0;
  PMPI_Type_size(result.type, &element);
  auto* bytes = static_cast<std::byte*>(result.data);
  const auto width = static_cast<std::size_t>(element);
  const std::size_t size = static_cast<std::size_t>(result.count) * width;
  const std::size_t block = size / static_cast<std::size_t>(result.blocks);
  const std::size_t second = static_cast<std::size_t>(result.blocks / 2) * block;
  const std::vector<std::byte> before(bytes, bytes + size);
  const int code = call();
  if (mode_is("half")) add_half(static_cast<float*>(result.data), result.count);
  if (mode_is("swap")) swap_blocks(bytes, bytes + second, block);
  if (mode_is("hole")) std::memcpy(bytes + second, before.data() + second, block);
  if (mode_is("tail")) std::memcpy(bytes + size - width, before.data() + size - width, width);
  if (mode_is("overrun")) bytes[size] = std::byte{0};
  return code;
}

constexpr int kAnyBlocks = 4;

int size_of(MPI_Comm comm) {
  int size = 0;
  PMPI_Comm_size(comm, &size);
  return size;
}

bool is_root(int root, MPI_Comm comm) {
  int rank = -1;
  PMPI_Comm_rank(comm, &rank);
  return rank == root;
}

/// Of floats: nothing otherwise, and so no fault.
Result floats(void* data, int count, MPI_Datatype type, int blocks = kAnyBlocks) {
  return {data, type == MPI_FLOAT && data != MPI_IN_PLACE ? count : 0, type, blocks};
}

/// A part from each rank.
Result parts(void* data, int count, MPI_Datatype type, MPI_Comm comm) {
  return floats(data, count * size_of(comm), type, size_of(comm));
}

}  // namespace

namespace {

/// Adds the ranks' floats in the order of the ranks, or from the last to the first.
int add_in_order(const void* send, void* recv, int count, MPI_Comm comm, bool reversed) {
  const auto ranks = static_cast<std::size_t>(size_of(comm));
  const auto length = static_cast<std::size_t>(count);
  std::vector<float> all(ranks * length);
  const int code =
      PMPI_Allgather(send == MPI_IN_PLACE ? recv : send, count, MPI_FLOAT, all.data(), count, MPI_FLOAT, comm);
  auto* sums = static_cast<float*>(recv);
  for (std::size_t i = 0; i < length; ++i) {
    sums[i] = all[(reversed ? ranks - 1 : 0) * length + i];
    for (std::size_t rank = 1; rank < ranks; ++rank) sums[i] += all[(reversed ? ranks - 1 - rank : rank) * length + i];
  }
  return code;
}

}  // namespace

extern "C" int MPI_Allreduce(const void* send, void* recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  if (mode_is("reorder") && type == MPI_FLOAT && op == MPI_SUM && applies(count)) {
    return add_in_order(send, recv, count, comm, calls_that_applied % 2 == 1);
  }
  const bool harness = type == MPI_BYTE || type == MPI_DOUBLE_INT || type == MPI_UINT8_T;
  return faulty({recv, harness ? 0 : count, type, kAnyBlocks},
                [&] { return PMPI_Allreduce(send, recv, count, type, op, comm); });
}

extern "C" int MPI_Reduce(const void* send, void* recv, int count, MPI_Datatype type, MPI_Op op, int root,
                          MPI_Comm comm) {
  return faulty(floats(recv, is_root(root, comm) ? count : 0, type),
                [&] { return PMPI_Reduce(send, recv, count, type, op, root, comm); });
}

extern "C" int MPI_Reduce_scatter_block(const void* send, void* recv, int count, MPI_Datatype type, MPI_Op op,
                                        MPI_Comm comm) {
  return faulty(floats(recv, count, type),
                [&] { return PMPI_Reduce_scatter_block(send, recv, count, type, op, comm); });
}

namespace {

/// What a message was received into, and what must not be changed there.
struct Received {
  std::byte* data;
  std::vector<std::byte> kept;
  std::size_t size;
  MPI_Request request = MPI_REQUEST_NULL;  // of MPI_Irecv

  [[nodiscard]] std::size_t offset() const { return mode_is("message_tail") ? size - 1 : 0; }
  void put_back() const { std::memcpy(data + offset(), kept.data(), kept.size()); }
};

std::optional<Received> faulty_message(void* buffer, int count, MPI_Datatype type) {
  if (type != MPI_INT8_T || !(mode_is("message_tail") || mode_is("message_nothing")) || !applies(count)) return {};
  Received received{static_cast<std::byte*>(buffer), {}, static_cast<std::size_t>(count), MPI_REQUEST_NULL};
  received.kept.assign(received.data + received.offset(), received.data + count);
  return received;
}

std::vector<Received>& under_way() {
  static std::vector<Received> messages;
  return messages;
}

/// Messages that those requests brought are here; others may still be on their way. Of several into one place, the
/// first found there what none of them brought: the last one's turn comes first.
void put_back_those_of(const std::vector<MPI_Request>& requests) {
  const auto came = [&](const Received& message) {
    return std::find(requests.begin(), requests.end(), message.request) != requests.end();
  };
  for (auto message = under_way().rbegin(); message != under_way().rend(); ++message) {
    if (came(*message)) message->put_back();
  }
  std::erase_if(under_way(), came);
}

}  // namespace

void fabricbench::test::forget_calls() {
  calls_that_applied = 0;
  under_way().clear();
}

extern "C" int MPI_Recv(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                        MPI_Status* status) {
  const auto message = faulty_message(buffer, count, type);
  const int code = PMPI_Recv(buffer, count, type, from, tag, comm, status);
  if (message) message->put_back();
  return code;
}

extern "C" int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                         MPI_Request* request) {
  auto message = faulty_message(buffer, count, type);
  const int code = PMPI_Irecv(buffer, count, type, from, tag, comm, request);
  if (message) {
    message->request = *request;
    under_way().push_back(std::move(*message));
  }
  return code;
}

extern "C" int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  const std::vector<MPI_Request> waited_for(requests, requests + count);
  const int code = PMPI_Waitall(count, requests, statuses);
  put_back_those_of(waited_for);
  return code;
}

extern "C" int MPI_Testall(int count, MPI_Request* requests, int* done, MPI_Status* statuses) {
  const std::vector<MPI_Request> asked_for(requests, requests + count);
  const int code = PMPI_Testall(count, requests, done, statuses);
  if (*done != 0) put_back_those_of(asked_for);
  return code;
}

/// Instead of what is lost, something is waited for that nobody sends.
extern "C" int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                         MPI_Request* request) {
  constexpr int kNobodySends = 32000;
  const bool loses = mode_is("message_lost") && type == MPI_INT8_T && to == setting("FAULTY_MPI_PEER", -1);
  if (!loses || !applies(count)) return PMPI_Isend(buffer, count, type, to, tag, comm, request);
  return PMPI_Irecv(nullptr, 0, type, to, kNobodySends, comm, request);
}

extern "C" int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  return faulty(floats(data, is_root(root, comm) ? 0 : count, type),
                [&] { return PMPI_Bcast(data, count, type, root, comm); });
}

extern "C" int MPI_Allgather(const void* send, int sent, MPI_Datatype sent_type, void* recv, int count,
                             MPI_Datatype type, MPI_Comm comm) {
  return faulty(parts(recv, count, type, comm),
                [&] { return PMPI_Allgather(send, sent, sent_type, recv, count, type, comm); });
}

extern "C" int MPI_Alltoall(const void* send, int sent, MPI_Datatype sent_type, void* recv, int count,
                            MPI_Datatype type, MPI_Comm comm) {
  return faulty(parts(recv, count, type, comm),
                [&] { return PMPI_Alltoall(send, sent, sent_type, recv, count, type, comm); });
}

extern "C" int MPI_Alltoallv(const void* send, const int* sent, const int* sent_places, MPI_Datatype sent_type,
                             void* recv, const int* counts, const int* places, MPI_Datatype type, MPI_Comm comm) {
  const int last = size_of(comm) - 1;
  return faulty(floats(recv, places[last] + counts[last], type),
                [&] { return PMPI_Alltoallv(send, sent, sent_places, sent_type, recv, counts, places, type, comm); });
}

extern "C" int MPI_Gather(const void* send, int sent, MPI_Datatype sent_type, void* recv, int count, MPI_Datatype type,
                          int root, MPI_Comm comm) {
  return faulty(parts(recv, is_root(root, comm) ? count : 0, type, comm),
                [&] { return PMPI_Gather(send, sent, sent_type, recv, count, type, root, comm); });
}

extern "C" int MPI_Scatter(const void* send, int sent, MPI_Datatype sent_type, void* recv, int count, MPI_Datatype type,
                           int root, MPI_Comm comm) {
  return faulty(floats(recv, count, type),
                [&] { return PMPI_Scatter(send, sent, sent_type, recv, count, type, root, comm); });
}

extern "C" int MPI_Sendrecv(const void* send, int sent, MPI_Datatype sent_type, int to, int sent_tag, void* recv,
                            int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  return faulty(floats(recv, count, type), [&] {
    return PMPI_Sendrecv(send, sent, sent_type, to, sent_tag, recv, count, type, from, tag, comm, status);
  });
}

using Open = std::FILE* (*)(const char*, const char*);

namespace {

std::FILE* open_instead(const char* function, const char* path, const char* how) {
  const char* meminfo = std::getenv("FAULTY_MPI_MEMINFO");
  if (meminfo != nullptr && std::strcmp(path, "/proc/meminfo") == 0) path = meminfo;
  return reinterpret_cast<Open>(dlsym(RTLD_NEXT, function))(path, how);
}

}  // namespace

// The C++ library opens files by one of these.
extern "C" std::FILE* fopen(const char* path, const char* how) { return open_instead("fopen", path, how); }
extern "C" std::FILE* fopen64(const char* path, const char* how) { return open_instead("fopen64", path, how); }
