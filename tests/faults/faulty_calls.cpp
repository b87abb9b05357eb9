// Loaded before the libraries (LD_PRELOAD), makes one call of a program go wrong:
//
//   FAULTY_CALL          FUNCTION:CALL:FAULT[:RANK], such as MPI_Bcast:3:hang:1. The call of this number, counted from
//   1
//                        in each process; with RANK, of this rank of the job only. `new` stands for operator new, and
//                        `exit` for the end of the process. Faults:
//                          hang       it never returns
//                          stop       the whole process is stopped before it
//                          kill       the process is killed before it
//                          late       it begins a second late
//                          fail       nothing is done, and the function's error returned
//                          short      of functions that read or write: at most half is done
//                          interrupt  the launcher gets SIGINT before it, as from Ctrl-C
//                          insist     it gets SIGINT twice
//                          terminate  it gets SIGTERM
//                          freeze     of clock_gettime: the time stands still from this call on
//                          jump       of clock_gettime: the time is a quarter of an hour later from this call on
//   FAULTY_CALL_REACHED  a folder that is made when the call is reached, and another one, with .after_mpi behind its
//   name,
//                        if MPI has ended by then
//   FAULTY_CALL_COUNTS   a file that gets a line for each function at the end of each process: rank, name and calls
//
// Calls of libraries count too, and so do those of the fakes of CUDA and NCCL, which tell of their calls themselves
// (-finstrument-functions); for these there is no `fail`, which the fakes have settings for. Processes without a rank,
// such as the launcher, are left alone.

#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <new>
#include <string_view>
#include <type_traits>
#include <unordered_map>

namespace {

/// What FAULTY_CALL says. Allocates nothing, because operator new is among the functions.
class Chosen {
 public:
  Chosen() {
    const char* const text = std::getenv("FAULTY_CALL");
    const char* const rank = std::getenv("OMPI_COMM_WORLD_RANK");
    if (text == nullptr || rank == nullptr) return;
    std::string_view rest = text;
    std::array<std::string_view, 4> fields;
    for (std::string_view& field : fields) {
      field = rest.substr(0, rest.find(':'));
      rest.remove_prefix(std::min(field.size() + 1, rest.size()));
    }
    if (!fields[3].empty() && fields[3] != rank) return;
    function = fields[0];
    call = std::atol(fields[1].data());
    fault = fields[2];
  }

  std::string_view function;
  long call = 0;
  std::string_view fault;
};

const Chosen& chosen() {
  static const Chosen the_one;
  return the_one;
}

enum class Effect { kNone, kFails, kShort };

void note_reached() {
  const char* const path = std::getenv("FAULTY_CALL_REACHED");
  if (path == nullptr) return;
  // Folders, because open() is among the functions.
  mkdir(path, 0700);
  int ended = 0;
  PMPI_Finalized(&ended);
  std::array<char, 4096> late{};
  std::snprintf(late.data(), late.size(), "%s.after_mpi", path);
  if (ended != 0) mkdir(late.data(), 0700);
}

/// The launcher, which is the parent of each rank.
void signal_launcher(int number, int times) {
  for (int time = 0; time < times; ++time) {
    if (time > 0) usleep(200 * 1000);
    kill(getppid(), number);
  }
}

class Function {
 public:
  explicit Function(const char* name) : name_(name), is_chosen_(chosen().function == name) {
    next_ = first.load();
    while (!first.compare_exchange_weak(next_, this)) {
    }
  }

  /// Counts a call, and does to it what is to be done before it.
  Effect effect() {
    if (++calls_ != chosen().call || !is_chosen_) return Effect::kNone;
    note_reached();
    const std::string_view fault = chosen().fault;
    while (fault == "hang") pause();
    if (fault == "stop") kill(getpid(), SIGSTOP);
    if (fault == "kill") kill(getpid(), SIGKILL);
    if (fault == "late") usleep(1000 * 1000);
    if (fault == "interrupt") signal_launcher(SIGINT, 1);
    if (fault == "insist") signal_launcher(SIGINT, 2);
    if (fault == "terminate") signal_launcher(SIGTERM, 1);
    if (fault == "short") return Effect::kShort;
    return fault == "fail" ? Effect::kFails : Effect::kNone;
  }

  /// True: nothing is to be done, and an error returned.
  bool fails() { return effect() == Effect::kFails; }

  /// Whether the chosen call was there.
  [[nodiscard]] bool past(std::string_view fault) const {
    return is_chosen_ && chosen().fault == fault && calls_ >= chosen().call;
  }

