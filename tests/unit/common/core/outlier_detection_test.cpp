#include "common/core/outlier_detection.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

using namespace fabricbench;

namespace outlier_detection_test {

using Rates = std::vector<double>;

std::vector<ComparedRate> on_one_host(const Rates& rates) {
  std::vector<ComparedRate> compared;
  for (const double rate : rates) compared.push_back({"H200", "a", rate, rate});
  return compared;
}

/// A letter a rate: usual, slow, undecided, alone.
std::string statuses(const std::vector<ComparedRate>& compared) {
  std::string letters;
  for (const Comparison& comparison : detect_outliers(compared)) {
    letters += "usxa"[static_cast<std::size_t>(comparison.status)];
  }
  return letters;
}

TEST(OutlierDetection, IsTheOneBelowTheMedianOfTheOthers) {
  EXPECT_EQ(statuses(on_one_host({50, 51, 50, 25, 50, 49, 50, 50})), "uuusuuuu");
  EXPECT_EQ(statuses(on_one_host({50, 25, 50})), "usu");
  EXPECT_EQ(statuses(on_one_host({25, 50, 51, 25, 50})), "suusu");
}

TEST(OutlierDetection, IsNobodyWhereTheyDifferByLessThanATenth) {
  EXPECT_EQ(statuses(on_one_host({50, 50, 50, 45.1})), "uuuu");
  EXPECT_EQ(statuses(on_one_host({50, 50, 50, 44.9})), "uuus");
}

TEST(OutlierDetection, IsNobodyWhereAllAreFarApart) { EXPECT_EQ(statuses(on_one_host({30, 40, 50, 60, 70})), "uuuuu"); }

TEST(OutlierDetection, IsNotTheFastOne) { EXPECT_EQ(statuses(on_one_host({50, 50, 50, 90})), "uuuu"); }

TEST(OutlierDetection, IsNotBlamedByOneOfTwoOthers) { EXPECT_EQ(statuses(on_one_host({50, 25, 25})), "uuu"); }

TEST(OutlierDetection, CannotBeToldFromTwo) {
  EXPECT_EQ(statuses(on_one_host({50, 25})), "xx");
  EXPECT_EQ(statuses(on_one_host({50, 46})), "uu");
}

TEST(OutlierDetection, NeedsOthers) {
  EXPECT_EQ(statuses(on_one_host({25})), "a");
  EXPECT_EQ(statuses({}), "");
}

TEST(OutlierDetection, IsComparedOnlyWithItsLike) {
  EXPECT_EQ(statuses({{"H200", "a", 50, 50}, {"L4", "a", 12, 12}, {"H200", "a", 50, 50}, {"L4", "a", 12, 12}}), "uuuu");
}

TEST(OutlierDetection, MayBeAHostOnWhichAllAreSlow) {
  const std::vector<ComparedRate> compared = {{"H200", "a", 50, 50}, {"H200", "a", 50, 50}, {"H200", "a", 50, 50},
                                              {"H200", "b", 25, 25}, {"H200", "b", 25, 25}, {"H200", "c", 50, 50},
                                              {"H200", "c", 50, 50}};
  EXPECT_EQ(statuses(compared), "uuussuu");
  const std::vector<Comparison> comparisons = detect_outliers(compared);
  EXPECT_TRUE(comparisons[3].across_hosts);
  EXPECT_EQ(comparisons[3].others, 50);
  EXPECT_FALSE(comparisons[0].across_hosts);
}

TEST(OutlierDetection, OfOneGpuAHostIsFoundAmongTheHosts) {
  EXPECT_EQ(statuses({{"H200", "a", 50, 50}, {"H200", "b", 25, 25}, {"H200", "c", 50, 50}}), "usu");
  EXPECT_EQ(statuses({{"H200", "a", 50, 50}, {"H200", "b", 25, 25}}), "xx");
}

TEST(OutlierDetection, OfTwoIsToldByOtherHosts) {
  EXPECT_EQ(statuses({{"H200", "a", 50, 50}, {"H200", "a", 25, 25}, {"H200", "b", 50, 50}, {"H200", "b", 50, 50}}),
            "usuu");
}

TEST(OutlierDetection, IsShownBesideTheMedianOfTheOthers) {
  const std::vector<Comparison> comparisons = detect_outliers(on_one_host({10, 20, 30, 40}));
  EXPECT_EQ(comparisons[0].others, 30);
  EXPECT_EQ(comparisons[1].others, 30);
  EXPECT_EQ(comparisons[2].others, 20);
  EXPECT_EQ(comparisons[3].others, 20);
  EXPECT_EQ(detect_outliers(on_one_host({10, 20, 30}))[0].others, 20);
}

TEST(OutlierDetection, IsNotOneWhoseRateIsNotKnownSoWell) {
  std::vector<ComparedRate> compared = on_one_host({50, 25, 50});
  compared[1].most = 46;
  EXPECT_EQ(statuses(compared), "uuu");
  compared[1].most = 44;
  EXPECT_EQ(statuses(compared), "usu");
  compared = on_one_host({25, 50});
  compared[0].most = 46;
  EXPECT_EQ(statuses(compared), "uu");
  compared[1].most = 100;
  compared[0].most = 44;
  EXPECT_EQ(statuses(compared), "xx");
}

TEST(OutlierDetection, IsFoundAmongZeros) {
  EXPECT_EQ(statuses(on_one_host({0, 0, 0})), "uuu");
  EXPECT_EQ(statuses(on_one_host({50, 0, 50})), "usu");
}

}  // namespace outlier_detection_test
