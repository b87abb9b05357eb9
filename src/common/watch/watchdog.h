#pragma once

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/core/options.h"
#include "common/core/ownership.h"
#include "common/core/units.h"
#include "common/mpi/communicator.h"
#include "common/watch/process_table.h"
#include "common/watch/thread_stack.h"

namespace fabricbench {

/// The time of a clock that should not go back, and may, as where a virtual machine is moved: then it stands still for
/// one look, and goes on from there.
class ForwardTime {
 public:
  /// `time`: on that clock.
  [[nodiscard]] Seconds after(Seconds time) {
    passed_ += std::max(time - last_, 0.0);
    last_ = time;
    return passed_;
  }

 private:
  Seconds last_ = 0;
  Seconds passed_ = 0;
};

/// Decides what a watchdog does about a process that makes no progress. Reads no clock: its caller passes the times.
class StallDetector {
 public:
  /// The state of the process at one time.
  struct Observation {
    std::uint64_t steps = 0;
    Seconds time = 0;      ///< on any clock that goes forward
    Seconds awake = 0;     ///< total time for which its main thread has had a processor or waited for one
    Seconds longer_s = 0;  ///< how much more than the timeout its step may take
  };

  /// The time without progress after which a process ends the job. Others wait longer than rank 0, which knows more and
  /// should speak first. `grace`: added for rank 0.
  [[nodiscard]] static Seconds patience(int rank, Seconds timeout, Seconds grace);

  enum class Action {
    kNothing,
    kReport,  ///< to rank 0
    kEnd,     ///< the job, after a last report
  };

  struct Stall {
    Action action = Action::kNothing;
    Seconds stuck_s = 0;      ///< since the last progress
    double busy = 0;          ///< share of that time that the main thread was awake
    Seconds next_look_s = 0;  ///< until then
  };

  /// `timeout`: rank 0 ends the job after this time without progress, and `grace`; above 0.
  StallDetector(int rank, Seconds timeout, Seconds grace, const Observation& first)
      : timeout_(timeout), patience_(patience(rank, timeout, grace)), last_(first), pause_(interval(timeout)) {}

  /// The time between two looks, unless the process goes on and on: a look takes a processor from the main thread, and
  /// thousands of ranks that look hold up each other's collectives. Then it doubles, up to a sixteenth of the timeout.
  [[nodiscard]] static Seconds interval(Seconds timeout);
  [[nodiscard]] Stall look(const Observation& sight);