  static void write_counts() {
    const char* const path = std::getenv("FAULTY_CALL_COUNTS");
    const char* const rank = std::getenv("OMPI_COMM_WORLD_RANK");
    if (path == nullptr || rank == nullptr) return;
    const int file = ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    for (const Function* each = first; each != nullptr; each = each->next_) {
      dprintf(file, "%s %s %ld\n", rank, each->name_, each->calls_.load());
    }
    ::close(file);
  }

 private:
  static inline std::atomic<Function*> first = nullptr;

  const char* name_;
  bool is_chosen_;
  std::atomic<long> calls_ = 0;
  Function* next_ = nullptr;
};

/// The functions of the fakes by address; null: not one of CUDA's or NCCL's.
Function* of_fakes(void* address) {
  static std::mutex mutex;
  static auto* const known = new std::unordered_map<void*, Function*>;
  const std::lock_guard lock(mutex);
  const auto [place, is_new] = known->try_emplace(address, nullptr);
  if (!is_new) return place->second;
  Dl_info found{};
  if (dladdr(address, &found) == 0 || found.dli_saddr != address || found.dli_sname == nullptr) return nullptr;
  const std::string_view name = found.dli_sname;
  if (name.starts_with("nccl") || name.starts_with("cuda")) place->second = new Function(found.dli_sname);
  return place->second;
}

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

/// A null pointer where it fails.
template <typename... Parameters>
std::FILE* opened(Function& function, std::FILE* (*real)(Parameters...),
                  std::type_identity_t<Parameters>... arguments) {
  if (!function.fails()) return real(arguments...);
  errno = EACCES;
  return nullptr;
}

/// How much of `size` bytes a call does that may do less; 0: it fails.
std::size_t share(Function& function, std::size_t size, int error) {
  const Effect effect = function.effect();
  if (effect == Effect::kNone || (effect == Effect::kShort && size < 2)) return size;
  errno = error;
  return effect == Effect::kShort ? size / 2 : 0;
}

}  // namespace

extern "C" {

/// Called by code that was compiled with -finstrument-functions, at the beginning of each function.
void __cyg_profile_func_enter(void* function, void* /*caller*/) {
  if (Function* const known = of_fakes(function)) (void)known->effect();
}

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

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
  static Function self("MPI_Comm_split");
  return mpi(self, PMPI_Comm_split, comm, color, key, made);
}

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made) {
  static Function self("MPI_Comm_split_type");
  return mpi(self, PMPI_Comm_split_type, comm, type, key, info, made);
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
  static Function self("MPI_Comm_dup");
  return mpi(self, PMPI_Comm_dup, comm, made);
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  static Function self("MPI_Test");
  return mpi(self, PMPI_Test, request, flag, status);
}

int MPI_Testall(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
  static Function self("MPI_Testall");
  return mpi(self, PMPI_Testall, count, requests, flag, statuses);
}

int MPI_Iprobe(int from, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  static Function self("MPI_Iprobe");
  return mpi(self, PMPI_Iprobe, from, tag, comm, flag, status);
}

int MPI_Sendrecv(const void* send, int sent, MPI_Datatype sent_type, int to, int sent_tag, void* recv, int count,
                 MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  static Function self("MPI_Sendrecv");
  return mpi(self, PMPI_Sendrecv, send, sent, sent_type, to, sent_tag, recv, count, type, from, tag, comm, status);
}

std::size_t fwrite(const void* data, std::size_t size, std::size_t count, std::FILE* file) {
  static Function self("fwrite");
  static auto* const real = next<decltype(fwrite)>("fwrite");
  const std::size_t bytes = size * count;
  const std::size_t done = share(self, bytes, ENOSPC);
  if (done == bytes) return real(data, size, count, file);
  return done == 0 ? 0 : real(data, 1, done, file) / size;
}

ssize_t write(int descriptor, const void* data, std::size_t size) {
  static Function self("write");
  static auto* const real = next<ssize_t(int, const void*, std::size_t)>("write");
  const std::size_t done = share(self, size, ENOSPC);
  return done == 0 && size > 0 ? -1 : real(descriptor, data, done);
}

ssize_t read(int descriptor, void* data, std::size_t size) {
  static Function self("read");
  static auto* const real = next<ssize_t(int, void*, std::size_t)>("read");
  const std::size_t done = share(self, size, EIO);
  return done == 0 && size > 0 ? -1 : real(descriptor, data, done);
}

