#pragma once

#include <cstdint>
#include <optional>

#include "cluster/sweep/steps.h"
#include "common/core/not_copied.h"
#include "common/record/reading.h"
#include "common/record/sweep_plan.h"

namespace fabricbench::sweep {

/// The source from which the first endpoint takes the steps of a sweep, one by one.
class StepSource : public InterfaceBase {
 public:
  /// The next step; empty: the sweep is over.
  [[nodiscard]] virtual std::optional<Step> next() = 0;
  /// Called with every reading of the current step.
  virtual void note(const PairReading& /*reading*/) {}
  /// The approximate number of steps after the last one that `next` returned.
  [[nodiscard]] virtual std::int64_t left() const = 0;
  /// The verdict on the readings, at the end; empty if none was asked for.
  [[nodiscard]] virtual std::optional<SweepVerdict> verdict() { return std::nullopt; }
  /// The number of readings from earlier jobs.
  [[nodiscard]] virtual std::int64_t taken_over() const { return 0; }
};

/// The steps of a schedule, whatever the readings.
class ScheduledSteps final : public StepSource {
 public:
  explicit ScheduledSteps(const Steps& steps) : steps_(steps) {}

  [[nodiscard]] std::optional<Step> next() override {
    return next_ < steps_.count() ? std::optional(steps_.step(next_++)) : std::nullopt;
  }
  [[nodiscard]] std::int64_t left() const override { return steps_.count() - next_; }

 private:
  Steps steps_;
  std::int64_t next_ = 0;
};

}  // namespace fabricbench::sweep
