// What a sweep measures next: steps, from a schedule or planned round by round from the readings so far.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cluster/pairs/planning/planner.h"
#include "cluster/pairs/readings.h"
#include "cluster/pairs/verdict.h"
#include "cluster/sweep/flow.h"
#include "common/core/options.h"
#include "common/core/ownership.h"
#include "common/core/schedule.h"
#include "common/record/reading.h"
#include "common/record/sweep_plan.h"

namespace fabricbench::sweep {

[[nodiscard]] SchedulePlan plan_of(const Options& options, int endpoints, std::uint64_t seed);

/// Flows at the same time: the meetings of a round in one direction. A round of mpiGraph has only one.
struct SweepStep {
  std::int64_t number = 0;  ///< from 0
  std::int64_t round = 0;
  bool back = false;  ///< from the second endpoint of each meeting to the first
  std::vector<Pair> meetings{};

  /// Whether the latency is measured too: it is the same both ways.
  [[nodiscard]] bool pings() const { return !back; }
};

/// What `endpoint` sends and receives in a step; empty if it is idle.
[[nodiscard]] Flows flows_of(const SweepStep& step, int endpoint);
/// The same for all endpoints, by endpoint.
[[nodiscard]] std::vector<Flows> flows_of_all(const SweepStep& step, int endpoints);

/// The source from which the first endpoint takes the steps of a sweep, one by one.
class StepSource : public InterfaceBase {
 public:
  /// The next step; empty: the sweep is over.
  [[nodiscard]] virtual std::optional<SweepStep> next() = 0;
  /// Called with every reading of the current step.
  virtual void note(const PairReading& /*reading*/) {}
  /// The approximate number of steps after the last one that `next` returned.
  [[nodiscard]] virtual std::int64_t left() const = 0;
  /// The verdict on the readings, at the end; empty if none was asked for.
  [[nodiscard]] virtual std::optional<SweepVerdict> verdict() { return std::nullopt; }
  /// The number of readings from earlier jobs.
  [[nodiscard]] virtual std::int64_t taken_over() const { return 0; }
};

/// The steps of a schedule, whatever the readings; computed one by one.
class ScheduledSteps final : public StepSource {
 public:
  ScheduledSteps(const Options& options, int endpoints, std::uint64_t seed);

  [[nodiscard]] std::int64_t count() const { return schedule_.rounds() * per_round_; }
  [[nodiscard]] SweepStep step(std::int64_t number) const;
  [[nodiscard]] std::optional<SweepStep> next() override {
    return next_ < count() ? std::optional(step(next_++)) : std::nullopt;
  }
  [[nodiscard]] std::int64_t left() const override { return count() - next_; }

 private:
  Schedule schedule_;
  std::int64_t per_round_;
  std::int64_t next_ = 0;
};

/// The largest number of endpoints for which the table draws the matrix.
constexpr std::size_t kMostDrawn = 64;

/// The plan from the options, for this many endpoints.
[[nodiscard]] cluster::SweepPlan sweep_plan_of(const Options& options, int endpoints, std::uint64_t seed);

/// The maximum number of rounds of a sweep.
[[nodiscard]] std::int64_t most_rounds(const Options& options, int endpoints);

/// The readings of a sweep's earlier jobs, for --measured.
struct Measured {
  std::vector<std::string> hosts;          ///< of the whole sweep, in its order; empty: there was no earlier job
  std::vector<cluster::Reading> readings;  ///< their hosts are indices into `hosts`
};

/// Reads the output of plan_sweep --list-readings: lines of fields with tabs between them, `host NAME` and `reading
/// ROUND CONCURRENT FROM TO RATE`, where RATE is bytes per second (0: ranks waited for a processor), `failed`, `wrong`
/// or `not_tried`. Throws Error (missing) if the file cannot be read, and UsageError that names the first line in
/// another form.
[[nodiscard]] Measured read_measured(const std::string& path);

/// An endpoint, with the facts that a planned sweep needs.
struct NamedEndpoint {
  std::string name;
  std::string host;
};

/// Steps that are planned round by round from the readings so far; with --find the verdict on these counts too. Memory
/// grows with the readings.
class PlannedSteps final : public StepSource {
 public:
  /// `measured`: from earlier jobs; hosts that are not endpoints of this job are left out. With --find, `tell` is
  /// called with every round before its first step. Throws UsageError if the earlier jobs had none of these endpoints.
  PlannedSteps(const Options& options, const std::vector<NamedEndpoint>& endpoints, std::uint64_t seed,
               const Measured& measured, std::function<void(const SweepRound&)> tell);

  [[nodiscard]] std::optional<SweepStep> next() override;
  void note(const PairReading& reading) override;
  [[nodiscard]] std::int64_t left() const override { return left_; }
  [[nodiscard]] std::optional<SweepVerdict> verdict() override;
  [[nodiscard]] std::int64_t taken_over() const override { return taken_over_; }

 private:
  void name_endpoints(const std::vector<NamedEndpoint>& endpoints, const Measured& measured);
  void group_by_host(const std::vector<NamedEndpoint>& endpoints);
  void plan_round();
  [[nodiscard]] cluster::Verdict judged() const;

  const Options& options_;
  std::function<void(const SweepRound&)> tell_;
  cluster::Sweep sweep_;
  std::vector<std::int32_t> host_of_;  // by endpoint: its index in the sweep
  std::vector<int> endpoint_of_;       // by index in the sweep; -1: in an earlier job only
  std::optional<cluster::Planner> planner_;
  cluster::PlannedRound round_;
  std::int64_t steps_ = 0;
  std::int64_t left_ = 0;
  std::int64_t taken_over_ = 0;
};

/// A layout of a sweep's hosts, converted to endpoints. `endpoint_of`: each host's endpoint, below 0 if it has none.
[[nodiscard]] HeatLayout layout_of_endpoints(const HeatLayout& layout, const std::vector<int>& endpoint_of);

/// The verdict on a sweep, in the form for people and files.
[[nodiscard]] SweepVerdict reported(const cluster::Verdict& verdict, const cluster::Sweep& sweep,
                                    const std::string& why_over);

}  // namespace fabricbench::sweep