ssize_t send(int descriptor, const void* data, std::size_t size, int flags) {
  static Function self("send");
  static auto* const real = next<ssize_t(int, const void*, std::size_t, int)>("send");
  const std::size_t done = share(self, size, ECONNRESET);
  return done == 0 && size > 0 ? -1 : real(descriptor, data, done, flags);
}

ssize_t recv(int descriptor, void* data, std::size_t size, int flags) {
  static Function self("recv");
  static auto* const real = next<ssize_t(int, void*, std::size_t, int)>("recv");
  const std::size_t done = share(self, size, ECONNRESET);
  return done == 0 && size > 0 ? -1 : real(descriptor, data, done, flags);
}

ssize_t sendto(int descriptor, const void* data, std::size_t size, int flags, const sockaddr* to, socklen_t length) {
  static Function self("sendto");
  static auto* const real = next<ssize_t(int, const void*, std::size_t, int, const sockaddr*, socklen_t)>("sendto");
  return libc(self, EPERM, real, descriptor, data, size, flags, to, length);
}

ssize_t recvfrom(int descriptor, void* data, std::size_t size, int flags, sockaddr* from, socklen_t* length) {
  static Function self("recvfrom");
  static auto* const real = next<ssize_t(int, void*, std::size_t, int, sockaddr*, socklen_t*)>("recvfrom");
  return libc(self, EAGAIN, real, descriptor, data, size, flags, from, length);
}

int open(const char* path, int flags, ...) {
  static Function self("open");
  static auto* const real = next<int(const char*, int, ...)>("open");
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if (!self.fails()) return real(path, flags, mode);
  errno = EACCES;
  return -1;
}

std::FILE* fopen(const char* path, const char* mode) {
  static Function self("fopen");
  return opened(self, next<std::FILE*(const char*, const char*)>("fopen"), path, mode);
}

std::FILE* fdopen(int descriptor, const char* mode) noexcept {
  static Function self("fdopen");
  return opened(self, next<std::FILE*(int, const char*)>("fdopen"), descriptor, mode);
}

int fsync(int descriptor) {
  static Function self("fsync");
  return libc(self, EIO, next<int(int)>("fsync"), descriptor);
}

int close(int descriptor) {
  static Function self("close");
  static auto* const real = next<int(int)>("close");
  return libc(self, EIO, real, descriptor);
}

int listen(int descriptor, int backlog) noexcept {
  static Function self("listen");
  return libc(self, EADDRINUSE, next<int(int, int)>("listen"), descriptor, backlog);
}

int accept4(int descriptor, sockaddr* address, socklen_t* length, int flags) {
  static Function self("accept4");
  return libc(self, ECONNABORTED, next<int(int, sockaddr*, socklen_t*, int)>("accept4"), descriptor, address, length,
              flags);
}

int accept(int descriptor, sockaddr* address, socklen_t* length) {
  static Function self("accept");
  return libc(self, ECONNABORTED, next<int(int, sockaddr*, socklen_t*)>("accept"), descriptor, address, length);
}

int setsockopt(int descriptor, int level, int option, const void* value, socklen_t length) noexcept {
  static Function self("setsockopt");
  return libc(self, ENOPROTOOPT, next<int(int, int, int, const void*, socklen_t)>("setsockopt"), descriptor, level,
              option, value, length);
}

int getaddrinfo(const char* host, const char* service, const addrinfo* hints, addrinfo** found) {
  static Function self("getaddrinfo");
  if (self.fails()) return EAI_NONAME;
  return next<int(const char*, const char*, const addrinfo*, addrinfo**)>("getaddrinfo")(host, service, hints, found);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) noexcept {
  static Function self("pthread_create");
  if (self.fails()) return EAGAIN;
  return next<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create")(thread, attributes,
                                                                                                 start, argument);
}

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  static Function self("clock_gettime");
  static auto* const real = next<int(clockid_t, timespec*)>("clock_gettime");
  static std::atomic<time_t> frozen = 0;
  if (libc(self, EINVAL, real, clock, time) != 0) return -1;
  if (clock != CLOCK_MONOTONIC) return 0;
  if (self.past("jump")) time->tv_sec += 900;
  if (self.past("freeze")) {
    time_t none = 0;
    frozen.compare_exchange_strong(none, time->tv_sec);
    *time = {frozen, 0};
  }
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

void* operator new(std::size_t size) {
  static Function self("new");
  void* const memory = self.fails() ? nullptr : std::malloc(std::max<std::size_t>(size, 1));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
