#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>
#include <unistd.h>

#include "common/core/units.h"
#include "common/mpi/communicator.h"
#include "common/watch/process_table.h"
#include "common/watch/stall_detector.h"

namespace fabricbench {

enum class Phase { kStartUp, kEstimate, kPrepare, kWarmUp, kMeasure, kReduce, kCheck, kReport };

/// The current activity of this rank, written by the main thread and read by the watchdog. All ranks take the same
/// steps, so the number of steps shows who is behind.
class Heartbeat {
 public:
  void enter(Phase phase) {
    phase_.store(phase, std::memory_order_relaxed);
    tick();
  }
  /// Sets the name of the case that is measured; not for timed loops.
  void enter_case(const std::string& label);
  void tick() { steps_.store(steps_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }

  [[nodiscard]] std::uint64_t steps() const { return steps_.load(std::memory_order_relaxed); }
  /// Such as `measuring 64 KiB float sum, out-of-place`.
  [[nodiscard]] std::string activity() const;

 private:
  std::atomic<std::uint64_t> steps_{0};
  std::atomic<Phase> phase_{Phase::kStartUp};
  mutable std::mutex mutex_;
  std::string label_;
};

/// Ends the job with exit status 4 if a rank makes no progress for `timeout` seconds, and says which ranks the others
/// were waiting for. A thread on every rank watches that rank's heartbeat. After half of the time it reports to rank 0
/// through the process table, because MPI may itself be what hangs. StallDetector makes the decisions.
class Watchdog {
 public:
  /// Collective. `names`: of the processes, such as `rank 3 on node-07`, on the first process. `state` returns more
  /// details of this process's activity, and is called from the watchdog's thread. `on_timeout` is called with the
  /// reason, on the first process, before the job ends.
  Watchdog(const mpi::Communicator& world, const Heartbeat& heartbeat, Seconds timeout,
           const std::vector<std::string>& names, std::function<std::string()> state,
           std::function<void(const std::string&)> on_timeout);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

 private:
  void watch();
  [[nodiscard]] std::string activity() const;
  [[nodiscard]] Seconds time_awake() const;
  [[nodiscard]] StallDetector::Sight sight() const;
  [[noreturn]] void end_job(Seconds stuck);

  const Heartbeat& heartbeat_;
  Seconds timeout_;
  int rank_;
  std::vector<std::string> names_;
  std::function<std::string()> state_;
  std::function<void(const std::string&)> on_timeout_;
  ProcessTable process_table_;
  pthread_t main_thread_ = pthread_self();
  pid_t main_thread_id_ = gettid();
  std::mutex mutex_;
  std::condition_variable stop_;
  bool stopping_ = false;
  std::thread thread_;
};

/// The findings from the process table, a line each. `reports`: of the processes that answered, by process. `names`: of
/// all processes.
[[nodiscard]] std::vector<std::string> who_is_missing(const std::map<int, ProcessReport>& reports,
                                                      const std::vector<std::string>& names);

}  // namespace fabricbench
