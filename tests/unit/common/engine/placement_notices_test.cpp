#include "common/engine/setup.h"

#include <gtest/gtest.h>

using namespace fabricbench;

namespace placement_notices_test {

TEST(NarrowBinding, IsSeenWhereAHostHasMoreForAProcess) {
  EXPECT_TRUE(is_bound_too_narrowly(1, 128, 8));
  EXPECT_TRUE(is_bound_too_narrowly(2, 128, 2)) << "both threads of one core";
  EXPECT_FALSE(is_bound_too_narrowly(4, 128, 8));
  EXPECT_FALSE(is_bound_too_narrowly(16, 128, 8));
}

TEST(NarrowBinding, IsNotBlamedWhereAHostHasNoMore) {
  EXPECT_FALSE(is_bound_too_narrowly(2, 2, 1)) << "all of a small host";
  EXPECT_FALSE(is_bound_too_narrowly(1, 8, 8)) << "its share";
  EXPECT_TRUE(is_bound_too_narrowly(1, 16, 8));
}

}  // namespace placement_notices_test
