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
#include "cluster/sweep/measured.h"
#include "cluster/sweep/step_source.h"
#include "common/core/options.h"

namespace fabricbench::sweep {

/// The largest number of endpoints for which the table draws the matrix.
constexpr std::size_t kMostDrawn = 64;

/// The plan from the options, for this many endpoints.
[[nodiscard]] cluster::SweepPlan sweep_plan_of(const Options& options, int endpoints, std::uint64_t seed);

/// The maximum number of rounds of a sweep.
[[nodiscard]] std::int64_t most_rounds(const Options& options, int endpoints);

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

  [[nodiscard]] std::optional<Step> next() override;
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
