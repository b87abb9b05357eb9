#include "common/engine/setup.h"

#include <gtest/gtest.h>

#include <string>

#include "common/core/error.h"
#include "common/measure/workspace.h"

using namespace fabricbench;

namespace memory_plan_test {

constexpr Bytes kMiB = Bytes{1} << 20;

Options options_from_to(Bytes first, Bytes last) {
  Options options;
  options.sizes = {first, last, 0, 2};
  return options;
}

/// What a rank would really allocate for a plan.
Bytes allocated(const MemoryPlan& plan, const Options& options) {
  return allocated_bytes(plan.pool_bytes, options.unalign) * (options.placement == Placement::kIn ? 1 : 2);
}

TEST(MemoryPlan, LeavesASweepThatFitsAsItIs) {
  const MemoryPlan plan = plan_memory(options_from_to(8, 64 * kMiB), 1024 * kMiB, 0);
  EXPECT_EQ(plan.max_bytes, 64 * kMiB);
  EXPECT_EQ(plan.pool_bytes, 64 * kMiB);
  EXPECT_TRUE(plan.notices.empty());
}

TEST(MemoryPlan, TakesAllThereIsAndNoMore) {
  Options options = options_from_to(8, 100 * kMiB);
  const Bytes exact = 2 * allocated_bytes(100 * kMiB, 0);
  EXPECT_TRUE(plan_memory(options, exact, 0).notices.empty());
  EXPECT_EQ(plan_memory(options, exact - 2, 0).notices.size(), 1U);
  for (const std::int64_t unalign : {0, 1, 1000}) {
    for (const Placement placement : {Placement::kOut, Placement::kIn, Placement::kBoth}) {
      options.unalign = unalign;
      options.placement = placement;
      const MemoryPlan plan = plan_memory(options, 30 * kMiB + 5, 0);
      EXPECT_LE(allocated(plan, options), 30 * kMiB + 5);
      EXPECT_GT(allocated(plan, options), 30 * kMiB - 64) << "it wastes memory";
    }
  }
}

TEST(MemoryPlan, LowersTheLastSizeAndSaysSoInTheWordsOfNcclTests) {
  const MemoryPlan plan = plan_memory(options_from_to(8, 1024 * kMiB), 20 * kMiB, 0);
  EXPECT_LT(plan.max_bytes, 10 * kMiB);
  EXPECT_EQ(plan.max_bytes % 16, 0U);
  EXPECT_EQ(plan.pool_bytes, plan.max_bytes);
  ASSERT_EQ(plan.notices.size(), 1U);
  EXPECT_EQ(plan.notices.front(), "Reducing maxBytes to " + std::to_string(plan.max_bytes) +
                                      " due to memory limitation: 20 MiB per rank is available for 2 buffers");
}

TEST(MemoryPlan, NeedsOneBufferInPlaceOnly) {
  Options options = options_from_to(8, 15 * kMiB);
  EXPECT_FALSE(plan_memory(options, 20 * kMiB, 0).notices.empty());
  options.placement = Placement::kIn;
  EXPECT_TRUE(plan_memory(options, 20 * kMiB, 0).notices.empty());
  options.placement = Placement::kOut;
  EXPECT_FALSE(plan_memory(options, 20 * kMiB, 0).notices.empty());
}

std::string refusal(const Options& options, Bytes per_rank) {
  try {
    (void)plan_memory(options, per_rank, 0);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kMissing);
    return error.what();
  }
  return "";
}

TEST(MemoryPlan, RefusesWhereEvenTheSmallestMessageDoesNotFitAndGivesTheFigures) {
  const std::string message = refusal(options_from_to(64 * kMiB, 64 * kMiB), 20 * kMiB);
  for (const std::string part : {"64 MiB", "128.0 MiB", "2 buffers", "20 MiB", "lower --min-bytes"}) {
    EXPECT_NE(message.find(part), std::string::npos) << part << " in: " << message;
  }
  Options options = options_from_to(64 * kMiB, 64 * kMiB);
  options.placement = Placement::kIn;
  EXPECT_NE(refusal(options, 20 * kMiB).find("1 buffer,"), std::string::npos) << refusal(options, 20 * kMiB);
  EXPECT_EQ(refusal(options, 65 * kMiB), "");
  EXPECT_NE(refusal(options_from_to(8, 8), 0), "");
}

TEST(MemoryPlan, GivesRightFiguresForTheLargestSizeThereIs) {
  constexpr Bytes kLargest = (Bytes{1} << 63) - 1;
  const std::string message = refusal(options_from_to(kLargest, kLargest), 20 * kMiB);
  EXPECT_EQ(message.find("KiB"), std::string::npos) << message;  // what two buffers take must not wrap around
}

TEST(MemoryPlan, NeverLowersTheLastSizeBelowTheFirst) {
  // 1005 bytes a message can be had: the first size fits, and a cut to whole 16 bytes would not.
  const Bytes per_rank = 2 * allocated_bytes(1005, 0);
  const MemoryPlan plan = plan_memory(options_from_to(1003, 2000), per_rank, 0);
  EXPECT_GE(plan.max_bytes, 1003U);
  EXPECT_LE(plan.max_bytes, 1005U);
}

TEST(MemoryPlan, RotatesColdBuffersThroughThePoolThatWasAskedFor) {
  Options options = options_from_to(8, kMiB);
  EXPECT_EQ(plan_memory(options, 1024 * kMiB, 64 * kMiB).pool_bytes, kMiB) << "--buffers same";
  options.buffers = BufferPolicy::kCold;
  const MemoryPlan plan = plan_memory(options, 1024 * kMiB, 64 * kMiB);
  EXPECT_EQ(plan.max_bytes, kMiB);
  EXPECT_EQ(plan.pool_bytes, 64 * kMiB);
  EXPECT_TRUE(plan.notices.empty());
  EXPECT_EQ(plan_memory(options, 1024 * kMiB, 1024).pool_bytes, kMiB) << "the largest message must fit";
}

TEST(MemoryPlan, SaysWhereThePoolCannotBeAsLargeAsAskedFor) {
  Options options = options_from_to(8, kMiB);
  options.buffers = BufferPolicy::kCold;
  const MemoryPlan plan = plan_memory(options, 20 * kMiB, 64 * kMiB);
  EXPECT_EQ(plan.max_bytes, kMiB);
  EXPECT_LE(allocated(plan, options), 20 * kMiB);
  ASSERT_EQ(plan.notices.size(), 1U);
  EXPECT_NE(plan.notices.front().find("64 MiB"), std::string::npos);
}

TEST(MemoryPlan, HasAPlaceForEachMessageThatIsChecked) {
  EXPECT_EQ(pool_of_places(8), 8 * kMiB);
  EXPECT_EQ(pool_of_places(64 << 10), 256 * kMiB);
  EXPECT_EQ(pool_of_places(512 * kMiB), 512 * kMiB);
  Options options = options_from_to(8, kMiB);
  options.check_all = true;
  for (const Bytes per_rank : {1024 * kMiB, 20 * kMiB}) {
    const MemoryPlan plan = plan_memory(options, per_rank, 256 * kMiB);
    EXPECT_EQ(plan.max_bytes, kMiB);
    EXPECT_GT(plan.pool_bytes, 9 * kMiB);
    EXPECT_LE(allocated(plan, options), per_rank);
    ASSERT_EQ(plan.notices.size(), 1U);
    EXPECT_NE(plan.notices.front().find(readable_bytes(plan.pool_bytes)), std::string::npos) << plan.notices.front();
  }
}

}  // namespace memory_plan_test
