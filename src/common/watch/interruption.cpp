#include "common/watch/interruption.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "common/core/error.h"

namespace fabricbench {
namespace {

struct Signal {
  int number;
  const char* name;
};

constexpr std::array<Signal, 6> kSignals = {{{SIGINT, "SIGINT"},
                                             {SIGTERM, "SIGTERM"},
                                             {SIGHUP, "SIGHUP"},
                                             {SIGXCPU, "SIGXCPU"},
                                             {SIGUSR1, "SIGUSR1"},
                                             {SIGUSR2, "SIGUSR2"}}};
constexpr unsigned kMostSeconds = 10;

int tell = -1;  // a handler has no other way to know

extern "C" void tell_thread(int signal) {
  const int before = errno;
  const auto number = static_cast<unsigned char>(signal);
  // The pipe takes it: only the first counts, and more would have to come than it has room for.
  [[maybe_unused]] const ssize_t written = write(tell, &number, sizeof number);
  errno = before;
}

/// Returns what was there before. Signals that are ignored stay so.
std::vector<struct sigaction> handle_signals() {
  std::vector<struct sigaction> before;
  for (const auto& [signal, name] : kSignals) {
    sigaction(signal, nullptr, &before.emplace_back());
    if (before.back().sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = tell_thread;
    action.sa_flags = SA_RESTART;
    sigaction(signal, &action, nullptr);
  }
  return before;
}

/// Output may be what is stuck.
void limit_act() {
  std::signal(SIGALRM, SIG_DFL);
  alarm(kMostSeconds);
}

}  // namespace

Interruption::Interruption(std::function<void(int number, const std::string& name)> act, Seconds delay)
    : act_(std::move(act)), delay_(delay) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw Error(ExitStatus::kMissing, fmt::format("cannot make a pipe: {}; raise the limit on open files (ulimit -n)",
                                                  std::strerror(errno)));  // NOLINT(concurrency-mt-unsafe): one thread
  }
  told_ = ends[0];
  tell = ends[1];
  thread_ = std::thread([this] { wait(); });
  before_ = handle_signals();
}

Interruption::~Interruption() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i].number, &before_[i], nullptr);
  close(std::exchange(tell, -1));
  thread_.join();
  close(told_);
}

void Interruption::leave_time_to_others() const {
  pollfd next{told_, POLLIN, 0};
  constexpr Seconds kMillisecond = 1e-3;
  poll(&next, 1, static_cast<int>(delay_ / kMillisecond));
}

void Interruption::wait() {
  unsigned char number = 0;
  ssize_t got = 0;
  do {
    got = read(told_, &number, sizeof number);
  } while (got < 0 && errno == EINTR);
  if (got != sizeof number) return;
  limit_act();
  const auto signal =
      std::find_if(kSignals.begin(), kSignals.end(), [&](const Signal& each) { return each.number == number; });
  if (signal != kSignals.end()) act_(number, signal->name);
  leave_time_to_others();
  std::signal(number, SIG_DFL);
  kill(getpid(), number);
}

}  // namespace fabricbench
