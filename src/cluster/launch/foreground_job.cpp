#include "cluster/launch/foreground_job.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cluster/launch/children.h"
#include "common/host/files.h"

namespace fabricbench::cluster {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kToConclude{10};  // for ranks that have been told to end
constexpr seconds kAgain{3};        // after which they are told again: longer than ranks without output leave to rank 0
constexpr seconds kToFlush{3};      // for what a launcher printed before it was ended
constexpr milliseconds kLook{50};   // at a job that is ending

constexpr int kStaysSeconds = 20;         // an agent that is there for so long stays as long as its daemon
constexpr int kAloneSeconds = 10;         // for a launcher to end after its ranks
constexpr int kToStartSeconds = 30;       // for a launcher on this host to start a rank
constexpr int kLooksSeconds = 5;          // between looks for hosts that are out of reach
constexpr unsigned kResent = 7;           // packets, the last one after some 25 s, before a host counts as that
constexpr milliseconds kSlowPause{2000};  // once it has ranks or daemons

std::string text_of(const fs::path& path) { return host::read_text(path).value_or(""); }

/// The words of a process, each followed by a blank, with one before them; just that of a process that is gone.
std::string words_of(pid_t process) {
  std::string text = text_of(fmt::format("/proc/{}/cmdline", process));
  std::replace(text.begin(), text.end(), '\0', ' ');
  return " " + text;
}

bool is_zombie(pid_t process) {
  const std::string text = text_of(fmt::format("/proc/{}/stat", process));
  const std::size_t state = text.rfind(") ");
  return state == std::string::npos || text[state + 2] == 'Z';
}

std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  std::error_code error;
  for (const auto& task : fs::directory_iterator(fmt::format("/proc/{}/task", parent), error)) {
    std::istringstream numbers(text_of(task.path() / "children"));
    for (pid_t child = 0; numbers >> child;) children.push_back(child);
  }
  return children;
}

/// Whether a command line runs the program, by a path or its name alone.
bool runs(const std::string& words, std::string_view program) {
  return words.find(fmt::format("/{} ", program)) != std::string::npos ||
         words.find(fmt::format(" {} ", program)) != std::string::npos;
}

bool has_socket(pid_t process, std::string_view inode) {
  const std::string wanted = fmt::format("socket:[{}]", inode);
  std::error_code error;
  for (const auto& file : fs::directory_iterator(fmt::format("/proc/{}/fd", process), error)) {
    if (fs::read_symlink(file.path(), error) == wanted) return true;
  }
  return false;
}

/// Whether a host has acknowledged nothing of what the launcher sent it, for half a minute. TCP's keepalive does not
/// notice: it leaves that to retransmissions, which go on for a quarter of an hour. Source: proc_net_tcp.txt of Linux.
bool has_lost_host(pid_t launcher) {
  for (const std::string_view table : {"tcp", "tcp6"}) {
    std::ifstream lines(fmt::format("/proc/{}/net/{}", launcher, table));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream fields(line);
      std::string number, here, there, state, queues, timer, resent, user, timeout, inode;
      fields >> number >> here >> there >> state >> queues >> timer >> resent >> user >> timeout >> inode;
      const bool may_send = state == "01" || state == "04";  // established, or closed at this end
      unsigned count = 0;
      std::from_chars(resent.data(), resent.data() + resent.size(), count, 16);
      if (may_send && !queues.starts_with("00000000:") && count >= kResent && has_socket(launcher, inode)) return true;
    }
  }
  return false;
}

/// Watches a launcher from the outside, by what /proc says of its processes and connections. It starts nothing, since
/// ranks are measuring.
class StuckLauncher {
 public:
  StuckLauncher(WatchedJob job, pid_t launcher) : job_(std::move(job)), launcher_(launcher) {}

  /// Why the launcher is stuck, as `... goes on WHY`; nothing as long as it may end by itself: when nothing is left of
  /// what it has started, when the ranks on this host, or the daemons of some hosts, have ended and the others have had
  /// the time for it, when no rank has begun although all are to run here, and when a host is lost. To be called every
  /// pause().
  [[nodiscard]] std::optional<std::string> why() {
    if (job_.by_srun) {
      find_ranks_of_srun();
      pause_ = kSlowPause;
    } else {
      look();
    }
    had_ranks_ = had_ranks_ || ranks_here_ > 0;
    most_daemons_ = std::max(most_daemons_, daemons_);
    // An agent may end before its daemon, and does so at once.
    if (!job_.by_srun && (job_.on_hosts ? daemons_ > 0 && seconds_since(began_) >= kStaysSeconds : ranks_here_ > 0)) {
      stays_ = true;
    }
    if (had_ranks_ || stays_) pause_ = kSlowPause;
    const std::optional<Limit> limit = this->limit();
    if (!limit) since_ = Clock::now();
    if (limit && seconds_since(since_) >= limit->seconds) {
      return fmt::format("although {} {} s ago", limit->what, static_cast<int>(seconds_since(since_)));
    }
    if (job_.on_hosts && seconds_since(looked_) >= kLooksSeconds) {
      looked_ = Clock::now();
      if (has_lost_host(launcher_)) return "with a host that is out of reach";
    }
    return std::nullopt;
  }

