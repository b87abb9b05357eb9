#include "common/harness/workspace.h"

#include <gtest/gtest.h>

#include <cstdint>

using namespace fabricbench;

namespace {

TEST(Workspace, FillsTheSendPoolAndKeepsItsGuardZoneOut) {
  for (const std::int64_t unalign : {0, 1, 7}) {
    Workspace workspace(4099, true, unalign, 0, 2);
    workspace.use(DataType::kDouble, Reduction::kMax);
    EXPECT_FALSE(workspace.sent().check(workspace.send().first(4096), 0));
    EXPECT_GE(workspace.recv().size(), 4099 + kGuardBytes);
    workspace.use(DataType::kInt8, Reduction::kSum);
    EXPECT_FALSE(workspace.sent().check(workspace.send().first(4099), 0)) << "made anew for another datatype";
  }
}

TEST(Workspace, HasOneBufferOrTwoPageAlignedAndShifted) {
  Workspace one(100, false, 0, 0, 2);
  EXPECT_FALSE(one.has_separate_buffers());
  one.use(DataType::kFloat, Reduction::kSum);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(one.recv().data()) % 4096, 0U);
  Workspace shifted(100, true, 3, 0, 2);
  EXPECT_TRUE(shifted.has_separate_buffers());
  shifted.use(DataType::kFloat, Reduction::kSum);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(shifted.send().data()) % 4096, 12U);
}

}  // namespace
