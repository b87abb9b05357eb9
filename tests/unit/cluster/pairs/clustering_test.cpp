#include "cluster/pairs/structure/clustering.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

using namespace fabricbench::cluster;

namespace clustering_test {

using Clusters = std::vector<std::int32_t>;

/// Each two nodes of one group are tied by `together`, all others by `apart`.
std::vector<Tie> ties_of(const Clusters& groups, float together, float apart) {
  std::vector<Tie> ties;
  for (std::int32_t a = 0; a < static_cast<std::int32_t>(groups.size()); ++a) {
    for (std::int32_t b = 0; b < a; ++b) {
      const bool same = groups[static_cast<std::size_t>(a)] == groups[static_cast<std::size_t>(b)];
      ties.push_back({a, b, same ? together : apart});
    }
  }
  return ties;
}

TEST(Clustering, FindsGroupsOfAnySize) {
  for (const Clusters& groups : {Clusters{0, 0, 0, 1, 1, 1}, Clusters{0, 1, 0, 1, 1, 1, 1, 2}, Clusters{0, 1, 2, 3},
                                 Clusters{0, 0, 0, 0}, Clusters{0, 1, 1, 2, 2, 3, 3, 4, 4}}) {
    const auto nodes = static_cast<std::int32_t>(groups.size());
    EXPECT_EQ(cluster_by(ties_of(groups, 1, -1), nodes), groups);
  }
}

TEST(Clustering, NodesWithoutTiesAreAlone) {
  EXPECT_EQ(cluster_by({}, 3), (Clusters{0, 1, 2}));
  EXPECT_EQ(cluster_by(std::vector<Tie>{{2, 0, 1.0F}}, 4), (Clusters{0, 1, 0, 2}));
  EXPECT_TRUE(cluster_by({}, 0).empty());
}

TEST(Clustering, WeighsWhatContradictsItself) {
  // 2 is tied to both pairs, and more to the second one.
  EXPECT_EQ(
      cluster_by(std::vector<Tie>{{0, 1, 5}, {3, 4, 5}, {0, 2, 2}, {1, 2, 1}, {2, 3, 2}, {2, 4, 3}, {0, 3, -9}}, 5),
      (Clusters{0, 0, 1, 1, 1}));
  // Each of a chain is tied to the next, but what is far apart is far apart.
  EXPECT_EQ(cluster_by(std::vector<Tie>{{0, 1, 3}, {1, 2, 1}, {2, 3, 3}, {0, 3, -2}}, 4), (Clusters{0, 0, 1, 1}));
}

TEST(Clustering, MergesWholeClustersWhereNoSingleNodeWouldMove) {
  // Four pairs, each tied more within than across, but across all add up to more than nothing.
  std::vector<Tie> ties;
  for (std::int32_t pair = 0; pair < 8; pair += 2) ties.push_back({pair, pair + 1, 10});
  for (std::int32_t a = 0; a < 8; ++a) {
    for (std::int32_t b = 0; b < a; ++b) {
      if (a / 2 != b / 2) ties.push_back({a, b, a / 4 == b / 4 ? 0.5F : -0.5F});
    }
  }
  EXPECT_EQ(cluster_by(ties, 8), (Clusters{0, 0, 0, 0, 1, 1, 1, 1}));
}

TEST(Clustering, NumbersInTheOrderOfAppearance) {
  EXPECT_EQ(renumbered(Clusters{7, 3, 7, 0, 3}), (Clusters{0, 1, 0, 2, 1}));
}

}  // namespace clustering_test
