// The common clock against the truth: every synthetic clock is a known function of the scripted one, which all ranks
// share, and what rank 0's shows at any moment is known to all.

#include "common/mpi/common_clock.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "../support/job_clock.h"
#include "common/core/clock.h"

namespace fabricbench::mpi {
namespace {

constexpr Seconds kRounding = 1e-9;  // of doubles that hold some seconds
constexpr Seconds kMessage = 1e-6;
constexpr double kDrift = 12.5e-6;
constexpr double kLargeDrift = 1e-3;  // far more than what readings of a microsecond leave open

/// Clocks of all ranks: each with an offset, and each running faster or slower than the true one.
class SyntheticClocks {
 public:
  SyntheticClocks(const Communicator& world, double drift_step)
      : drift_step_(drift_step), began_(world.broadcast(now())) {}

  /// What the clock of a domain shows at the true time.
  [[nodiscard]] Seconds show(int domain, Seconds truth) const {
    return 3.7 * domain + 5 + (1 + drift(domain)) * (truth - began_);
  }
  /// Relative to the true time; rank 0's clock, domain 0, drifts too.
  [[nodiscard]] double drift(int domain) const { return drift_step_ * (domain - 0.5); }

  [[nodiscard]] CommonClock::Clock clock_of(int domain) const {
    return [this, domain] { return show(domain, now()); };
  }

 private:
  double drift_step_;
  Seconds began_;
};

/// A rank's view: the synthetic clock of its domain and the common clock on top of it.
struct View {
  View(const Communicator& world, int own_domain, double drift_step)
      : domain(own_domain),
        clocks(world, drift_step),
        common(world, static_cast<std::uint64_t>(1000 - domain), clocks.clock_of(domain)) {}

  /// How far the common clock is from rank 0's, at a true time.
  [[nodiscard]] Seconds error_at(Seconds truth) const {
    return std::abs(common.to_common(clocks.show(domain, truth)) - clocks.show(0, truth));
  }
  /// What this clock and rank 0's drift apart in so long a time.
  [[nodiscard]] Seconds drifted(Seconds time) const { return std::abs(clocks.drift(domain) - clocks.drift(0)) * time; }

  int domain;
  SyntheticClocks clocks;
  CommonClock common;
};

struct DomainLayout {
  const char* name;
  std::vector<int> domains;  // by rank
};

/// The ways in which this number of ranks is divided into clock domains, which are numbered by their first ranks.
std::vector<DomainLayout> layouts(int ranks) {
  if (ranks == 2) return {{"a domain each", {0, 1}}};
  if (ranks == 3) return {{"a domain each", {0, 1, 2}}, {"one of two", {0, 1, 0}}, {"last two", {0, 1, 1}}};
  if (ranks == 4) {
    return {{"a domain each", {0, 1, 2, 3}},
            {"in blocks of two", {0, 0, 1, 1}},
            {"in turn", {0, 1, 0, 1}},
            {"three domains", {0, 1, 2, 1}}};
  }
  return {{"a domain each", {0, 1, 2, 3, 4}}, {"a pair and others", {0, 1, 2, 3, 0}}};
}

/// How many steps a domain is from rank 0's in a binomial tree.
int depth_of(int domain) { return std::popcount(static_cast<unsigned>(domain)); }

class CommonClockTest : public testing::Test {
 protected:
  void SetUp() override {
    if (Communicator::world().size() == 1) GTEST_SKIP() << "one rank has one clock";
  }

  /// Calls `test(world, domain of this rank)` for every layout of the job's ranks.
  template <typename Test>
  void for_each_layout(Test test) {
    const Communicator world = Communicator::world();
    for (const DomainLayout& layout : layouts(world.size())) {
      SCOPED_TRACE(layout.name);
      test(world, layout.domains[static_cast<std::size_t>(world.rank())]);
      world.barrier();
    }
  }

