#include "common/copies/copy_plan.h"

#include <gtest/gtest.h>

#include <vector>

using namespace fabricbench;

namespace copy_rates_test {

using Times = std::vector<Seconds>;

constexpr Bytes kSize = 100;

TEST(CopyRates, OfDirectionsThatTakeAsLong) {
  const BothRates rates = rates_of_both(kSize, Times{2, 2, 2}, Times{2, 2, 2});
  EXPECT_DOUBLE_EQ(rates.first, 50);
  EXPECT_DOUBLE_EQ(rates.second, 50);
  EXPECT_DOUBLE_EQ(rates.sum(), 100);
}

TEST(CopyRates, LeaveOutWhatOneDoesAlone) {
  // The second is alone from 4 s on, and then twice as fast: of its copies, one and a half passed before.
  const BothRates rates = rates_of_both(kSize, Times{1, 1, 1, 1}, Times{2, 4, 1, 1});
  EXPECT_DOUBLE_EQ(rates.first, 100);
  EXPECT_DOUBLE_EQ(rates.second, 100 * 1.5 / 4);
}

TEST(CopyRates, CountAPartOfASingleCopy) {
  const BothRates rates = rates_of_both(kSize, Times{1}, Times{4});
  EXPECT_DOUBLE_EQ(rates.first, 100);
  EXPECT_DOUBLE_EQ(rates.second, 25);
}

TEST(CopyRates, AreNoneWhereNothingWasMeasured) {
  for (const BothRates& rates : {rates_of_both(kSize, Times{}, Times{1}), rates_of_both(kSize, Times{0}, Times{0})}) {
    EXPECT_EQ(rates.first, 0);
    EXPECT_EQ(rates.second, 0);
  }
}

}  // namespace copy_rates_test
