// Readings as comparisons, before structure is looked for in them.

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "cluster/pairs/structure/comparison_table.h"

namespace fabricbench::cluster {
namespace comparison_table_test {

/// Values of pairs (number, 1000), from one number to another, in a window of time.
void add(std::int32_t first, std::int32_t last, std::int32_t window, float value, ComparisonTable& table) {
  for (std::int32_t pair = first; pair <= last; ++pair) {
    table.values.push_back({pair, 1000, window, value});
    table.kinds.push_back(0);
  }
}

ComparisonTable empty_table() {
  ComparisonTable table;
  table.number_of_kinds = 1;
  return table;
}

TEST(ComparisonTable, WhatAllPairsHaveInCommonAtATimeIsTakenOff) {
  ComparisonTable table = empty_table();
  add(1, 20, 0, 0, table);
  add(1, 20, 1, -0.2F, table);
  remove_drift(table);
  EXPECT_NEAR(table.values.front().value, table.values.back().value, 1e-3);
}

/// 20 of 100 pairs are slow by chance and measured again among ten others; half of them are slow again, by chance, and
/// measured once more. That these were slow in the second window is no slow time.
TEST(ComparisonTable, PairsMeasuredAgainBecauseTheyWereSlowShowNoSlowTime) {
  ComparisonTable table = empty_table();
  add(1, 20, 0, -0.3F, table);
  add(21, 100, 0, 0, table);
  add(1, 10, 1, -0.3F, table);
  add(11, 20, 1, 0, table);
  add(101, 110, 1, 0, table);
  add(1, 10, 2, 0, table);
  add(111, 112, 2, 0, table);
  const std::vector<Comparison> before = table.values;
  remove_drift(table);
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(table.values[i].value, before[i].value) << i;
}

}  // namespace comparison_table_test
}  // namespace fabricbench::cluster