  test::JobClock clock_{0, kMessage};
};

/// Where the way there takes as long as the way back, nothing but the drift since the reading is left.
TEST_F(CommonClockTest, IsExactWhereBothWaysTakeEquallyLong) {
  for_each_layout([](const Communicator& world, int domain) {
    View on(world, domain, kDrift);
    for (int round = 0; round < 3; ++round) {
      const Seconds began = now();
      on.common.synchronise();
      EXPECT_LE(on.error_at(now()), on.drifted(now() - began) + kRounding);
      EXPECT_NEAR(on.common.error(), depth_of(domain) * kMessage, kRounding) << "half a round trip for each step";
    }
    EXPECT_EQ(on.common.error() == 0, domain == 0) << "only rank 0's own clock is free of error";
    EXPECT_FALSE(on.common.shared());
  });
}

/// What a rank other than 0 sends leaves late, so that nearly all of the way there and back is the way there: the worst
/// case of the bound. It does so on the way to rank 0; a rank between the two is late both ways.
TEST_F(CommonClockTest, ErrorIsABoundWhereOneWayIsSlow) {
  constexpr Seconds kLate = 2e-3;
  for_each_layout([](const Communicator& world, int domain) {
    const SyntheticClocks clocks(world, 0);
    const auto read = [&] {
      const Seconds time = clocks.show(domain, now());
      if (domain != 0) sleep_for(kLate);
      return time;
    };
    const CommonClock common(world, static_cast<std::uint64_t>(domain), read);
    const Seconds truth = now();
    const Seconds error = common.to_common(clocks.show(domain, truth)) - clocks.show(0, truth);
    const int depth = depth_of(domain);
    EXPECT_NEAR(error, domain == 0 ? 0 : kLate / 2, kRounding);
    EXPECT_NEAR(common.error(), depth * kMessage + (domain == 0 ? 0 : kLate / 2 + (depth - 1) * kLate), kRounding);
  });
}

/// Of the ping-pongs of a reading most leave late, the eighth least.
TEST_F(CommonClockTest, TheShortestRoundTripCounts) {
  constexpr Seconds kLeast = 2e-3;
  for_each_layout([](const Communicator& world, int domain) {
    const SyntheticClocks clocks(world, 0);
    int readings = 0;
    const auto read = [&] {
      const Seconds time = clocks.show(domain, now());
      const int ping_pong = readings++ / 2;
      if (domain != 0) sleep_for(kLeast * (1 + std::abs(ping_pong - 7)));
      return time;
    };
    const CommonClock common(world, static_cast<std::uint64_t>(domain), read);
    if (depth_of(domain) != 1) return;  // it does not depend on the order in which a rank serves others
    EXPECT_NEAR(common.error(), kLeast / 2 + kMessage, kRounding);
    EXPECT_NEAR(common.to_common(clocks.show(domain, now())) - clocks.show(0, now()), kLeast / 2, kRounding);
  });
}

TEST_F(CommonClockTest, IsReadWhenMade) {
  for_each_layout([](const Communicator& world, int domain) {
    const Seconds began = now();
    const View on(world, domain, kDrift);
    EXPECT_LE(on.error_at(now()), on.drifted(now() - began) + kRounding);
  });
}

TEST_F(CommonClockTest, RanksOfADomainAgree) {
  for_each_layout([](const Communicator& world, int domain) {
    View on(world, domain, kDrift);
    on.common.synchronise();
    const auto part = world.split(domain);
    const Seconds local = part->broadcast(on.clocks.show(domain, now()));
    EXPECT_EQ(part->broadcast(on.common.to_common(local)), on.common.to_common(local));
    EXPECT_EQ(part->broadcast(on.common.error()), on.common.error());
  });
}

/// Readings that are too close to tell the drift: the second one corrects what lies between the two, and no more.
TEST_F(CommonClockTest, InterpolationBeatsExtrapolation) {
  constexpr Seconds kBetween = 0.1;
  for_each_layout([](const Communicator& world, int domain) {
    View on(world, domain, kLargeDrift);
    on.common.synchronise();
    sleep_for(kBetween);
    const Seconds moment = now();
    EXPECT_NEAR(on.error_at(moment), on.drifted(kBetween), on.drifted(kBetween) / 100);
    sleep_for(kBetween);
    on.common.synchronise();
    EXPECT_LE(on.error_at(moment), on.drifted(kBetween) / 100) << "between two readings";
    sleep_for(kBetween);
    on.common.synchronise();
    EXPECT_LE(on.error_at(moment), on.drifted(kBetween) / 100) << "one reading later, on the line through the last two";
  });
}

/// Takes readings over 1.1 s, as a run of many epochs does.
void learn_drift(View& on) {
  for (int i = 0; i < 16; ++i) {
    sleep_for(0.07);
    on.common.synchronise();
  }
}

void expect_drift_known(View& on) {
  constexpr Seconds kAhead = 0.2;
  on.common.synchronise();
  EXPECT_LE(on.error_at(now() + kAhead), 1e-3 * on.drifted(kAhead) + kRounding);
}

TEST_F(CommonClockTest, DriftIsLearnt) {
  for_each_layout([](const Communicator& world, int domain) {
    View on(world, domain, kLargeDrift);
    learn_drift(on);
    expect_drift_known(on);
  });
}

/// Short epochs take readings in quick succession; they must not push out all that tell the drift.
TEST_F(CommonClockTest, DriftIsNotForgotten) {
  for_each_layout([](const Communicator& world, int domain) {
    View on(world, domain, kLargeDrift);
    learn_drift(on);
    for (int i = 0; i < 40; ++i) on.common.synchronise();
    expect_drift_known(on);
  });
}

TEST_F(CommonClockTest, ToLocalInvertsToCommon) {
  for_each_layout([](const Communicator& world, int domain) {
    View on(world, domain, 5000e-6);
    for (const Seconds time : {0.0, 0.6}) {  // without and with a known drift
      sleep_for(time);
      on.common.synchronise();
      for (const Seconds ahead : {0.0, 1e-5, 0.01, 1.0, 100.0}) {
        const Seconds local = on.clocks.show(domain, now()) + ahead;
        EXPECT_NEAR(on.common.to_local(on.common.to_common(local)), local, kRounding);
      }
    }
  });
}

/// Not collective where all ranks share a clock: only rank 0 calls it here, which would hang if it were.
TEST(SharedClock, CostsNothingAndIsExact) {
  const Communicator world = Communicator::world();
  int reads = 0;
  CommonClock clock(world, 42, [&] { return ++reads, now(); });
  EXPECT_TRUE(clock.shared());
  if (world.is_root()) clock.synchronise();
  EXPECT_EQ(reads, 0);
  EXPECT_EQ(clock.error(), 0);
  for (const Seconds time : {0.0, 1.0 / 3, 123456.789}) {
    EXPECT_EQ(clock.to_common(time), time);
    EXPECT_EQ(clock.to_local(time), time);
  }
}

/// Readings of a clock with the given drift, taken at the given times.
std::vector<ClockReading> readings_at(const std::vector<Seconds>& times, double drift) {
  std::vector<ClockReading> readings;
  readings.reserve(times.size());
  for (const Seconds time : times) readings.push_back({time, 7 + drift * time, 1e-6});
  return readings;
}

TEST(DriftOf, IsTheSlopeOfTheOffsets) {
  for (const double drift : {12.5e-6, -300e-6, 0.0}) {
    EXPECT_NEAR(drift_of(readings_at({10, 10.5}, drift)), drift, 1e-12);
    EXPECT_NEAR(drift_of(readings_at({10, 10.1, 10.3, 12, 20}, drift)), drift, 1e-12);
  }
}

TEST(DriftOf, IsNotTriedOnLessThanHalfASecond) {
  EXPECT_EQ(drift_of({}), 0);
  EXPECT_EQ(drift_of(readings_at({10}, 12.5e-6)), 0);
  EXPECT_EQ(drift_of(readings_at({10, 10.1, 10.49}, 12.5e-6)), 0);
}

TEST(DriftOf, AWrongReadingDoesNotMoveIt) {
  auto readings = readings_at({0, 1, 2, 3, 4, 5, 6}, 12.5e-6);
  readings[3].offset += 1e-3;
  EXPECT_NEAR(drift_of(readings), 12.5e-6, 1e-12);
}

TEST(DriftOf, InexactReadingsDoNotCount) {
  auto readings = readings_at({0, 1, 2, 3}, 12.5e-6);
  for (const std::size_t bad : {std::size_t{1}, std::size_t{3}}) {
    readings[bad].offset += 1e-4;
    readings[bad].error = 2e-4;
  }
  EXPECT_NEAR(drift_of(readings), 12.5e-6, 1e-12);
}

/// On a busy machine round trips take half a millisecond: that says nothing of clocks that differ by some ppm.
TEST(DriftOf, IsNotGuessedFromInexactReadings) {
  EXPECT_EQ(drift_of({{0, 7, 4e-4}, {0.6, 7 + 5e-4, 4e-4}}), 0);
  EXPECT_NEAR(drift_of({{0, 7, 4e-4}, {0.6, 7 + 5e-3, 4e-4}}), 5e-3 / 0.6, 1e-12);
}

/// The most exact readings are 10 ms apart and 1 us off: that is no drift of 100 ppm. The third one rules it out.
TEST(DriftOf, CloseReadingsDoNotTellIt) {
  EXPECT_NEAR(drift_of({{0, 7, 1e-6}, {0.01, 7 + 1e-6, 1e-6}, {0.7, 7, 5e-6}}), 0, 10e-6);
}

}  // namespace
}  // namespace fabricbench::mpi
