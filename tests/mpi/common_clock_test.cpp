// The common clock against the truth: all ranks of a test run on one host, so every synthetic clock is a known
// function of the one they share, and what rank 0's shows at any moment is known to all.

#include "common/mpi/common_clock.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "common/core/clock.h"

namespace fabricbench::mpi {
namespace {

constexpr Seconds kRounding = 1e-9;  // of doubles that hold some seconds
/// In 0.1 s it makes 5 ms, against which the errors of readings on a busy machine are small.
constexpr double kLargeDrift = 0.05;

void pause(Seconds time) { std::this_thread::sleep_for(std::chrono::duration<Seconds>(time)); }

/// Clocks of all ranks: each with an offset, and each running faster or slower than the true one.
class SyntheticClocks {
 public:
  SyntheticClocks(const Communicator& world, double drift_step)
      : rank_(world.rank()), drift_step_(drift_step), began_(world.broadcast(now())) {}

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
  int rank_;
  double drift_step_;
  Seconds began_;
};

/// A rank's view: the synthetic clock of its domain and the common clock on top of it.
struct Fixture {
  Fixture(const Communicator& world, int own_domain, double drift_step)
      : domain(own_domain),
        clocks(world, drift_step),
        common(world, static_cast<std::uint64_t>(1000 - domain), clocks.clock_of(domain)) {}

  /// How far the common clock is from rank 0's, at a true time.
  [[nodiscard]] Seconds error_at(Seconds truth) const {
    return std::abs(common.to_common(clocks.show(domain, truth)) - clocks.show(0, truth));
  }
  /// What the drift may add to the error of a reading in so long a time, on the way from rank 0 down the tree.
  [[nodiscard]] Seconds drifted(Seconds time) const {
    return 4 * std::abs(clocks.drift(domain) - clocks.drift(0)) * time;
  }

