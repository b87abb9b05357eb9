// What is told of a visit that takes long: the operations so far and the time left.

#include "common/measure/bench_progress.h"

#include <gtest/gtest.h>

namespace fabricbench {
namespace {

TEST(VisitProgress, TellsTheTimeLeft) {
  EXPECT_EQ(time_left(250, 1000, 5, 0), 15);
  EXPECT_EQ(time_left(250, 1000, 5, 2.5), 15 + 50) << "with what follows";
}

TEST(VisitProgress, DoesNotKnowItWhereOperationsAreNotCounted) {
  EXPECT_FALSE(time_left(0, 1000, 12, 0));
  EXPECT_FALSE(time_left(1000, 1000, 12, 0)) << "a device may still work on them";
}

TEST(VisitProgress, EndsWithTheVisit) {
  Progress progress(ProgressForm::kOneLine);
  const Heartbeat heartbeat;
  const std::jthread telling = follow_visit(progress, heartbeat, "measurement 1 of 1", 10, 0);
}

}  // namespace
}  // namespace fabricbench
