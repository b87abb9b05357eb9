#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "common/core/options.h"
#include "common/core/session.h"
#include "common/core/statistics.h"
#include "common/host/tick_counter.h"
#include "common/host/topology.h"
#include "common/measure/operation.h"
#include "common/mpi/common_clock.h"
#include "common/ranks/team.h"
#include "common/watch/watchdog.h"

namespace fabricbench {

/// The plan of one visit to a case; the same on every process.
struct VisitPlan {
  std::int64_t warmup = 0;
  std::int64_t samples = 1;     ///< pipelined: batches; isolated: iterations
  std::int64_t iterations = 1;  ///< in a sample
  bool common_start = true;     ///< isolated: start by the common clock, not by a barrier
  std::int64_t launches = 0;    ///< launches of each batch, which is recorded once per visit; 0: not recorded
  bool gapless = false;         ///< pipelined: a sample begins where the previous one ends

  /// The number of operations that the visit starts, with `aggregated` of them per iteration.
  [[nodiscard]] std::int64_t starts(std::int64_t aggregated) const {
    const std::int64_t batches = launches > 0 ? 1 : samples;
    return (warmup + batches * iterations) * aggregated;
  }
  /// Of these, the timed ones.
  [[nodiscard]] std::int64_t timed(std::int64_t aggregated) const { return starts(aggregated) - warmup * aggregated; }
};

/// How long this thread has been idle so far. Unknown with a device: a thread may sleep while the device works.
[[nodiscard]] IdleTime idle_until(Session& session, Seconds time);

/// What is done before and after each operation, outside its time; only where operations are timed one by one.
struct AroundEach {
  std::function<void()> before;  ///< empty, like the next one: nothing
  std::function<void()> after;
};

/// The duration of one clock read: the median of many.
[[nodiscard]] Seconds timer_cost();

/// The timed loops with their clock reads, and the reduction of the times over the ranks.
class Meter {
 public:
  Meter(const Team& team, Session& session, mpi::CommonClock& clock, const Options& options, Heartbeat& heartbeat);

  /// One visit; collective. The result is filled in on the first process of each group; `common_start` and
  /// `own_times` on every process.
  [[nodiscard]] Epoch measure(Operation& operation, const VisitPlan& plan, const AroundEach& around = {});

  /// The session's counters after the warm-up of the last `measure`.
  [[nodiscard]] const TransportCounters& counted_before() const { return counted_before_; }

  /// Launches the batch that `measure` has recorded once more, on buffers prepared anew.
  void replay(Operation& operation, const VisitPlan& plan);
  /// Records one operation and launches it on fresh data.
  void run_recorded(Operation& operation);

  /// One iteration without a clock. `phase`, `longer_s`: for the watchdog (Heartbeat::enter).
  void run_untimed(Operation& operation, Phase phase = Phase::kWarmUp, Seconds longer_s = 0);

  /// The approximate time of an operation, agreed among all processes: each takes the mean over a few milliseconds of
  /// untimed iterations, and the maximum counts. Isolated: with all that comes with a sample. With --quick one that
  /// takes longer than its time is not repeated. `check`: what is done with messages that have places of their own,
  /// after each time that so many of them were started.
  using Check = std::function<void(std::int64_t starts)>;
  [[nodiscard]] Seconds estimate(Operation& operation, std::int64_t warmup, const Check& check = {});

  /// Isolated: the time from the agreement on a start to that start. Collective.
  [[nodiscard]] Seconds slack() const { return team_.world().broadcast(slack_); }

  /// The time between the end of a gapless sample and the start of the next, the maximum over ranks.
  [[nodiscard]] Seconds lap_cost() const { return lap_cost_; }

  /// Where this process ran at the end of each gapless visit so far, of some thousands.
  [[nodiscard]] const std::vector<host::Processor>& processors() const { return processors_; }

 private:
  /// Durations of operations, for each of this process's ranks.
  using Times = std::vector<std::vector<Seconds>>;

  /// How one isolated iteration started on this process.
  struct Start {
    Seconds due;    // the agreed start, common clock
    Seconds began;  // own clock
    bool late;
  };
  /// Of one batch, per operation.
  struct BatchTimes {
    std::vector<Seconds> completed;  // by rank of this process
    Seconds started;
    Seconds on_host;
  };

  /// The operations between two readings of the clock.
  [[nodiscard]] double operations_per_sample(const Operation& operation, const VisitPlan& plan) const;
  [[nodiscard]] bool times_each_on_device(const VisitPlan& plan) const;
  [[nodiscard]] Epoch measure_once(Operation& operation, const VisitPlan& plan, const AroundEach& around);
  void repeat(Operation& operation, std::int64_t iterations);
  void record(Operation& operation, const VisitPlan& plan);
  [[nodiscard]] Epoch pipelined(Operation& operation, const VisitPlan& plan);
  /// The functions that every message passes through, here and in the verbs backend, are marked hot, so that the linker
  /// places them side by side. Spread over a dozen pages, they made a request about 1 % slower.
  [[nodiscard, gnu::hot]] Epoch gapless(Operation& operation, const VisitPlan& plan);
  [[nodiscard]] std::vector<Seconds> times_of_own_direction(const std::vector<Seconds>& times,
                                                            const std::vector<Seconds>& until_received,
                                                            double count) const;
  void add_up_directions(const std::vector<Seconds>& own_times, Epoch& epoch) const;
  [[nodiscard]] Epoch isolated(Operation& operation, const VisitPlan& plan, const AroundEach& around);
  [[nodiscard]] Epoch each_on_device(Operation& operation, const VisitPlan& plan);
  [[nodiscard]] BatchTimes time_batch(Operation& operation, const VisitPlan& plan);
  [[nodiscard]] Seconds time_each(Operation& operation, std::int64_t iterations);
  [[nodiscard]] Start start_together(Operation& operation, const VisitPlan& plan, Times& times);
  [[nodiscard]] Seconds agreed_start();
  [[nodiscard]] Seconds estimate_isolated(Operation& operation, const Check& check);
  void add_durations(Seconds on_host, double operations, Times& times) const;
  void choose_slack();
  void adapt_slack(double late_share);
  void note_processor();
  void await_others(const Operation& operation) const;
  void reduce(const Times& times, Epoch& epoch) const;
  void average(const Times& times, Epoch& epoch) const;
  [[nodiscard]] bool keep_timely(const std::vector<Start>& starts, Times times, Epoch& epoch);

  const Team& team_;
  Session& session_;
  DeviceClock* device_;  // null: the host's clock is the only one
  mpi::CommonClock& clock_;
  const Options& options_;
  Heartbeat& heartbeat_;
  int first_rank_;  // of this process, in its group
  host::TickCounter laps_;
  Seconds lap_cost_;
  Seconds slack_;  // on the job's first process: time from the agreement on a start to that start
  std::vector<host::Processor> processors_;
  TransportCounters counted_before_;
  Seconds punctual_;  // tolerance: an operation that begins this long after the agreed start is not late
};

}  // namespace fabricbench