  [[nodiscard]] std::chrono::milliseconds pause() const noexcept { return pause_; }

  /// The launcher's processes at the last look, parents before their children.
  [[nodiscard]] const std::vector<pid_t>& children() const noexcept { return children_; }

 private:
  struct Limit {
    int seconds;
    std::string what;  ///< has happened
  };

  void look() {
    children_.clear();
    ranks_here_ = 0;
    daemons_ = 0;
    std::vector<pid_t> parents = {launcher_};
    for (std::size_t next = 0; next < parents.size(); ++next) {
      for (const pid_t child : children_of(parents[next])) look_at(child, parents);
    }
  }

  void look_at(pid_t child, std::vector<pid_t>& parents) {
    if (is_zombie(child)) return;
    children_.push_back(child);
    const std::string words = words_of(child);
    if (words.starts_with(fmt::format(" {} ", job_.program))) {
      ++ranks_here_;
    } else if (words.find(" --daemonize ") != std::string::npos) {
      return;  // an agent that goes in a moment
    } else if (runs(words, "orted") || runs(words, "prted")) {
      ++daemons_;
    } else {
      if (words.find("hydra_pmi_proxy ") != std::string::npos) ++daemons_;  // whose children are ranks
      parents.push_back(child);  // or the launcher itself, where a site has a script of its name
    }
  }

  /// srun's ranks are no children of it: of all processes those that know this run; then only these.
  void find_ranks_of_srun() {
    std::vector<pid_t> candidates = std::move(ranks_of_srun_);
    if (candidates.empty()) {
      std::error_code error;
      for (const auto& folder : fs::directory_iterator("/proc", error)) {
        const std::string name = folder.path().filename();
        pid_t process = 0;
        if (std::from_chars(name.data(), name.data() + name.size(), process).ec == std::errc{}) {
          candidates.push_back(process);
        }
      }
    }
    ranks_of_srun_.clear();
    const std::string mark = fmt::format("FABRICBENCH_RUN={}", ::getpid());
    for (const pid_t process : candidates) {
      if (!words_of(process).starts_with(fmt::format(" {} ", job_.program))) continue;
      std::istringstream variables(text_of(fmt::format("/proc/{}/environ", process)));
      for (std::string variable; std::getline(variables, variable, '\0');) {
        if (variable == mark) ranks_of_srun_.push_back(process);
      }
    }
    ranks_here_ = static_cast<int>(ranks_of_srun_.size());
  }

  /// How long the launcher may go on from now on; nothing: without limit, since what it waits for is there.
  [[nodiscard]] std::optional<Limit> limit() {
    const bool is_bounded = job_.ranks_end_s > 0;
    const std::string ended = job_.by_srun || job_.on_hosts ? "its ranks here ended" : "its ranks ended";
    if (stays_ && children_.empty()) return Limit{kAloneSeconds, ended};
    if (had_ranks_ && ranks_here_ == 0 && is_bounded) return Limit{job_.ranks_end_s + kAloneSeconds, ended};
    if (stays_ && daemons_ < most_daemons_ && ranks_here_ == 0 && is_bounded) {
      return Limit{job_.ranks_end_s + kAloneSeconds, "the daemon of a host ended"};
    }
    if (job_.all_here && !had_ranks_ && is_bounded) {
      return Limit{std::max(job_.ranks_end_s, kToStartSeconds) + kAloneSeconds, "it began without any rank"};
    }
    return std::nullopt;
  }

  WatchedJob job_;
  pid_t launcher_;
  std::vector<pid_t> children_;
  std::vector<pid_t> ranks_of_srun_;
  int ranks_here_ = 0;
  int daemons_ = 0;  // launch agents that stay as long as the daemons that they have started
  int most_daemons_ = 0;
  bool had_ranks_ = false;
  bool stays_ = false;  // so long that it will stay as long as its job
  std::chrono::milliseconds pause_{200};
  Clock::time_point began_ = Clock::now();
  Clock::time_point since_ = began_;   // when what it waits for was there last
  Clock::time_point looked_ = began_;  // for hosts that are out of reach
};

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
      is_lost_ = host::write_all(STDOUT_FILENO, {buffer.data(), static_cast<std::size_t>(got)}) != 0;
    }
    pipe_.read_end.reset();
    is_done_ = true;
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
      // Parents first: a script would go on to its next command when its child has ended.
      job.tell(SIGKILL);
      for (const pid_t child : watch.children()) ::kill(child, SIGKILL);
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
