// Loaded before MPI (LD_PRELOAD), makes MPI_Allreduce faulty in one chosen way. What the harness itself sends
// is small, and is left alone: only calls with at least FAULTY_MPI_LEAST_COUNT elements are touched.
//
//   FAULTY_MPI_MODE         half       0.5 is added to one float
//                           swap       two blocks of the result change places
//                           tail       the last element is not written
//                           nothing    nothing is done, and success returned; give it to all ranks
//                           overrun    one byte behind the result is written
//                           error      an error is returned and nothing done
//                           hang       the call never returns
//   FAULTY_MPI_RANK         on this rank of MPI_COMM_WORLD only; without it, on all
//   FAULTY_MPI_AFTER        the first so many calls are good
//   FAULTY_MPI_LEAST_COUNT  64 unless given
//   FAULTY_MPI_MEMINFO      is read instead of /proc/meminfo, whatever the mode

#include <dlfcn.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

int setting(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoi(text);
}

bool mode_is(const char* name) {
  const char* mode = std::getenv("FAULTY_MPI_MODE");
  return mode != nullptr && std::strcmp(mode, name) == 0;
}

bool applies(int count) {
  if (count < setting("FAULTY_MPI_LEAST_COUNT", 64)) return false;
  int rank = -1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (setting("FAULTY_MPI_RANK", rank) != rank) return false;
  static int calls = 0;
  return ++calls > setting("FAULTY_MPI_AFTER", 0);
}

/// From the middle on, the first element that still has room for halves: large floats would round them away.
void add_half(float* values, int count) {
  for (int i = count / 2; i < count; ++i) {
    const float more = values[i] + 0.5F;
    if (more - values[i] != 0.5F) continue;
    values[i] = more;
    return;
  }
}

void swap_blocks(std::byte* bytes, std::size_t size) {
  const std::size_t block = size / 4;
  std::vector<std::byte> first(bytes, bytes + block);
  std::memmove(bytes, bytes + 2 * block, block);
  std::memcpy(bytes + 2 * block, first.data(), block);
}

}  // namespace

extern "C" int MPI_Allreduce(const void* send, void* recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  if (!applies(count)) return PMPI_Allreduce(send, recv, count, type, op, comm);
  if (mode_is("nothing")) return MPI_SUCCESS;
  if (mode_is("error")) return MPI_ERR_OTHER;
  while (mode_is("hang")) pause();
  int element = 0;
  PMPI_Type_size(type, &element);
  auto* bytes = static_cast<std::byte*>(recv);
  const auto width = static_cast<std::size_t>(element);
  const std::size_t size = static_cast<std::size_t>(count) * width;
  const std::vector<std::byte> before(bytes, bytes + size);
  const int code = PMPI_Allreduce(send, recv, count, type, op, comm);
  if (mode_is("half")) add_half(static_cast<float*>(recv), count);
  if (mode_is("swap")) swap_blocks(bytes, size);
  if (mode_is("tail")) std::memcpy(bytes + size - width, before.data() + size - width, width);
  if (mode_is("overrun")) bytes[size] = std::byte{0};
  return code;
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
