#include "cluster/launch/foreground_job.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "cluster/launch/children.h"

namespace fabricbench::cluster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kToConclude{10};  // for ranks that have been told to end
constexpr seconds kAgain{3};        // after which they are told again: longer than ranks without output leave to rank 0
constexpr seconds kToFlush{3};      // for what a launcher printed before it was ended
constexpr milliseconds kLook{50};   // at a job that is ending

/// Copies what the job prints to standard output. mpirun does not notice when its output cannot be written.
class Output {
 public:
  Output() : thread_([this] { copy(); }) {}
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() {
    close_job_end();
    thread_.join();
  }

  [[nodiscard]] int for_job() const noexcept { return pipe_.write_end.get(); }
  void close_job_end() { pipe_.write_end.reset(); }
  [[nodiscard]] bool is_done() const noexcept { return is_done_; }
  [[nodiscard]] bool is_lost() const noexcept { return is_lost_; }

 private:
  void copy() {
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, SIGPIPE);  // an output that is closed is an error to be told
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
    std::array<char, 65536> buffer{};
    while (!is_lost_) {
      const ssize_t got = ::read(pipe_.read_end.get(), buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      is_lost_ = !write_all(buffer.data(), static_cast<std::size_t>(got));
    }
    pipe_.read_end.reset();
    is_done_ = true;
  }

  static bool write_all(const char* data, std::size_t size) {
    while (size > 0) {
      const ssize_t written = ::write(STDOUT_FILENO, data, size);
      if (written < 0 && errno != EINTR) return false;
      if (written < 0) continue;
      data += written;
      size -= static_cast<std::size_t>(written);
    }
    return true;
  }

  Pipe pipe_;
  std::atomic<bool> is_done_{false};
  std::atomic<bool> is_lost_{false};
  std::thread thread_;
};

/// Ctrl-Z stops the ranks too, and they go on with this process.
void pause(const Child& job) {
  job.tell(SIGTSTP);
  ::kill(::getpid(), SIGSTOP);
  job.tell(SIGCONT);
}

std::string name_of(int signal) {
  const char* const name = ::sigabbrev_np(signal);
  return fmt::format("SIG{}", name == nullptr ? std::to_string(signal) : name);
}

/// Open MPI's mpirun that gets SIGINT or SIGTERM waits before it tells the ranks, does not read what they print then,
/// and kills them. SIGUSR1 it passes on at once, and goes on reading.
void end(Child& job, Signals& signals) {
  for (const int signal : {SIGUSR1, SIGTERM, SIGKILL}) {
    job.tell(signal);
    const auto began = Clock::now();
    auto again = began + kAgain;
    bool told_again = false;
    while (!job.status() && !told_again && Clock::now() - began < kToConclude) {
      told_again = signals.wait(kLook).has_value();
      // Ranks that had not started yet did not get it.
      if (signal == SIGUSR1 && Clock::now() >= again) {
        again = Clock::now() + kAgain;
        job.tell(SIGUSR1);
      }
    }
    if (job.status()) return;
  }
}

/// Waits until all has been copied; where the launcher was killed, for a moment.
void wait_for(const Output& output, Signals& signals, bool is_stuck) {
  const auto began = Clock::now();
  while (!output.is_done() && (!is_stuck || Clock::now() - began < kToFlush)) {
    if (signals.wait(kLook)) return;
  }
}

}  // namespace

ForegroundEnd run_in_foreground(const Command& command, WatchedJob watched,
                                const std::function<void(std::string_view)>& say) {
  ::signal(SIGTTOU, SIG_IGN);  // mpirun may print in spite of `stty tostop`
  const std::string launcher = watched.by_srun ? "srun" : "mpirun";
  Signals signals;
  std::unique_ptr<Output> output;
  if (::isatty(STDOUT_FILENO) == 0) output = std::make_unique<Output>();
  Child job(command, {output ? output->for_job() : STDOUT_FILENO, STDERR_FILENO});
  if (output) output->close_job_end();
  StuckLauncher watch(std::move(watched), job.id());
  ForegroundEnd result;
  std::optional<int> told;
  while (!job.status() && !told && !result.is_stuck) {
    told = signals.wait(watch.pause());
    if (told == SIGTSTP) {
      pause(job);
      told.reset();
    }
    if (told || job.status()) break;
    if (const auto why = watch.why()) {
      say(fmt::format("{} goes on {}; it is ended", launcher, *why));
      for (const pid_t child : watch.children()) ::kill(child, SIGKILL);
      job.tell(SIGKILL);
      result.is_stuck = true;
    }
  }
  if (told) {
    say(fmt::format("{}: the ranks get SIGUSR1, and print what they have measured; once more ends them at once",
                    name_of(*told)));
    end(job, signals);
  }
  while (!job.status()) std::ignore = signals.wait(kLook);
  result.status = told ? 128 + *told : *job.status();
  if (output) {
    wait_for(*output, signals, result.is_stuck);
    result.output_lost = output->is_lost() && !told;
    // What holds the pipe open has nothing to say any more, and this process ends.
    if (!output->is_done()) std::ignore = output.release();  // NOLINT(bugprone-unused-return-value)
  }
  return result;
}

}  // namespace fabricbench::cluster
