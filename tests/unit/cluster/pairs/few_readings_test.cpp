// Each pair measured once, or not at all, as other tools' scripts leave it: who is a suspect, and who is not.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "attribution_test_support.h"
#include "cluster/pairs/report/verdict_text.h"

using namespace fabricbench::cluster;

namespace few_readings_test {

enum class Ways : std::uint8_t { kOne, kBoth, kSum };
constexpr auto kAllWays = {Ways::kOne, Ways::kBoth, Ways::kSum};

using Pairs = std::vector<std::pair<std::int32_t, std::int32_t>>;

Pairs all_pairs(std::int32_t hosts) {
  Pairs pairs;
  for (std::int32_t from = 0; from < hosts; ++from) {
    for (std::int32_t to = from + 1; to < hosts; ++to) pairs.emplace_back(from, to);
  }
  return pairs;
}

/// Readings that differ by up to 1 %. A share of 0 is a failure.
Sweep measured(std::int32_t hosts, const Pairs& pairs, Ways ways, const Share& share) {
  Sweep sweep = hosts_only(hosts);
  const auto add = [&](std::int32_t from, std::int32_t to) {
    const double rate = 24e9 * share(from, to) * (1 + 0.004 * ((3 * from + 5 * to) % 5 - 2));
    sweep.readings.push_back(rate > 0 ? reading(from, to, rate) : failure(from, to));
    sweep.readings.back().both_ways = ways == Ways::kSum;
  };
  for (const auto& [from, to] : pairs) {
    add(from, to);
    if (ways == Ways::kBoth) add(to, from);
  }
  return sweep;
}

Share with_host(std::int32_t host, double share = 0.6) {
  return [=](std::int32_t from, std::int32_t to) { return from == host || to == host ? share : 1; };
}

Share between(std::int32_t a, std::int32_t b, double share = 0.6) {
  return [=](std::int32_t from, std::int32_t to) { return std::minmax(from, to) == std::minmax(a, b) ? share : 1; };
}

/// `slow n1; suspect n2; path n3 n4; unexplained`: what is said against anybody.
std::string told(const Sweep& sweep) {
  const Verdict verdict = judge(sweep);
  const HostLists lists = host_lists(sweep, verdict);
  std::string text;
  for (const auto& [title, hosts] : {std::pair{"slow", lists.slow}, {"dead", lists.dead}, {"suspect", lists.suspect}}) {
    for (const std::string& host : hosts) text += fmt::format("{} {}; ", title, host);
  }
  for (const auto& [a, b] : suspect_paths(verdict))
    text += fmt::format("path n{} n{}; ", std::min(a, b), std::max(a, b));
  return text + (verdict.outliers > kMostUnexplained || verdict.failing > kMostFailing ? "unexplained" : "");
}

TEST(FewReadings, OneWayBlameAHostThatIsSlowWithAll) {
  for (std::int32_t hosts = 4; hosts <= 6; ++hosts) {
    for (std::int32_t slow = 0; slow < hosts; ++slow) {
      const Sweep sweep = measured(hosts, all_pairs(hosts), Ways::kOne, with_host(slow));
      EXPECT_EQ(told(sweep), fmt::format("slow n{}; ", slow)) << hosts;
      EXPECT_EQ(the_finding(judge(sweep), Blame::kHost).slow_partners, hosts - 1);
    }
    const Verdict healthy = judge(measured(hosts, all_pairs(hosts), Ways::kOne, with_host(0, 1)));
    EXPECT_EQ(healthy.judged, Judged::kUnknown) << "nothing is known of the other direction";
  }
}

TEST(FewReadings, OneWaySuspectAHostThatOnlySendsSlowly) {
  const Sweep sweep =
      measured(4, all_pairs(4), Ways::kOne, [](std::int32_t from, std::int32_t) { return from == 1 ? 0.6 : 1; });
  EXPECT_EQ(told(sweep), "suspect n1; ");
}

TEST(FewReadings, OfThreeHostsSuspectTheOneThatIsSlowWithBoth) {
  for (const Ways ways : kAllWays) {
    EXPECT_EQ(told(measured(3, all_pairs(3), ways, with_host(1))), "suspect n1; ");
  }
}

TEST(FewReadings, SuspectThePathOfHostsThatAreFastWithOthers) {
  for (const Ways ways : kAllWays) {
    for (std::int32_t hosts = 3; hosts <= 6; ++hosts) {
      EXPECT_EQ(told(measured(hosts, all_pairs(hosts), ways, between(1, 2))), "path n1 n2; ") << hosts;
      EXPECT_EQ(told(measured(hosts, all_pairs(hosts), ways, between(1, 2, 0))), "path n1 n2; ") << hosts;
    }
  }
}

TEST(FewReadings, OfTwoRoundsSuspectWhoIsSlowInBoth) {
  const Pairs localized = {{0, 1}, {2, 3}, {4, 5}, {6, 7}, {2, 0}, {3, 1}};
  for (const Ways ways : kAllWays) {
    EXPECT_EQ(told(measured(8, localized, ways, with_host(2))), "suspect n2; ");
    EXPECT_EQ(told(measured(8, localized, ways, between(2, 3))), "path n2 n3; ");
    EXPECT_EQ(told(measured(8, localized, ways, with_host(7, 0))), "suspect n6; suspect n7; ") << "who met nobody else";
    Pairs two;
    for (std::int32_t host = 0; host < 32; host += 2) two.emplace_back(host, host + 1);
    two.insert(two.end(), {{6, 0}, {7, 1}, {18, 2}, {19, 3}});
    const Share share = [](std::int32_t from, std::int32_t to) {
      return from == 7 || to == 7 || from == 18 || to == 18 ? 0.92 : 1;
    };
    EXPECT_EQ(told(measured(32, two, ways, share)), "suspect n7; suspect n18; ") << "and no path that was not measured";
  }
}

TEST(FewReadings, OfAStarSuspectItsEndAndNotItsHub) {
  for (const Ways ways : kAllWays) {
    for (std::int32_t hosts = 4; hosts <= 8; ++hosts) {
      Pairs star;
      for (std::int32_t host = 1; host < hosts; ++host) star.emplace_back(0, host);
      EXPECT_EQ(told(measured(hosts, star, ways, with_host(2))), "suspect n2; ") << hosts;
      EXPECT_EQ(told(measured(hosts, star, ways, with_host(2, 0))), "suspect n2; ") << hosts;
    }
  }
}

TEST(FewReadings, EachDirectionHasItsOwnShare) {
  const Sweep sweep = measured(8, all_pairs(8), Ways::kBoth, [](std::int32_t from, std::int32_t to) {
    return from == 3 ? 0.9 : to == 3 ? 0.26 : 1;
  });
  const Finding finding = the_finding(judge(sweep), Blame::kHost);
  EXPECT_EQ(finding.direction, Direction::kBoth);
  EXPECT_NEAR(finding.ratios[0], 0.9, 0.02);
  EXPECT_NEAR(finding.ratios[1], 0.26, 0.02);
  EXPECT_NE(extent(sweep, {&finding}).find(" % sending, "), std::string::npos) << extent(sweep, {&finding});
}

TEST(FewReadings, WhatSmallMessagesPassIsNotDead) {
  for (const auto& [share, hosts] : {std::pair{with_host(2, 0), Hosts{2}}, {between(2, 3, 0), Hosts{2, 3}}}) {
    Sweep sweep = measured(16, all_pairs(16), Ways::kBoth, share);
    const Sweep once = sweep;
    for (Reading again : once.readings) {
      ++again.round;
      sweep.readings.push_back(again);
    }
    EXPECT_NE(the_finding(judge(sweep), hosts.size() == 1 ? Blame::kDead : Blame::kDeadPair).hosts.size(), 0U);
    for (Reading& each : sweep.readings) each.small_pass = each.outcome == Outcome::kFailed;
    const Finding finding = the_finding(judge(sweep), Blame::kUndecided);
    EXPECT_EQ(finding.hosts, hosts);
    EXPECT_TRUE(finding.small_pass);
    EXPECT_TRUE(sentence(sweep, judge(sweep), finding).ends_with("MTU on the path?"));
  }
}

}  // namespace few_readings_test
