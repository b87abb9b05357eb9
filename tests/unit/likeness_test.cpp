#include "cluster/structure/likeness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

using namespace fabricbench::cluster;

namespace likeness_test {

using Order = std::vector<std::int32_t>;
using ShareOf = std::function<double(std::int32_t receiver, std::int32_t sender)>;

constexpr double kAlike = 4;  // percent

Order counted_to(std::int32_t hosts) {
  Order order(static_cast<std::size_t>(hosts));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

Profiles profiles_of(std::int32_t hosts, const ShareOf& share) {
  std::vector<float> shares;
  for (std::int32_t receiver = 0; receiver < hosts; ++receiver) {
    for (std::int32_t sender = 0; sender < hosts; ++sender) {
      shares.push_back(receiver == sender ? NAN : static_cast<float>(share(receiver, sender)));
    }
  }
  return {shares, static_cast<std::size_t>(hosts)};
}

Order ordered(std::int32_t hosts, const ShareOf& share) {
  return in_order_of_likeness(profiles_of(hosts, share), counted_to(hosts), kAlike);
}

TEST(InOrderOfLikeness, LeavesAHealthySweepAsItIs) {
  std::mt19937 random(1);
  std::normal_distribution<double> noise(1, 0.01);
  EXPECT_EQ(ordered(24, [&](auto, auto) { return noise(random); }), counted_to(24));
}

TEST(InOrderOfLikeness, PutsASlowHostLast) {
  const auto share = [](std::int32_t a, std::int32_t b) { return a == 1 || b == 1 ? 0.8 : 1; };
  EXPECT_EQ(ordered(6, share), (Order{0, 2, 3, 4, 5, 1}));
}

TEST(InOrderOfLikeness, PutsSlowHostsLastInTheOrderOfHowSlowTheyAre) {
  const auto own = [](std::int32_t host) { return host == 0 ? 0.0 : host == 2 ? 0.75 : host == 4 ? 0.9 : 1.0; };
  const auto share = [&](std::int32_t a, std::int32_t b) { return std::min(own(a), own(b)); };
  EXPECT_EQ(ordered(8, share), (Order{1, 3, 5, 6, 7, 4, 2, 0}));
}

TEST(InOrderOfLikeness, MakesBlocksOfAChessboard) {
  const auto share = [](std::int32_t a, std::int32_t b) { return a % 2 == b % 2 ? 1 : 0.3; };
  EXPECT_EQ(ordered(9, share), (Order{0, 2, 4, 6, 8, 1, 3, 5, 7}));
}

TEST(InOrderOfLikeness, PutsNearBlocksNextToEachOther) {
  // Blocks 0 and 2 are nearer to each other than to 1, and 1 to 3.
  const auto share = [](std::int32_t a, std::int32_t b) { return a % 4 == b % 4 ? 1 : a % 2 == b % 2 ? 0.85 : 0.7; };
  EXPECT_EQ(ordered(12, share), (Order{0, 4, 8, 2, 6, 10, 1, 5, 9, 3, 7, 11}));
}

TEST(InOrderOfLikeness, TellsADirection) {
  const auto share = [](std::int32_t receiver, std::int32_t) { return receiver == 0 ? 0.7 : 1; };
  EXPECT_EQ(ordered(8, share), (Order{1, 2, 3, 4, 5, 6, 7, 0}));
}

TEST(InOrderOfLikeness, DoesNotMoveHostsForOneDeadPair) {
  const auto share = [](std::int32_t a, std::int32_t b) { return a + b == 7 && a * b == 10 ? 0 : 1; };  // 2 and 5
  EXPECT_EQ(ordered(24, share), counted_to(24));
}

TEST(InOrderOfLikeness, TakesWhatWasNotMeasuredForWhatAHostMostlyDoes) {
  const auto share = [](std::int32_t a, std::int32_t b) {
    const bool measured = (a + b) % 3 != 0;
    return !measured ? NAN : a == 3 || b == 3 ? 0.6 : 1.0;
  };
  EXPECT_EQ(ordered(8, share), (Order{0, 1, 2, 4, 5, 6, 7, 3}));
  EXPECT_EQ(ordered(4, [](auto, auto) { return NAN; }), counted_to(4));
}

TEST(InOrderOfLikeness, LeavesHostsThatAreLikeNoOtherAsTheyAre) {
  const auto share = [](std::int32_t a, std::int32_t b) { return 0.2 + 0.1 * ((3 * a + 5 * b + a * b) % 8); };
  EXPECT_EQ(ordered(12, share), counted_to(12));
}

TEST(InOrderOfLikeness, SortsOnlyTheHostsThatItIsGiven) {
  const auto profiles = profiles_of(8, [](auto a, auto b) { return a == 4 || b == 4 ? 0.8 : 1.0; });
  EXPECT_EQ(in_order_of_likeness(profiles, Order{7, 4, 1, 2}, kAlike), (Order{7, 1, 2, 4}));
  EXPECT_EQ(in_order_of_likeness(profiles, Order{}, kAlike), Order{});
}

TEST(Profiles, DifferByTheMeanOfBothDirections) {
  const auto profiles = profiles_of(4, [](auto receiver, auto) { return receiver == 0 ? 0.9 : 1.0; });
  EXPECT_DOUBLE_EQ(profiles.difference(0, 1),
                   (5 * 10.0) / 8);  // what 0 receives from all and itself, what 1 sends to it
  EXPECT_DOUBLE_EQ(profiles.difference(1, 0), profiles.difference(0, 1));
  EXPECT_DOUBLE_EQ(profiles.difference(2, 3), 0);
}

TEST(Profiles, CountNoPartnerForMoreThan30Percent) {
  const auto profiles = profiles_of(4, [](auto receiver, auto) { return receiver == 0 ? 0.0 : 1.0; });
  EXPECT_DOUBLE_EQ(profiles.difference(0, 1), (5 * 30.0) / 8);
}

}  // namespace likeness_test