  int domain;
  SyntheticClocks clocks;
  CommonClock common;
};

struct Layout {
  const char* name;
  std::vector<int> domains;  // by rank
};

/// The ways in which this number of ranks is divided into clock domains. Rank 0 is in domain 0.
std::vector<Layout> layouts(int ranks) {
  if (ranks == 2) return {{"a domain each", {0, 1}}};
  if (ranks == 3) return {{"a domain each", {0, 1, 2}}, {"one of two", {0, 1, 0}}, {"last two", {0, 1, 1}}};
  if (ranks == 4) {
    return {{"a domain each", {0, 1, 2, 3}},
            {"in blocks of two", {0, 0, 1, 1}},
            {"in turn", {0, 1, 0, 1}},
            {"three domains", {0, 1, 2, 1}}};
  }
  return {};
}

/// Calls `test(world, domain of this rank)` for every layout of the job's ranks.
template <typename Test>
void for_each_layout(Test test) {
  const Communicator world = Communicator::world();
  for (const Layout& layout : layouts(world.size())) {
    SCOPED_TRACE(layout.name);
    test(world, layout.domains[static_cast<std::size_t>(world.rank())]);
    world.barrier();
  }
}

TEST(CommonClock, ErrorIsABound) {
  for_each_layout([](const Communicator& world, int domain) {
    Fixture on(world, domain, 12.5e-6);
    for (int round = 0; round < 20; ++round) {
      const Seconds began = now();
      world.barrier();  // the reading, which another rank may take, lies between the two
      on.common.synchronise();
      const Seconds ended = now();
      EXPECT_LE(on.error_at(ended), on.common.error() + on.drifted(ended - began) + kRounding);
      EXPECT_LT(on.common.error(), 0.1) << "no round trip takes so long";
    }
    EXPECT_EQ(on.common.error() == 0, domain == 0) << "only rank 0's own clock is free of error";
    EXPECT_FALSE(on.common.shared());
  });
}

/// What a rank other than 0 sends leaves 2 ms late, so that nearly all of the way there and back is the way there: the
/// worst case of the bound. Where the bound shows that nothing else took longer than 1 ms, the error is as large as
/// half of the difference, and not 0 by good luck.
TEST(CommonClock, ErrorIsABoundWhereOneWayIsSlow) {
  for_each_layout([](const Communicator& world, int domain) {
    const SyntheticClocks clocks(world, 0);
    const auto read = [&] {
      const Seconds time = clocks.show(domain, now());
      if (domain != 0) pause(2e-3);
      return time;
    };
    const CommonClock common(world, static_cast<std::uint64_t>(domain), read);
    const Seconds truth = now();
    const Seconds error = std::abs(common.to_common(clocks.show(domain, truth)) - clocks.show(0, truth));
    EXPECT_LE(error, common.error() + kRounding);
    if (domain != 0 && common.error() < 1.5e-3) {
      EXPECT_GE(error, 0.5e-3);
    }
  });
}

TEST(CommonClock, IsReadWhenMade) {
  for_each_layout([](const Communicator& world, int domain) {
    const Seconds began = now();
    const Fixture on(world, domain, 12.5e-6);
    const Seconds ended = now();
    EXPECT_LE(on.error_at(ended), on.common.error() + on.drifted(ended - began) + kRounding);
  });
}

TEST(CommonClock, RanksOfADomainAgree) {
  for_each_layout([](const Communicator& world, int domain) {
    Fixture on(world, domain, 12.5e-6);
    on.common.synchronise();
    const auto part = world.split(domain);
    const Seconds local = part->broadcast(on.clocks.show(domain, now()));
    EXPECT_EQ(part->broadcast(on.common.to_common(local)), on.common.to_common(local));
    EXPECT_EQ(part->broadcast(on.common.error()), on.common.error());
  });
}

TEST(CommonClock, InterpolationBeatsExtrapolation) {
  for_each_layout([](const Communicator& world, int domain) {
    Fixture on(world, domain, kLargeDrift);
    on.common.synchronise();
    pause(0.1);  // 5 ms of drift for each step between the domains
    const Seconds moment = now();
    const Seconds extrapolated = on.error_at(moment);
    const Seconds first_error = on.common.error();
    const Seconds before = now();
    world.barrier();  // the moment lies before the reading, which another rank may take
    on.common.synchronise();
    const Seconds after = now();
    const Seconds interpolated = on.error_at(moment);
    EXPECT_LE(interpolated, first_error + on.common.error() + on.drifted(after - before) + kRounding);
    pause(0.05);
    on.common.synchronise();
    if (domain == 0) return;
    EXPECT_LT(interpolated, extrapolated);
    EXPECT_LT(on.error_at(moment), extrapolated) << "one reading later";
  });
}

/// Takes a reading, and returns how long all ranks took for it.
Seconds synchronise(const Communicator& world, Fixture& on) {
  const Seconds began = now();
  world.barrier();  // rank 0 may read its clock for others before this rank comes
  on.common.synchronise();
  return now() - began;
}

/// Takes readings over 1.1 s, as a run of many epochs does.
void learn_drift(const Communicator& world, Fixture& on) {
  for (int i = 0; i < 16; ++i) {
    pause(0.07);
    synchronise(world, on);
  }
}

/// A reading's own error comes on top of what is left of the drift: a third of what was found for it, which is half of
/// it where too much was found.
void expect_drift_known(const Communicator& world, Fixture& on) {
  constexpr Seconds kAhead = 0.2;
  const Seconds took = synchronise(world, on);
  const Seconds drifts = std::abs(on.clocks.drift(on.domain) - on.clocks.drift(0)) * kAhead;
  EXPECT_LE(on.error_at(now() + kAhead), drifts / 2 + on.common.error() + on.drifted(took) + kRounding);
}

TEST(CommonClock, DriftIsLearnt) {
  for_each_layout([](const Communicator& world, int domain) {
    Fixture on(world, domain, kLargeDrift);
    learn_drift(world, on);
    expect_drift_known(world, on);
  });
}

/// Short epochs take readings in quick succession; they must not push out all that tell the drift.
TEST(CommonClock, DriftIsNotForgotten) {
  for_each_layout([](const Communicator& world, int domain) {
    Fixture on(world, domain, kLargeDrift);
    learn_drift(world, on);
    for (int i = 0; i < 40; ++i) on.common.synchronise();
    expect_drift_known(world, on);
  });
}

TEST(CommonClock, ToLocalInvertsToCommon) {
  for_each_layout([](const Communicator& world, int domain) {
    Fixture on(world, domain, 5000e-6);
    for (const Seconds time : {0.0, 0.6}) {  // without and with a known drift
      pause(time);
      on.common.synchronise();
      for (const Seconds ahead : {0.0, 1e-5, 0.01, 1.0, 100.0}) {
        const Seconds local = on.clocks.show(domain, now()) + ahead;
        EXPECT_NEAR(on.common.to_local(on.common.to_common(local)), local, kRounding);
      }
    }
  });
}

/// Not collective where all ranks share a clock: only rank 0 calls it here, which would hang if it were.
TEST(CommonClock, OneSharedClockCostsNothingAndIsExact) {
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
