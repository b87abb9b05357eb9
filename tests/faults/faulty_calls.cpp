// Loaded before the libraries (LD_PRELOAD), makes one call of a program go wrong:
//
//   FAULTY_CALL         FUNCTION:CALL:FAULT[:RANK], such as MPI_Bcast:3:hang:1. The call of this number, counted from 1
//   in
//                       each process; with RANK, of this rank of the job only. Faults:
//                         hang   it never returns
//                         stop   the whole process is stopped before it
//                         kill   the process is killed before it
//                         late   it begins a second late
//                         fail   nothing is done, and the function's error returned
//   FAULTY_CALL_COUNTS  a file that gets a line for each function at the end of the process: its name and its calls
//
// Calls of libraries count too.

#include <dlfcn.h>
#include <mpi.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace {

struct Chosen {
  std::string function;
  long call = 0;
  std::string fault;

  Chosen() {
    const char* const text = std::getenv("FAULTY_CALL");
    if (text == nullptr) return;
    std::string fields[4];
    std::size_t field = 0;
    for (const char* at = text; *at != '\0' && field < std::size(fields); ++at) {
      if (*at == ':') {
        ++field;
      } else {
        fields[field] += *at;
      }
    }
    const char* const rank = std::getenv("OMPI_COMM_WORLD_RANK");
    if (!fields[3].empty() && (rank == nullptr || fields[3] != rank)) return;
    function = fields[0];
    call = std::atol(fields[1].c_str());
    fault = fields[2];
  }
};

const Chosen& chosen() {
  static const Chosen the_one;
  return the_one;
}

class Function {
 public:
  explicit Function(const char* name) : name_(name), is_chosen_(chosen().function == name) {
    next_ = first.load();
    while (!first.compare_exchange_weak(next_, this)) {
    }
  }

  /// Counts a call. True: nothing is to be done, and an error returned.
  bool fails() {
    if (++calls_ != chosen().call || !is_chosen_) return false;
    const std::string_view fault = chosen().fault;
    while (fault == "hang") pause();
    if (fault == "stop") kill(getpid(), SIGSTOP);
    if (fault == "kill") kill(getpid(), SIGKILL);
    if (fault == "late") usleep(1000 * 1000);
    return fault == "fail";
  }

  static void write_counts() {
    const char* const path = std::getenv("FAULTY_CALL_COUNTS");
    std::FILE* const file = path == nullptr ? nullptr : std::fopen(path, "w");
    if (file == nullptr) return;
    for (const Function* each = first; each != nullptr; each = each->next_) {
      std::fprintf(file, "%s %ld\n", each->name_, each->calls_.load());
    }
    std::fclose(file);
  }

 private:
  static inline std::atomic<Function*> first = nullptr;

  const char* name_;
  bool is_chosen_;
  std::atomic<long> calls_ = 0;
  Function* next_ = nullptr;
};

[[gnu::destructor]] void at_end() {
  static Function self("exit");
  Function::write_counts();
  (void)self.fails();
}

template <typename... Parameters>
int mpi(Function& function, int (*real)(Parameters...), std::type_identity_t<Parameters>... arguments) {
  return function.fails() ? MPI_ERR_OTHER : real(arguments...);
}

/// The C library's own.
template <typename Signature>
Signature* next(const char* name) {
  return reinterpret_cast<Signature*>(dlsym(RTLD_NEXT, name));
}

/// -1 where it fails.
template <typename Result, typename... Parameters>
Result libc(Function& function, int error, Result (*real)(Parameters...),
            std::type_identity_t<Parameters>... arguments) {
  if (!function.fails()) return real(arguments...);
  errno = error;
  return static_cast<Result>(-1);
}

}  // namespace

extern "C" {

int MPI_Init(int* argc, char*** argv) {
  static Function self("MPI_Init");
  return mpi(self, PMPI_Init, argc, argv);
}

int MPI_Finalize() {
  static Function self("MPI_Finalize");
  return mpi(self, PMPI_Finalize);
}

int MPI_Abort(MPI_Comm comm, int status) {
  static Function self("MPI_Abort");
  return mpi(self, PMPI_Abort, comm, status);
}

int MPI_Barrier(MPI_Comm comm) {
  static Function self("MPI_Barrier");
  return mpi(self, PMPI_Barrier, comm);
}

int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  static Function self("MPI_Bcast");
  return mpi(self, PMPI_Bcast, data, count, type, root, comm);
}

