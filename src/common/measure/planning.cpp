#include "common/measure/planning.h"

#include <algorithm>
#include <cmath>

#include "common/core/statistics.h"

namespace fabricbench {
namespace {

constexpr std::int64_t kBatchesPerVisit = 5;
constexpr std::int64_t kMostIterationsPerVisit = 5000;
constexpr std::int64_t kMostSamplesPerVisit = 1000;
constexpr double kMostClockShare = 0.01;  // of a sample; shorter operations are timed in batches
constexpr Seconds kLeastTime = 1e-9;      // of an operation, where the clock shows none
constexpr Seconds kLeastWindow = 10e-3;   // of a stream
constexpr double kMostEnlarged = 4096;
constexpr double kMostOfBudget = 0.125;  // of the time budget: a stream's longest window, if not of few messages
constexpr double kFewMessages = 4;
constexpr Bytes kLargeMessage = 1 << 20;
constexpr double kWorthwhile = 1.5;        // by which a window grows at least when it is tried again
constexpr std::int64_t kFewestEpochs = 6;  // which an interval takes
constexpr double kLeastEpoch = 0.3;        // of the time budget: the minimum duration of an epoch...
constexpr Seconds kLongEpoch = 0.3;        // ...or its part of the budget, if that is longer than this

}  // namespace

std::int64_t operations_that_fit(Seconds time, Seconds each) {
  return static_cast<std::int64_t>(std::min(time / std::max(each, kLeastTime), 1e9));
}

std::int64_t fit_into_places(std::int64_t places, std::int64_t window, VisitPlan& plan) {
  plan.warmup = std::min(plan.warmup, places / 2);
  window = std::min(window, places / (plan.warmup + 1));
  const std::int64_t timed = places / window - plan.warmup;
  plan.iterations = std::min(plan.iterations, timed);
  plan.samples = std::min(plan.samples, timed / plan.iterations);
  return window;
}

Planner::Planner(const Options& options, const Test& test, Seconds lap_cost)
    : options_(options),
      is_stream_(test.windows() != nullptr && test.windows()->are_stream()),
      is_gapless_(test.traits().row_kind != RowKind::kCollective),
      lap_cost_(lap_cost) {}

VisitPlan Planner::first_plan(std::int64_t window) const {
  VisitPlan plan{.warmup = options_.warmup, .launches = options_.nccl.graph_launches, .gapless = is_gapless_};
  if (!options_.iterations) return plan;
  if (is_stream_) {  // the iterations of -n are the messages of one window, as are those of a warm-up that was given
    if (options_.has_given({"warmup_iters"})) plan.warmup = (plan.warmup + window - 1) / window;
    return plan;
  }
  const bool batch = options_.timing == Timing::kPipelined && !is_gapless_;
  (batch ? plan.iterations : plan.samples) = *options_.iterations;
  return plan;
}

VisitPlan Planner::timed_plan(VisitPlan plan, Seconds each) const {
  const std::int64_t fitting = operations_that_fit(share_of_epoch(), each);
  plan.warmup = fitting_warmup(plan.warmup, fitting);
  const std::int64_t timed = std::max<std::int64_t>(fitting - plan.warmup, 1);
  if (is_gapless_) {
    const double sharing = lap_cost_ / kMostClockShare / std::max(each, kLeastTime);
    plan.iterations = std::max<std::int64_t>(std::llround(sharing), 1);
    plan.samples = std::clamp<std::int64_t>(timed / plan.iterations, 1, kMostSamplesPerVisit);
  } else if (options_.timing == Timing::kIsolated) {
    plan.samples = std::min(timed, kMostSamplesPerVisit);
  } else {
    const std::int64_t batches = timed / std::max<std::int64_t>(plan.launches, 1);
    const std::int64_t iterations = std::clamp<std::int64_t>(batches, 1, kMostIterationsPerVisit);
    plan.samples = std::min(iterations, kBatchesPerVisit);
    plan.iterations = iterations / plan.samples;
  }
  return plan;
}

bool Planner::is_long(const VisitPlan& plan, Seconds each) const {
  const std::int64_t timed = plan.samples * plan.iterations * std::max<std::int64_t>(plan.launches, 1);
  return each * static_cast<double>(plan.warmup + timed) > share_of_epoch();
}

Seconds Planner::share_of_epoch() const {
  return options_.time_budget * kFirstShare / static_cast<double>(options_.epochs);
}

Seconds Planner::least_epoch() const {
  const Seconds part = options_.time_budget / static_cast<double>(options_.epochs);
  return std::min(options_.time_budget * kLeastEpoch, std::max(part, kLongEpoch));
}

std::int64_t Planner::epochs(Seconds each) const {
  if (options_.has_given({"epochs"}) || (is_stream_ && !options_.quick)) return options_.epochs;
  const std::int64_t fewest = options_.quick ? 1 : std::min(options_.epochs, kFewestEpochs);
  return std::clamp(operations_that_fit(options_.time_budget, each), fewest, options_.epochs);
}

Seconds Planner::visit_time(Seconds each) const {
  const std::int64_t fitting = operations_that_fit(share_of_epoch(), each);
  const std::int64_t warmup = fitting_warmup(options_.warmup, fitting);
  const std::int64_t started = warmup + std::max<std::int64_t>(fitting - warmup, 1) + (options_.checks > 0 ? 1 : 0);
  return each * static_cast<double>(started);
}

/// An operation that takes longer than its share has been warmed up by the estimate. A stream's window fits.
std::int64_t Planner::fitting_warmup(std::int64_t warmup, std::int64_t fitting) const {
  const std::int64_t least = is_stream_ ? 1 : 0;
  return options_.has_given({"warmup_iters"}) ? warmup : std::min(warmup, std::max(fitting, least));
}

/// Of few cases, each must fill a large part of a long epoch. For that it may exceed a small time budget, up to the
/// time of twice the minimum number of epochs.
bool Planner::wants_more(Seconds spent, std::span<const double> medians, Seconds resolution, std::size_t cases) const {
  const Seconds epoch = std::min(least_epoch(), kLongEpoch);
  const Seconds filling = 2 * epoch * static_cast<double>(options_.epochs) / static_cast<double>(cases);
  if (spent >= std::max(options_.time_budget, filling)) return false;
  const auto interval = median_interval(medians);
  if (!interval) return true;
  return widened(*interval, resolution).half_width() * 100 > options_.target_precision_percent;
}

/// The time that a window may take, if it has more than a few messages. One that is answered is as the user wants it
/// unless it takes the whole time.
Seconds Planner::longest_window() const {
  if (is_stream_) return std::max(options_.time_budget * kMostOfBudget, kLeastWindow);
  constexpr Seconds kAny = 1e9;
  if (options_.quick) return std::max(options_.time_budget / 4, kLeastWindow);
  return options_.has_given({"window"}) ? kAny : std::max(options_.time_budget, kLeastWindow);
}

Planner::Window Planner::fit_window(std::int64_t usual, Bytes size,
                                    const std::function<Seconds(std::int64_t messages)>& estimate) const {
  const auto most = static_cast<double>(usual);
  double messages = std::min(most, size >= kLargeMessage ? 1.0 : kFewMessages);
  Seconds time = 0;
  for (bool tries = true; tries;) {
    time = std::max(estimate(static_cast<std::int64_t>(messages)), kLeastTime);
    const double fitting = std::clamp(messages * longest_window() / time, messages, most);
    tries = fitting >= kWorthwhile * messages;
    if (tries) messages = fitting;
  }
  if (!is_stream_) return {static_cast<std::int64_t>(messages), time};
  const auto enlarged = static_cast<std::int64_t>(messages * std::clamp(kLeastWindow / time, 1.0, kMostEnlarged));
  return {enlarged, time * static_cast<double>(enlarged) / messages};
}

}  // namespace fabricbench
