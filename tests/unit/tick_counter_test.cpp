#include "common/host/tick_counter.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "common/core/clock.h"
#include "fake_root.h"

using fabricbench::now;
using fabricbench::Seconds;
using fabricbench::host::has_processor_counter;
using fabricbench::host::TickCounter;
using fabricbench::test::FakeRoot;

namespace tick_counter_test {

const std::string kSourceFile = "sys/devices/system/clocksource/clocksource0/current_clocksource";

// Counts the same time by the counter and by the clock, whose readings lie within each other.
void expect_same_as_clock(const TickCounter& counter) {
  const Seconds before = now();
  const std::uint64_t began = counter.read();
  const Seconds began_by = now();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const Seconds ends_after = now();
  const std::uint64_t ended = counter.read();
  const Seconds after = now();
  const Seconds counted = static_cast<double>(ended - began) * counter.tick();
  constexpr double kExact = 0.02;  // of the tick, which 50 ms of a busy machine tell no better
  EXPECT_GE(counted, (ends_after - began_by) * (1 - kExact));
  EXPECT_LE(counted, (after - before) * (1 + kExact));
}

TEST(TickCounter, CountsTheTimeThatTheClockShows) { expect_same_as_clock(TickCounter()); }

TEST(TickCounter, IsTheProcessorsWhereTheKernelTakesTheTimeFromIt) {
  FakeRoot root;
  root.write(kSourceFile, "tsc\n");
  EXPECT_EQ(TickCounter(root.path()).is_processors(), has_processor_counter());
}

TEST(TickCounter, IsTheClockEverywhereElse) {
  for (const char* const source : {"hpet", "kvm-clock", "tsc-early", ""}) {
    SCOPED_TRACE(source);
    FakeRoot root;
    root.write(kSourceFile, std::string(source) + "\n");
    const TickCounter counter(root.path());
    EXPECT_FALSE(counter.is_processors());
    EXPECT_EQ(counter.tick(), 1e-9);
    expect_same_as_clock(counter);
  }
  const FakeRoot empty;
  EXPECT_FALSE(TickCounter(empty.path()).is_processors());
}

TEST(TickCounter, GoesForwardAndCosts) {
  const TickCounter counter;
  std::uint64_t last = counter.read();
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t next = counter.read();
    EXPECT_GE(next, last);
    last = next;
  }
  EXPECT_GT(counter.cost(), 0);
}

}  // namespace tick_counter_test
