#include "shared.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace fabricbench::test {
namespace {

[[noreturn]] void give_up(const char* what) {
  std::perror(what);
  std::abort();
}

// Calls of the kernel's own here and below: tests/faults makes the C library's functions fail, and this is to be like
// an adapter, which they do not reach.
SharedState* map_state() {
  const char* const path = std::getenv("FAKE_VERBS_FILE");
  if (path == nullptr) give_up("FAKE_VERBS_FILE is not set");
  const auto file = static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (file < 0 || ftruncate(file, sizeof(SharedState)) != 0) give_up(path);
  void* const memory = mmap(nullptr, sizeof(SharedState), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) give_up(path);
  syscall(SYS_close, file);
  return static_cast<SharedState*>(memory);
}

SharedState& state() {
  static SharedState* const mapped = map_state();
  return *mapped;
}

bool is_dead(int thread) { return kill(thread, 0) != 0 && errno == ESRCH; }

void ring_bell(const SharedCompletions& queue) {
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/%d/fd/%d", queue.process, queue.bell);
  const auto file = static_cast<int>(syscall(SYS_openat, AT_FDCWD, path.data(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  if (file < 0) return;
  (void)syscall(SYS_write, file, "", 1);
  syscall(SYS_close, file);
}

}  // namespace

Shared::Shared() {
  const auto own = static_cast<int>(gettid());
  int holder = 0;
  while (!state().locked_by.compare_exchange_weak(holder, own)) {
    if (holder == 0 || !is_dead(holder)) holder = 0;  // else it is taken from the dead one
    sched_yield();
  }
}

Shared::~Shared() { state().locked_by = 0; }

SharedState* Shared::operator->() const { return &state(); }

SharedCompletions& Shared::completions(std::uint32_t number) const { return state().completion_queues.at(number - 1); }

SharedQueuePair* Shared::queue_pair(std::uint32_t number) const {
  return number == 0 || number > state().queue_pairs_made ? nullptr : &state().queue_pairs.at(number - 1);
}

void Shared::complete(std::uint32_t completions, const ibv_wc& completion) const {
  SharedCompletions& queue = this->completions(completions);
  if (queue.process == 0 || queue.completions.full()) return;
  queue.completions.push(completion);
  if (queue.armed) ring_bell(queue);
  queue.armed = false;
}

}  // namespace fabricbench::test
