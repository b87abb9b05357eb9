#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cluster/planning/planner.h"
#include "cluster/readings.h"
#include "cluster/sweep/measured.h"
#include "cluster/sweep/step_source.h"
#include "cluster/verdict.h"
#include "common/core/options.h"

namespace fabricbench::sweep {

/// Endpoints whose matrix the table draws.
constexpr std::size_t kMostDrawn = 64;

/// The plan that the options ask for, of so many endpoints.
[[nodiscard]] cluster::SweepPlan sweep_plan_of(const Options& options, int endpoints, std::uint64_t seed);

/// Rounds that a sweep has at most.
[[nodiscard]] std::int64_t most_rounds(const Options& options, int endpoints);

/// An endpoint as a sweep that is planned knows it.
struct NamedEndpoint {
  std::string name;
  std::string host;
};

/// Steps that are planned round by round from what has been measured: with --find from what that says too. Memory grows
/// with the readings.
class PlannedSteps final : public StepSource {
 public:
  /// `measured`: by earlier jobs; hosts of it that are no endpoints of this one are left out. `tell` is given every
  /// round before its first step, with --find. Throws UsageError where the earlier jobs had none of these endpoints.
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
  std::vector<std::int32_t> host_of_;  // by endpoint: its place in the sweep
  std::vector<int> endpoint_of_;       // by place in the sweep; -1: of an earlier job only
  std::optional<cluster::Planner> planner_;
  cluster::PlannedRound round_;
  std::int64_t steps_ = 0;
  std::int64_t left_ = 0;
  std::int64_t taken_over_ = 0;
};

/// A layout of a sweep's hosts as one of those that are endpoints: by host its endpoint, below 0 of one that is none.
[[nodiscard]] HeatLayout layout_of_endpoints(const HeatLayout& layout, const std::vector<int>& endpoint_of);

/// What the verdict on a sweep is for people and for files.
[[nodiscard]] SweepVerdict reported(const cluster::Verdict& verdict, const cluster::Sweep& sweep,
                                    const std::string& why_over);

}  // namespace fabricbench::sweep
