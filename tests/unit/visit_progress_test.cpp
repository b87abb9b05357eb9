// What is told of a visit that takes long: the operations so far and the time left.

#include "common/measure/visit_progress.h"

#include <gtest/gtest.h>

namespace fabricbench {
namespace {

TEST(VisitProgress, TellsTheTimeLeft) {
  EXPECT_EQ(visit_progress_text(250, 1000, 5), "250 of 1000 operations, about 15 s left");
}

TEST(VisitProgress, TellsHowLongItTakesWhereOperationsAreNotCounted) {
  EXPECT_EQ(visit_progress_text(0, 1000, 12), "for 12 s");
  EXPECT_EQ(visit_progress_text(1000, 1000, 12), "for 12 s") << "a device may still work on them";
}

TEST(VisitProgress, EndsWithTheVisit) {
  Progress progress(ProgressForm::kOneLine);
  const Heartbeat heartbeat;
  const VisitProgress telling(progress, heartbeat, "measurement 1 of 1", 10);
}

}  // namespace
}  // namespace fabricbench
