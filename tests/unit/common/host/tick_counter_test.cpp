#include "common/host/tick_counter.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "common/core/units.h"
#include "fake_root.h"
#include "scripted_clock.h"

using fabricbench::Seconds;
using fabricbench::host::has_processor_counter;
using fabricbench::host::processor_count;
using fabricbench::host::TickCounter;
using fabricbench::test::FakeRoot;
using fabricbench::test::ScriptedClock;

namespace tick_counter_test {

const std::string kSourceFile = "sys/devices/system/clocksource/clocksource0/current_clocksource";

TEST(TickCounter, HasATickOfTheTimeThatTheClockShows) {
  if (!has_processor_counter()) GTEST_SKIP() << "this processor has no counter";
  FakeRoot root;
  root.write(kSourceFile, "tsc\n");
  ScriptedClock clock;
  const std::uint64_t before = processor_count();
  const TickCounter counter(root.path());
  const std::uint64_t made = processor_count();
  clock.advance(2);
  const std::uint64_t asked = processor_count();
  const Seconds tick = counter.tick();
  const std::uint64_t after = processor_count();
  // Two seconds, in as many counts as really came meanwhile, however many that were.
  EXPECT_GE(tick, 2 / static_cast<double>(after - before));
  EXPECT_LE(tick, 2 / static_cast<double>(asked - made));
}

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
    ScriptedClock clock;
    const std::uint64_t began = counter.read();
    clock.advance(0.05);
    EXPECT_NEAR(static_cast<double>(counter.read() - began), 50e6, 1);
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
