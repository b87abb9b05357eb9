#pragma once

#include <cstdint>
#include <optional>

#include "cluster/sweep/steps.h"
#include "common/record/reading.h"
#include "common/record/sweep_plan.h"

namespace fabricbench::sweep {

/// From where the first endpoint takes the steps of a sweep, one by one.
class StepSource {
 public:
  StepSource() = default;
  StepSource(const StepSource&) = delete;
  StepSource& operator=(const StepSource&) = delete;
  virtual ~StepSource() = default;

  /// Nothing: the sweep is over.
  [[nodiscard]] virtual std::optional<Step> next() = 0;
  /// Is told every reading of the step under way.
  virtual void note(const PairReading& /*reading*/) {}
  /// How many steps are left, about, after the one that `next` gave last.
  [[nodiscard]] virtual std::int64_t left() const = 0;
  /// At the end: what the readings say; nothing where nobody asks.
  [[nodiscard]] virtual std::optional<SweepVerdict> verdict() { return std::nullopt; }
  /// Readings that were taken over from an earlier job.
  [[nodiscard]] virtual std::int64_t taken_over() const { return 0; }
};

/// Those of a schedule, whatever they find.
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
