#include "common/core/odd_one.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

using namespace fabricbench;

namespace odd_one_test {

using Rates = std::vector<double>;

std::vector<Contender> on_one_host(const Rates& rates) {
  std::vector<Contender> contenders;
  for (const double rate : rates) contenders.push_back({"H200", "a", rate, rate});
  return contenders;
}

/// A letter a contender: usual, slow, undecided, alone.
std::string standings(const std::vector<Contender>& contenders) {
  std::string letters;
  for (const Comparison& comparison : compare_with_others(contenders)) {
    letters += "usxa"[static_cast<std::size_t>(comparison.standing)];
  }
  return letters;
}

TEST(OddOne, IsTheOneBelowTheMedianOfTheOthers) {
  EXPECT_EQ(standings(on_one_host({50, 51, 50, 25, 50, 49, 50, 50})), "uuusuuuu");
  EXPECT_EQ(standings(on_one_host({50, 25, 50})), "usu");
  EXPECT_EQ(standings(on_one_host({25, 50, 51, 25, 50})), "suusu");
}

TEST(OddOne, IsNobodyWhereTheyDifferByLessThanATenth) {
  EXPECT_EQ(standings(on_one_host({50, 50, 50, 45.1})), "uuuu");
  EXPECT_EQ(standings(on_one_host({50, 50, 50, 44.9})), "uuus");
}

TEST(OddOne, IsNobodyWhereAllAreFarApart) { EXPECT_EQ(standings(on_one_host({30, 40, 50, 60, 70})), "uuuuu"); }

TEST(OddOne, IsNotTheFastOne) { EXPECT_EQ(standings(on_one_host({50, 50, 50, 90})), "uuuu"); }

TEST(OddOne, IsNotBlamedByOneOfTwoOthers) { EXPECT_EQ(standings(on_one_host({50, 25, 25})), "uuu"); }

TEST(OddOne, CannotBeToldFromTwo) {
  EXPECT_EQ(standings(on_one_host({50, 25})), "xx");
  EXPECT_EQ(standings(on_one_host({50, 46})), "uu");
}

TEST(OddOne, NeedsOthers) {
  EXPECT_EQ(standings(on_one_host({25})), "a");
  EXPECT_EQ(standings({}), "");
}

TEST(OddOne, IsComparedOnlyWithItsLike) {
  EXPECT_EQ(standings({{"H200", "a", 50, 50}, {"L4", "a", 12, 12}, {"H200", "a", 50, 50}, {"L4", "a", 12, 12}}),
            "uuuu");
}

TEST(OddOne, MayBeAHostOnWhichAllAreSlow) {
  const std::vector<Contender> contenders = {{"H200", "a", 50, 50}, {"H200", "a", 50, 50}, {"H200", "a", 50, 50},
                                             {"H200", "b", 25, 25}, {"H200", "b", 25, 25}, {"H200", "c", 50, 50},
                                             {"H200", "c", 50, 50}};
  EXPECT_EQ(standings(contenders), "uuussuu");
  const std::vector<Comparison> comparisons = compare_with_others(contenders);
  EXPECT_TRUE(comparisons[3].across_hosts);
  EXPECT_EQ(comparisons[3].others, 50);
  EXPECT_FALSE(comparisons[0].across_hosts);
}

TEST(OddOne, OfOneGpuAHostIsFoundAmongTheHosts) {
  EXPECT_EQ(standings({{"H200", "a", 50, 50}, {"H200", "b", 25, 25}, {"H200", "c", 50, 50}}), "usu");
  EXPECT_EQ(standings({{"H200", "a", 50, 50}, {"H200", "b", 25, 25}}), "xx");
}

TEST(OddOne, OfTwoIsToldByOtherHosts) {
  EXPECT_EQ(standings({{"H200", "a", 50, 50}, {"H200", "a", 25, 25}, {"H200", "b", 50, 50}, {"H200", "b", 50, 50}}),
            "usuu");
}

TEST(OddOne, IsShownBesideTheMedianOfTheOthers) {
  const std::vector<Comparison> comparisons = compare_with_others(on_one_host({10, 20, 30, 40}));
  EXPECT_EQ(comparisons[0].others, 30);
  EXPECT_EQ(comparisons[1].others, 30);
  EXPECT_EQ(comparisons[2].others, 20);
  EXPECT_EQ(comparisons[3].others, 20);
  EXPECT_EQ(compare_with_others(on_one_host({10, 20, 30}))[0].others, 20);
}

TEST(OddOne, IsNotOneWhoseRateIsNotKnownSoWell) {
  std::vector<Contender> contenders = on_one_host({50, 25, 50});
  contenders[1].most = 46;
  EXPECT_EQ(standings(contenders), "uuu");
  contenders[1].most = 44;
  EXPECT_EQ(standings(contenders), "usu");
  contenders = on_one_host({25, 50});
  contenders[0].most = 46;
  EXPECT_EQ(standings(contenders), "uu");
  contenders[1].most = 100;
  contenders[0].most = 44;
  EXPECT_EQ(standings(contenders), "xx");
}

TEST(OddOne, IsFoundAmongZeros) {
  EXPECT_EQ(standings(on_one_host({0, 0, 0})), "uuu");
  EXPECT_EQ(standings(on_one_host({50, 0, 50})), "usu");
}

}  // namespace odd_one_test
