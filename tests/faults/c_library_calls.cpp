// Functions of the C library, and operator new, that may go wrong.

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <new>
#include <type_traits>

#include "faulty_calls.h"

using fabricbench::test::Effect;
using fabricbench::test::Function;
using fabricbench::test::next;

namespace {

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

/// Only `hang` of one rank, and not counted: it is called before anything else is there that counting takes.
void* mmap(void* address, std::size_t size, int protection, int flags, int descriptor, off_t offset) noexcept {
  static std::atomic<long> calls = 0;
  static const char* const chosen = std::getenv("FAULTY_CALL");
  const char* const rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (chosen != nullptr && rank != nullptr && std::strncmp(chosen, "mmap:", 5) == 0) {
    char* rest = nullptr;
    const long call = std::strtol(chosen + 5, &rest, 10);
    const bool is_chosen = std::strncmp(rest, ":hang:", 6) == 0 && std::strcmp(rest + 6, rank) == 0;
    if (++calls == call && is_chosen) {
      while (true) pause();
    }
  }
  // NOLINTNEXTLINE(performance-no-int-to-ptr): as the kernel gives it
  return reinterpret_cast<void*>(syscall(SYS_mmap, address, size, protection, flags, descriptor, offset));
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
