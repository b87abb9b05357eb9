// What scripts/selftest.sh plants in a rank. Loaded before the libraries (LD_PRELOAD), it reads these variables:
//
//   PLANTED_CLOCK_PPM     the monotonic clock runs so many millionths fast, below 0 slow, from its first reading on
//   PLANTED_OPERATION_MS  each all-gather in host memory takes so many milliseconds longer

#include <dlfcn.h>
#include <mpi.h>

#include <cstdint>
#include <cstdlib>
#include <ctime>

namespace {

constexpr std::int64_t kNanosecondsPerSecond = 1000000000;

double setting(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? 0 : std::atof(text);
}

std::int64_t nanoseconds(const timespec& time) { return time.tv_sec * kNanosecondsPerSecond + time.tv_nsec; }

timespec time_of(std::int64_t nanoseconds) {
  return {.tv_sec = nanoseconds / kNanosecondsPerSecond, .tv_nsec = nanoseconds % kNanosecondsPerSecond};
}

template <typename Function>
Function* next(const char* name, Function* /*of this type*/) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// Whole nanoseconds, so that hours of uptime cost no precision.
std::int64_t drifted(std::int64_t now) {
  static const double ppm = setting("PLANTED_CLOCK_PPM");
  static const std::int64_t first = now;
  return now + static_cast<std::int64_t>(static_cast<double>(now - first) * ppm * 1e-6);
}

void pause_ms(double milliseconds) {
  if (milliseconds <= 0) return;
  const timespec pause = time_of(static_cast<std::int64_t>(milliseconds * 1e6));
  nanosleep(&pause, nullptr);
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  static auto* const real = next("clock_gettime", &clock_gettime);
  const int status = real(clock, time);
  if (status == 0 && clock == CLOCK_MONOTONIC) *time = time_of(drifted(nanoseconds(*time)));
  return status;
}

int MPI_Allgather(const void* from, int send_count, MPI_Datatype send_type, void* to, int receive_count,
                  MPI_Datatype receive_type, MPI_Comm communicator) {
  static const double longer_ms = setting("PLANTED_OPERATION_MS");
  static auto* const real = next("MPI_Allgather", &MPI_Allgather);
  const int status = real(from, send_count, send_type, to, receive_count, receive_type, communicator);
  pause_ms(longer_ms);
  return status;
}

}  // extern "C"
