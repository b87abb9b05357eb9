// Processes that this one starts and waits for.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster/launch/launcher.h"
#include "common/core/error.h"

namespace fabricbench::cluster {

using Clock = std::chrono::steady_clock;

[[nodiscard]] inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Holds back the signals that end a command or tell of its children, so that it takes them where it waits. Make one
/// before there are other threads or children, which do not inherit this.
class Signals {
 public:
  Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals();

  /// Waits for up to so long for a signal, or until a child has ended or stopped. The signal (SIGINT, SIGTERM, SIGHUP,
  /// SIGQUIT, SIGUSR1, SIGUSR2, SIGXCPU, SIGALRM, SIGTSTP) or none.
  [[nodiscard]] std::optional<int> wait(std::chrono::milliseconds most);
};

/// A file descriptor that is closed at the end.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) noexcept : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { reset(); }
  [[nodiscard]] int get() const noexcept { return number_; }
  /// Closes it, and takes another one.
  void reset(int number = -1) noexcept;

 private:
  int number_;
};

/// Keeps other runs away from a file or folder as long as it exists, where the file system has locks.
class RunLock {
 public:
  /// Throws Error with this status if another run has it.
  RunLock(const std::filesystem::path& path, ExitStatus if_taken);

 private:
  Descriptor file_;
};

/// The ends of a pipe, which children do not inherit.
struct Pipe {
  /// Throws Error (kFailure).
  Pipe();
  Descriptor read_end;
  Descriptor write_end;
};

/// Where the streams of a child go.
struct Streams {
  int output = 1;  ///< descriptors of this process
  int errors = 2;
};

/// One process, in a process group of its own, without input. It gets SIGTERM when this process has ended, whatever
/// ended it.
class Child {
 public:
  /// Throws Error: kMissing if the program cannot be started.
  Child(const Command& command, const Streams& streams);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  /// Kills what still runs.
  ~Child();

  [[nodiscard]] pid_t id() const noexcept { return id_; }
  /// Its status once it has ended: as a shell has it, 128 and the signal's number after a signal.
  [[nodiscard]] std::optional<int> status();
  void tell(int signal) const;
  /// Also what it has started, as long as that is in its process group.
  void tell_group(int signal) const;

 private:
  pid_t id_ = -1;
  std::optional<int> status_;
};

inline constexpr int kTimedOut = 124;     ///< status of a job that took longer than its limit, as of coreutils' timeout
inline constexpr int kKilled = 137;       ///< and had to be killed
inline constexpr int kInterrupted = 130;  ///< of a command that a signal has ended, with what it had

/// How a job ended.
struct JobEnd {
  int status = 0;  ///< its own, kTimedOut, or kKilled
  double seconds = 0;
  bool broken_off = false;  ///< by end_all()
};

/// Jobs that run at the same time, each within its limit.
class Jobs {
 public:
  explicit Jobs(Signals& signals) : signals_(signals) {}

  /// Starts a command whose output goes to files, which it makes. After `limit_s` it and what it has started in its
  /// group get SIGTERM, as from coreutils' timeout, and kKillAfterSeconds later SIGKILL; 0: no limit. `ended` is called
  /// by step() and by end_all().
  void start(const Command& command, const std::filesystem::path& output, const std::filesystem::path& errors,
             int limit_s, std::function<void(const JobEnd&)> ended);

  /// Waits until a job has ended, or for up to so long. Returns a signal that this process got to end it. Ctrl-Z stops
  /// this process, and not the jobs.
  std::optional<int> step(std::chrono::milliseconds most);

  /// Ends all jobs: SIGTERM, and SIGKILL after kKillAfterSeconds. The next step() returns a signal that comes
  /// meanwhile.
  void end_all();

  [[nodiscard]] std::size_t running() const noexcept { return jobs_.size(); }

 private:
  struct Job {
    std::unique_ptr<Child> child;
    Clock::time_point began;
    std::optional<Clock::time_point> deadline;
    bool told = false;
    std::function<void(const JobEnd&)> ended;
  };
  void look();

  Signals& signals_;
  std::map<pid_t, Job> jobs_;
  bool is_ending_ = false;
  std::optional<int> told_;  // while all were ended
};

/// What a short command prints, and its status; kTimedOut after `limit_s`, and 127 where it cannot be started.
struct Said {
  int status = 0;
  std::string text;    ///< on standard output
  std::string errors;  ///< on standard error
};
[[nodiscard]] Said said_by(const Command& command, int limit_s);

/// $TMPDIR, or /tmp.
[[nodiscard]] std::filesystem::path temporary_folder();

/// A folder for files of this process, below temporary_folder(); it is removed at the end.
class WorkFolder {
 public:
  /// `name`: fabricbench-NAME.XXXXXX. Throws Error (kFailure).
  explicit WorkFolder(const std::string& name);
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  ~WorkFolder();
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace fabricbench::cluster
