#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <thread>

#include "common/core/units.h"
#include "common/measure/bench.h"
#include "common/measure/planning.h"
#include "common/measure/results.h"
#include "common/watch/progress.h"
#include "common/watch/watchdog.h"

namespace fabricbench {

/// Tells of the progress of one visit, from a thread until the result is released: the timed loop has no time for it.
/// Nobody else may use `progress` meanwhile. `what` is measured, such as `measurement 1 of 3; now 1 GiB float sum`.
/// `operations`: how many of its steps the heartbeat will count. `rest`: how many times as long as this visit all that
/// follow it take.
[[nodiscard]] std::jthread follow_visit(Progress& progress, const Heartbeat& heartbeat, const std::string& what,
                                        std::int64_t operations, double rest);

/// The time left of a visit, and of what follows it, after `elapsed`. Empty: no operation is counted, or all are.
[[nodiscard]] std::optional<Seconds> time_left(std::int64_t done, std::int64_t operations, Seconds elapsed,
                                               double rest);

/// Such as `64 KiB float sum, in place`.
[[nodiscard]] std::string case_text(const Run& run, const Case& which);

/// How many times as long as a measurement the rest takes: each as long as that, or longer in the ratio of the sizes.
[[nodiscard]] double times_as_long(std::span<const MeasuredCase> rest, const Case& measured);

/// What a run tells of its progress, and of how long it will take, on the process that speaks for the job.
class BenchProgress {
 public:
  /// Both must outlive this.
  BenchProgress(const Run& run, const Planner& planner);

  /// Tells at once how long measuring that many cases will take, if it is long.
  void announce(std::int64_t cases) const;
  /// Tells once how long it will take if operations are too long for their time budget. Subjects after `last` are not
  /// planned yet.
  void announce_long_operations(std::span<const MeasuredCase> measured_cases, std::size_t last);
  /// Tells once how long the rest of a run with a fixed number of iterations will take, by a measurement that `took`
  /// long enough to tell.
  void announce_rest(std::span<const MeasuredCase> rest, const Case& measured, Seconds took);

  /// Shows this where it is time to show something.
  void show(const std::string& what);
  /// Where the epochs stand.
  struct Epochs {
    Seconds began = 0;
    std::int64_t planned = 0;  ///< of each case
    std::size_t later = 0;     ///< cases that are measured after these, with --order sequential
  };
  /// `done`: the share of the epoch under way. Cases count by the time that their visits take.
  void show_epoch(const Epochs& epochs, std::span<const MeasuredCase> measured_cases, const MeasuredCase& visited,
                  double done);
  [[nodiscard]] std::jthread follow(const std::string& what, std::int64_t operations, double rest) {
    return follow_visit(progress_, run_.heartbeat, what, operations, rest);
  }
  void clear() { progress_.clear(); }

 private:
  [[nodiscard]] Seconds expected_operation(std::span<const MeasuredCase> measured_cases, std::size_t last,
                                           Bytes size) const;

  const Run& run_;
  const Planner& planner_;
  Progress progress_;
  bool has_announced_ = false;
};

}  // namespace fabricbench
