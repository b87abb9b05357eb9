// How the time of a case is divided: pure functions of the options and of what an operation takes.

#include "common/measure/planning.h"

#include <gtest/gtest.h>

#include <vector>

#include "common/measure/message_test.h"

namespace fabricbench {
namespace {

/// Messages in windows that are answered, or that follow each other.
class Messages final : public MessageTest, private Windows {
 public:
  explicit Messages(bool stream)
      : MessageTest({.name = "messages", .row_kind = RowKind::kBandwidth}), stream_(stream) {}
  [[nodiscard]] const Windows* windows() const override { return this; }
  void start(Backend& /*backend*/, const Operands& /*operands*/) const override {}

 private:
  void finish(Backend& /*backend*/, const Operands& /*operands*/) const override {}
  void answer(Backend& /*backend*/, const Operands& /*operands*/) const override {}
  [[nodiscard]] bool are_stream() const override { return stream_; }

  bool stream_;
};

/// Nothing but its figure matters here.
class Operations final : public Test {
 public:
  Operations() : Test({.name = "operations", .row_kind = RowKind::kCollective}) {}
  [[nodiscard]] Layout layout(Request /*request*/, int /*ranks*/) const override { return {}; }
  [[nodiscard]] std::vector<ExpectedBlock> expected(const Layout& /*layout*/,
                                                    const Participant& /*self*/) const override {
    return {};
  }
  [[nodiscard]] double bus_factor(int /*ranks*/) const override { return 1; }
  void start(Backend& /*backend*/, const Operands& /*operands*/) const override {}
};

/// A share of an epoch of 90 ms.
Options usual() {
  Options options;
  options.time_budget = 1.62;
  options.epochs = 9;
  options.warmup = 3;
  return options;
}

VisitPlan plan_of(const Options& options, const Test& test, Seconds each, Seconds lap_cost = 0) {
  const Planner planner(options, test, lap_cost);
  return planner.timed_plan(planner.first_plan(64), each);
}

TEST(Planning, AVisitTakesItsShareOfAnEpoch) {
  const VisitPlan plan = plan_of(usual(), Operations(), 0.09 / 103.5);
  EXPECT_EQ(plan.warmup, 3);
  EXPECT_EQ(plan.samples, 5) << "batches";
  EXPECT_EQ(plan.iterations, 20);
  EXPECT_FALSE(Planner(usual(), Operations(), 0).is_long(plan, 0.09 / 103.5));
}

TEST(Planning, AnIsolatedVisitHasASampleForEachOperation) {
  Options options = usual();
  options.timing = Timing::kIsolated;
  const VisitPlan plan = plan_of(options, Operations(), 0.09 / 103.5);
  EXPECT_EQ(plan.samples, 100);
  EXPECT_EQ(plan.iterations, 1);
}

TEST(Planning, LongOperationsRunOnceAndInFewerEpochs) {
  const Options options = usual();
  const Planner planner(options, Operations(), 0);
  const VisitPlan plan = plan_of(options, Operations(), 0.5);
  EXPECT_EQ(plan.warmup, 0) << "the estimate has warmed them up";
  EXPECT_EQ(plan.samples * plan.iterations, 1);
  EXPECT_TRUE(planner.is_long(plan, 0.5));
  EXPECT_EQ(planner.epochs(1e-3), 9);
  EXPECT_EQ(planner.epochs(0.22), 7);
  EXPECT_EQ(planner.epochs(0.5), 6) << "which an interval takes";
  EXPECT_EQ(planner.visit_time(0.5), 1.0) << "and once more for the check";
  Options given = usual();
  given.given = {{.key = "epochs", .name = "--epochs"}};
  EXPECT_EQ(Planner(given, Operations(), 0).epochs(0.5), 9);
}

TEST(Planning, ShortMessagesShareAReadingOfTheClock) {
  const Messages messages(true);
  const VisitPlan plan = plan_of(usual(), messages, 1e-6, 50e-9);
  EXPECT_EQ(plan.iterations, 5) << "5 us, of which 50 ns are 1 %";
  EXPECT_EQ(plan.samples, 1000);
  EXPECT_EQ(plan_of(usual(), messages, 1e-6, 0).iterations, 1) << "a device's clock times each";
}

TEST(Planning, AnExactNumberIsOneBatchOrAsManySamples) {
  Options options = usual();
  options.iterations = 20;
  const auto first = [&options](const fabricbench::Test& test) { return Planner(options, test, 0).first_plan(8); };
  EXPECT_EQ(first(Operations()).iterations, 20);
  EXPECT_EQ(first(Operations()).samples, 1);
  EXPECT_EQ(first(Messages(false)).samples, 20);
  EXPECT_EQ(first(Messages(true)).samples, 1) << "a window of 20";
  EXPECT_EQ(first(Messages(true)).warmup, 3);
  options.given = {{.key = "warmup_iters", .name = "-w"}};
  options.warmup = 20;
  EXPECT_EQ(first(Messages(true)).warmup, 3) << "windows of 8 messages";
}

TEST(Planning, EpochsEndWhenTheyArePreciseOrOutOfTime) {
  const Options options = usual();
  const Planner planner(options, Operations(), 0);
  const std::vector<double> alike(9, 1e-3);
  const std::vector<double> unlike{1e-3, 2e-3, 1e-3, 2e-3, 1e-3, 2e-3, 1e-3, 2e-3, 1e-3};
  EXPECT_FALSE(planner.wants_more(0.5, alike, 0, 100));
  EXPECT_TRUE(planner.wants_more(0.5, alike, 0.5e-3, 100)) << "the clock is too coarse to tell";
  EXPECT_TRUE(planner.wants_more(0.5, unlike, 0, 100));
  EXPECT_FALSE(planner.wants_more(1.62, unlike, 0, 100));
  EXPECT_TRUE(planner.wants_more(1.62, unlike, 0, 1)) << "one that fills the epochs by itself may take longer";
}

TEST(Planning, AWindowOfAStreamIsLongEnoughToHideItsEnds) {
  const Options options = usual();
  const auto time_of = [](std::int64_t messages) { return 1e-6 * static_cast<double>(messages); };
  const Planner::Window window = Planner(options, Messages(true), 0).fit_window(64, 4096, time_of);
  EXPECT_NEAR(window.time, 10e-3, 1e-6);
  EXPECT_EQ(window.messages, 10000);
  EXPECT_EQ(Planner(options, Messages(false), 0).fit_window(64, 4096, time_of).messages, 64) << "answered: as usual";
}

TEST(Planning, AWindowOfASlowLinkFitsIntoTheBudget) {
  const Options options = usual();
  std::vector<std::int64_t> tried;
  const auto time_of = [&tried](std::int64_t messages) {
    tried.push_back(messages);
    return 0.1 * static_cast<double>(messages);
  };
  const Planner::Window window = Planner(options, Messages(false), 0).fit_window(64, 4 << 20, time_of);
  EXPECT_EQ(window.messages, 16);
  EXPECT_EQ(tried, (std::vector<std::int64_t>{1, 16})) << "a single one of large messages first";
}

TEST(Planning, AVisitHasNoMoreOperationsThanPlaces) {
  VisitPlan plan{.warmup = 3, .samples = 5, .iterations = 20};
  EXPECT_EQ(fit_into_places(1000, 10, plan), 10);
  EXPECT_EQ(plan.iterations * plan.samples, 80);
  EXPECT_EQ(fit_into_places(40, 100, plan), 10) << "with three windows to warm up";
  EXPECT_EQ(plan.starts(10), 40);
}

}  // namespace
}  // namespace fabricbench