int MPI_Allreduce(const void* send, void* recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  static Function self("MPI_Allreduce");
  return mpi(self, PMPI_Allreduce, send, recv, count, type, op, comm);
}

int MPI_Reduce(const void* send, void* recv, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  static Function self("MPI_Reduce");
  return mpi(self, PMPI_Reduce, send, recv, count, type, op, root, comm);
}

int MPI_Gather(const void* send, int sent, MPI_Datatype sent_type, void* recv, int count, MPI_Datatype type, int root,
               MPI_Comm comm) {
  static Function self("MPI_Gather");
  return mpi(self, PMPI_Gather, send, sent, sent_type, recv, count, type, root, comm);
}

int MPI_Gatherv(const void* send, int sent, MPI_Datatype sent_type, void* recv, const int* counts, const int* places,
                MPI_Datatype type, int root, MPI_Comm comm) {
  static Function self("MPI_Gatherv");
  return mpi(self, PMPI_Gatherv, send, sent, sent_type, recv, counts, places, type, root, comm);
}

int MPI_Scatter(const void* send, int sent, MPI_Datatype sent_type, void* recv, int count, MPI_Datatype type, int root,
                MPI_Comm comm) {
  static Function self("MPI_Scatter");
  return mpi(self, PMPI_Scatter, send, sent, sent_type, recv, count, type, root, comm);
}

int MPI_Allgather(const void* send, int sent, MPI_Datatype sent_type, void* recv, int count, MPI_Datatype type,
                  MPI_Comm comm) {
  static Function self("MPI_Allgather");
  return mpi(self, PMPI_Allgather, send, sent, sent_type, recv, count, type, comm);
}

int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  static Function self("MPI_Send");
  return mpi(self, PMPI_Send, data, count, type, to, tag, comm);
}

int MPI_Recv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  static Function self("MPI_Recv");
  return mpi(self, PMPI_Recv, data, count, type, from, tag, comm, status);
}

int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  static Function self("MPI_Isend");
  return mpi(self, PMPI_Isend, data, count, type, to, tag, comm, request);
}

int MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
  static Function self("MPI_Irecv");
  return mpi(self, PMPI_Irecv, data, count, type, from, tag, comm, request);
}

int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  static Function self("MPI_Waitall");
  return mpi(self, PMPI_Waitall, count, requests, statuses);
}

int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made) {
  static Function self("MPI_Comm_create_group");
  return mpi(self, PMPI_Comm_create_group, comm, group, tag, made);
}

int MPI_Comm_free(MPI_Comm* comm) {
  static Function self("MPI_Comm_free");
  return mpi(self, PMPI_Comm_free, comm);
}

std::size_t fwrite(const void* data, std::size_t size, std::size_t count, std::FILE* file) {
  static Function self("fwrite");
  if (!self.fails()) return next<decltype(fwrite)>("fwrite")(data, size, count, file);
  errno = ENOSPC;
  return 0;
}

int fflush(std::FILE* file) {
  static Function self("fflush");
  return libc(self, ENOSPC, next<int(std::FILE*)>("fflush"), file);
}

int fclose(std::FILE* file) {
  static Function self("fclose");
  return libc(self, EDQUOT, next<int(std::FILE*)>("fclose"), file);
}

int socket(int family, int type, int protocol) noexcept {
  static Function self("socket");
  return libc(self, EMFILE, next<int(int, int, int)>("socket"), family, type, protocol);
}

int bind(int descriptor, const sockaddr* address, socklen_t length) noexcept {
  static Function self("bind");
  return libc(self, EADDRINUSE, next<int(int, const sockaddr*, socklen_t)>("bind"), descriptor, address, length);
}

int connect(int descriptor, const sockaddr* address, socklen_t length) {
  static Function self("connect");
  return libc(self, ECONNREFUSED, next<int(int, const sockaddr*, socklen_t)>("connect"), descriptor, address, length);
}

int poll(pollfd* polled, nfds_t count, int timeout) {
  static Function self("poll");
  return libc(self, EINTR, next<int(pollfd*, nfds_t, int)>("poll"), polled, count, timeout);
}

}  // extern "C"
