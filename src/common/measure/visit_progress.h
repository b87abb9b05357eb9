#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "common/core/not_copied.h"
#include "common/core/units.h"
#include "common/watch/progress.h"
#include "common/watch/watchdog.h"

namespace fabricbench {

/// A run that takes longer says at once how long it will take.
inline constexpr Seconds kLongRun = 30;

/// Tells of the progress of one visit while this lives, from a thread: the timed loop has no time for it. Nobody else
/// may use `progress` meanwhile.
class VisitProgress : NotCopied {
 public:
  /// `what` is measured, such as `measurement 1 of 3; now 1 GiB float sum`. `operations`: how many of its steps the
  /// heartbeat will count. `rest`: how many times as long as this visit all that follow it take. References must
  /// outlive this.
  VisitProgress(Progress& progress, const Heartbeat& heartbeat, std::string what, std::int64_t operations, double rest);
  ~VisitProgress();

 private:
  void watch();

  Progress& progress_;
  const Heartbeat& heartbeat_;
  std::string what_;
  std::int64_t operations_;
  double rest_;
  std::uint64_t first_step_;
  Seconds began_;
  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  bool is_over_ = false;
  std::thread thread_;
};

/// The time left of a visit, and of what follows it, after `elapsed`. Empty: no operation is counted, or all are.
[[nodiscard]] std::optional<Seconds> time_left(std::int64_t done, std::int64_t operations, Seconds elapsed,
                                               double rest);

}  // namespace fabricbench
