
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "common/engine/pair_plan.h"

using namespace fabricbench;

namespace rounds_test {

using Rounds = std::vector<std::vector<int>>;

std::vector<Pair> pairs_of(const std::string& rule, int ranks) {
  return choose_pairs(rule, std::vector<std::string>(static_cast<std::size_t>(ranks), "a")).pairs;
}

TEST(Rounds, OfDisjointPairsAreOne) {
  EXPECT_EQ(rounds_of(pairs_of("adjacent", 2), 2, 0), (Rounds{{0}}));
  EXPECT_EQ(rounds_of(pairs_of("halves", 8), 8, 0), (Rounds{{0, 1, 2, 3}}));
  EXPECT_EQ(rounds_of(pairs_of("halves", 8), 8, 4), (Rounds{{0, 1, 2, 3}}));
}

TEST(Rounds, HaveAtMostSoManyPairs) {
  EXPECT_EQ(rounds_of(pairs_of("halves", 8), 8, 1), (Rounds{{0}, {1}, {2}, {3}}));
  EXPECT_EQ(rounds_of(pairs_of("halves", 10), 10, 2), (Rounds{{0, 1}, {2, 3}, {4}}));
}

TEST(Rounds, OfEveryTwoRanksHaveEachPairOnce) {
  for (int ranks = 2; ranks <= 13; ++ranks) {
    const std::vector<Pair> pairs = pairs_of("all", ranks);
    for (const int concurrent : {0, 1, 2, 3, 100}) {
      std::vector<int> measured;
      EXPECT_EQ(rounds_of(pairs, ranks, concurrent)[0][0], 0);
      for (const std::vector<int>& round : rounds_of(pairs, ranks, concurrent)) {
        std::set<int> busy;
        for (const int number : round) {
          const auto [first, second] = pairs.at(static_cast<std::size_t>(number));
          EXPECT_TRUE(busy.insert(first).second && busy.insert(second).second) << ranks << " ranks, pair " << number;
          measured.push_back(number);
        }
        EXPECT_FALSE(round.empty());
        EXPECT_TRUE(std::is_sorted(round.begin(), round.end()));
        EXPECT_LE(round.size(), static_cast<std::size_t>(concurrent > 0 ? concurrent : ranks));
      }
      std::sort(measured.begin(), measured.end());
      ASSERT_EQ(measured.size(), pairs.size()) << ranks << " ranks, " << concurrent << " at most";
      for (std::size_t number = 0; number < pairs.size(); ++number)
        EXPECT_EQ(measured[number], static_cast<int>(number));
    }
  }
}

TEST(Rounds, OfEveryTwoRanksAreAsFewAsThereCanBe) {
  EXPECT_EQ(rounds_of(pairs_of("all", 6), 6, 0).size(), 5U);
  EXPECT_EQ(rounds_of(pairs_of("all", 7), 7, 0).size(), 7U);
  EXPECT_EQ(rounds_of(pairs_of("all", 4), 4, 1).size(), 6U);
}

TEST(PlanWithoutPairs, KeepsTheOrderAndTheRoundsOfTheOthers) {
  PairPlan plan;
  plan.pairs = {{0, 1}, {2, 3}, {4, 5}, {6, 7}};
  plan.rounds = {{0, 1}, {2}, {3}};
  plan.hosts = {"a"};
  const PairPlan fewer = without_pairs(plan, {0, 2});
  ASSERT_EQ(fewer.pairs.size(), 2U);
  EXPECT_EQ(fewer.pairs[0].first, 2);
  EXPECT_EQ(fewer.pairs[1].first, 6);
  EXPECT_EQ(fewer.rounds, (Rounds{{0}, {1}})) << "a round without pairs is none";
  EXPECT_EQ(fewer.hosts, plan.hosts);
  EXPECT_EQ(without_pairs(plan, {}).rounds, plan.rounds);
}

}  // namespace rounds_test