 private:
  Seconds timeout_;
  Seconds patience_;
  Observation last_;  // the process when it last made progress
  Seconds pause_;
};

/// From the first line of a program to its last; kConnect to kReport are of the case that is measured.
enum class Phase {
  kStartMpi,
  kAgree,
  kSetUp,
  kConnect,
  kEstimate,
  kPrepare,
  kWarmUp,
  kMeasure,
  kReduce,
  kCheck,
  kReport,
  kIdle,
  kRelease,
  kEndMpi,
  kLeave,
  kClose
};

/// The current activity of this rank, written by the main thread and read by the watchdog. All ranks take the same
/// steps, so the number of steps shows who is behind.
class Heartbeat {
 public:
  /// `longer_s`: how much more than the time limit a step of the phase may take.
  void enter(Phase phase, Seconds longer_s = 0) {
    phase_.store(phase, std::memory_order_relaxed);
    longer_s_.store(longer_s, std::memory_order_relaxed);
    tick();
  }
  /// Sets the name of the case that is measured; not for timed loops.
  void enter_case(const std::string& label);
  void tick() { steps_.store(steps_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
  /// A sign of life that is no step: other ranks may take more or fewer.
  void wait_on() { looks_.store(looks_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
  /// Counts steps from 0 again.
  void restart() { steps_.store(0, std::memory_order_relaxed); }

  [[nodiscard]] std::uint64_t steps() const { return steps_.load(std::memory_order_relaxed); }
  /// A number that changes with every step and sign of life.
  [[nodiscard]] std::uint64_t progress() const { return steps() + looks_.load(std::memory_order_relaxed); }
  [[nodiscard]] Seconds longer_s() const { return longer_s_.load(std::memory_order_relaxed); }
  [[nodiscard]] Phase phase() const { return phase_.load(std::memory_order_relaxed); }
  /// Such as `measuring 64 KiB float sum, out-of-place`.
  [[nodiscard]] std::string activity() const;

 private:
  std::atomic<std::uint64_t> steps_{0};
  std::atomic<std::uint64_t> looks_{0};
  std::atomic<Phase> phase_{Phase::kStartMpi};
  std::atomic<Seconds> longer_s_{0};
  mutable std::mutex mutex_;
  std::string label_;
};

/// While this lives, this rank waits for others that measure, and nobody waits for it. It has no time limit, as long as
/// its heartbeat goes on and the others are there. All ranks end it together, and count their steps from there.
class IdleWait : NotCopied {
 public:
  explicit IdleWait(Heartbeat& heartbeat) : heartbeat_(heartbeat), before_(heartbeat.phase()) {
    heartbeat_.enter(Phase::kIdle);
  }
  ~IdleWait() {
    heartbeat_.restart();
    heartbeat_.enter(before_);
  }

 private:
  Heartbeat& heartbeat_;
  Phase before_;
};

/// What a watchdog says of a process in a group.
struct Watched {
  std::string name;  ///< of this process, such as `rank 3 on node-07`
  /// Added to the first process's time limit while they are together: for steps that have the same limit themselves,
  /// and say more.
  Seconds grace = 0;
  std::function<std::string()> state = {};  ///< more about this process's activity; called from the watchdog's thread
  /// Called with the reason, on the first process, before the job ends; empty: the watchdog's own.
  std::function<void(const std::string&)> on_timeout = {};
  /// Whether they say at once that they are there, and are answered: so that who gets stuck soon was heard before.
  bool greets = false;
};

/// Ends the job with exit status 4 if a rank makes no progress for `timeout` seconds. A thread on every rank watches
/// that rank's heartbeat, from the start of MPI to its end: MPI may itself be what hangs. Before the processes have met
/// each one knows itself only. After that they report to the group's first process after half of the time, through the
/// process table, and that process says which ranks the others were waiting for. Between reports they say now and then
/// that they are there, so that it is known when each was heard last. StallDetector makes the decisions.
class Watchdog : NotCopied {
 public:
  /// `timeout`: 0: no limit. `action`: kStack: before the job ends, ranks that are stuck print where. `rank`: of the
  /// job, as its launcher says. `name`: such as `rank 3 on node-07`. `on_timeout` is called with the reason before the
  /// job ends.
  Watchdog(Seconds timeout, StallAction action, int rank, std::string name,
           std::function<void(const std::string&)> on_timeout);
  ~Watchdog();

  [[nodiscard]] Heartbeat& heartbeat() { return heartbeat_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  /// On the thread that is watched.
  void set_limit(Seconds timeout, StallAction action);
  [[nodiscard]] Seconds timeout() const { return timeout_; }
  /// From now on the processes of `group` report to its first one. Collective; steps are counted from 0.
  void meet(const mpi::Communicator& group, Watched watched);
  /// From now on this process knows the job's processes, where the roll is called, or itself only. Steps are counted
  /// from 0.
  void part();
  /// From now on the processes of `world`, all of the job's, say now and then that they are there, so that one that is
  /// gone is noticed while the others rest. Collective; needs a time limit.
  void call_roll(const mpi::Communicator& world, Watched watched);
  /// MPI has ended: from now on this process knows itself only. The first one waits until the others have ended MPI
  /// too, as far as they were heard, because it writes how the job ends.
  void leave();

 private:
  struct Group;

  void stop();
  void watch();
  [[nodiscard]] bool may_leave(Seconds waited);
  [[nodiscard]] std::string activity() const;
  [[nodiscard]] bool is_idle() const { return heartbeat_.phase() == Phase::kIdle; }
  [[nodiscard]] Seconds patience() const;
  [[nodiscard]] Seconds time_awake() const;
  [[nodiscard]] StallDetector::Observation sight();
  [[nodiscard]] Seconds look(StallDetector& detector);
  [[nodiscard]] Seconds time_to_next_look(const StallDetector::Stall& stall, Seconds now) const;
  void look_for_others(Seconds now);
  [[nodiscard]] Seconds deaf_for(Seconds now) const;
  void report(const ProcessReport& report);
  [[nodiscard]] Group* company() const;
  [[nodiscard]] std::vector<std::string> findings();
  void print_stacks();
  void print_stack() const;
  [[noreturn]] void end_job(Seconds stuck, const std::vector<std::string>& findings);

  Heartbeat heartbeat_;
  std::string name_;
  int rank_;
  Jitter jitter_;
  std::function<void(const std::string&)> on_timeout_;
  Seconds timeout_ = 0;               // set while there is no thread, as the next one
  std::optional<ThreadStack> stack_;  // of the main thread; empty: not asked for
  pthread_t main_thread_ = pthread_self();
  pid_t main_thread_id_ = gettid();
  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::unique_ptr<Group> group_;  // null: not met
  std::unique_ptr<Group> world_;  // all processes of the job; null: nobody calls the roll
  ForwardTime time_;
  Seconds next_report_ = 0;  // looks may follow each other much faster than reports
  bool is_new_ = false;      // whether there is another group since the last look
  bool stopping_ = false;
  std::thread thread_;
};

/// Ends this process with exit status 4 if it has not ended within `time` seconds; takes the place of the last call. 0:
/// no limit. A signal does it, so that it may be a thread that is stuck, or an exit handler of a library. `line`: what
/// is printed then.
void limit_exit(Seconds time, const std::string& line);

}  // namespace fabricbench
