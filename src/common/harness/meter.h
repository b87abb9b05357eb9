#pragma once

#include <cstdint>
#include <vector>

#include "common/core/options.h"
#include "common/core/samples.h"
#include "common/harness/operation.h"
#include "common/harness/watchdog.h"
#include "common/mpi/common_clock.h"
#include "common/mpi/communicator.h"

namespace fabricbench {

/// What one visit to a case does; the same on every rank.
struct VisitPlan {
  std::int64_t warmup = 0;
  std::int64_t samples = 1;     ///< pipelined: batches; isolated: iterations
  std::int64_t iterations = 1;  ///< in a sample
  bool common_start = true;     ///< isolated: start by the common clock, not by a barrier

  /// Operations that the visit starts in all, of `aggregated` in an iteration.
  [[nodiscard]] std::int64_t starts(std::int64_t aggregated) const {
    return (warmup + samples * iterations) * aggregated;
  }
};

/// The clocks around the operations: the timed loops, and the reduction of what they measured over the ranks.
class Meter {
 public:
  Meter(const mpi::Communicator& world, mpi::CommonClock& clock, const Options& options, Heartbeat& heartbeat);

  /// One visit; collective. The result is filled in on rank 0; `common_start` on every rank.
  [[nodiscard]] Epoch measure(Operation& operation, const VisitPlan& plan);

  /// About how long an operation takes, agreed among the ranks: the longest rank's mean over a
  /// few milliseconds of untimed iterations.
  [[nodiscard]] Seconds estimate(Operation& operation, std::int64_t warmup);

  /// What an isolated iteration costs besides the operation, about.
  [[nodiscard]] Seconds start_cost() const;

 private:
  /// Clock readings of one isolated iteration on this rank.
  struct Stamp {
    Seconds due;    // the agreed start, common clock
    Seconds began;  // own clock
    Seconds ended;  // own clock
    bool late;
  };
  /// Of one batch, per operation.
  struct BatchTimes {
    Seconds started;
    Seconds completed;
  };

  [[nodiscard]] Epoch measure_once(Operation& operation, const VisitPlan& plan);
  void run(Operation& operation, std::int64_t iterations);
  [[nodiscard]] Epoch pipelined(Operation& operation, const VisitPlan& plan);
  [[nodiscard]] Epoch isolated(Operation& operation, const VisitPlan& plan);
  [[nodiscard]] BatchTimes time_batch(Operation& operation, std::int64_t iterations);
  [[nodiscard]] Seconds time_each(Operation& operation, std::int64_t iterations);
  [[nodiscard]] Stamp time_from_common_start(Operation& operation);
  [[nodiscard]] Stamp time_from_barrier(Operation& operation);
  void choose_slack();
  void adapt_slack(double late_share);
  void reduce(const std::vector<Seconds>& durations, Epoch& epoch) const;
  [[nodiscard]] bool keep_timely(const std::vector<Stamp>& stamps, Epoch& epoch);

  const mpi::Communicator& world_;
  mpi::CommonClock& clock_;
  const Options& options_;
  Heartbeat& heartbeat_;
  Seconds slack_;     // rank 0: from agreeing on a start to that start
  Seconds punctual_;  // an operation that begins so long after the agreed start still began in time
};

}  // namespace fabricbench
