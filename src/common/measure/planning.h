#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "common/core/options.h"
#include "common/core/units.h"
#include "common/measure/meter.h"
#include "common/measure/test.h"

namespace fabricbench {

/// The operations that fit into `time` if each takes `each`.
[[nodiscard]] std::int64_t operations_that_fit(Seconds time, Seconds each);

/// With --check all a visit starts no more operations than there are places for, which are checked after it: shortens
/// the plan of windows of this many messages, and returns the messages of a window.
[[nodiscard]] std::int64_t fit_into_places(std::int64_t places, std::int64_t window, VisitPlan& plan);

/// Divides the time that the options give each case: what a visit does, how many epochs there are, and when they are
/// enough. Every process asks with the same times and so plans the same. `each` is the time of an operation, of streams
/// that of a window.
class Planner {
 public:
  static constexpr double kFirstShare = 0.5;  ///< of the time budget, for the minimum number of epochs

  /// `lap_cost`: as of Meter; 0 where a device's clock times each operation. `options` must outlive this.
  Planner(const Options& options, const Test& test, Seconds lap_cost);

  [[nodiscard]] bool is_stream() const { return is_stream_; }

  /// The plan before an operation was timed; with -n it is complete. `window`: messages of a stream's first window.
  [[nodiscard]] VisitPlan first_plan(std::int64_t window) const;
  /// That plan, for a visit that takes its share of an epoch.
  [[nodiscard]] VisitPlan timed_plan(VisitPlan first, Seconds each) const;
  /// Whether its visits take more than that.
  [[nodiscard]] bool is_long(const VisitPlan& plan, Seconds each) const;

  /// A case's share of one of the minimum number of epochs.
  [[nodiscard]] Seconds share_of_epoch() const;
  /// Long enough that epochs differ as runs do, also with a small budget, which is then exceeded.
  [[nodiscard]] Seconds least_epoch() const;
  /// The minimum number of epochs, or fewer of long operations.
  [[nodiscard]] std::int64_t epochs(Seconds each) const;
  /// The time of a visit: warm-up, timed operations, and about one more for the check.
  [[nodiscard]] Seconds visit_time(Seconds each) const;

  /// Whether one of `cases` cases that were measured in turn needs more epochs than those of these medians, which took
  /// it `spent` in all. `resolution`: of the clock.
  [[nodiscard]] bool wants_more(Seconds spent, std::span<const double> medians, Seconds resolution,
                                std::size_t cases) const;

  /// The number of messages in a window, and the time that it takes.
  struct Window {
    std::int64_t messages = 0;
    Seconds time = 0;
  };
  /// Chooses a window of `usual` messages or fewer. A stream runs dry at the end of a window, so a window must be long
  /// enough to make that negligible. On a slow network it must not take the whole time budget, nor may finding that
  /// out: a few messages are tried first, and of large ones a single one. `estimate`: the time of a window of so many.
  [[nodiscard]] Window fit_window(std::int64_t usual, Bytes size,
                                  const std::function<Seconds(std::int64_t messages)>& estimate) const;

 private:
  [[nodiscard]] Seconds longest_window() const;
  [[nodiscard]] std::int64_t fitting_warmup(std::int64_t warmup, std::int64_t fitting) const;

  const Options& options_;
  bool is_stream_;
  bool is_gapless_;
  Seconds lap_cost_;
};

}  // namespace fabricbench
