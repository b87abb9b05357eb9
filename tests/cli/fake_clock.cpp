// Replaces the clock of a whole program (common/core/clock.h): each reading is one step after the last, so
// every time that the program reports is known beforehand.

#include <chrono>
#include <cstdlib>
#include <thread>

#include "common/core/clock.h"

namespace fabricbench {
namespace {

/// FAKE_CLOCK_STEP_LOG2 is the step in powers of two of a second: sums of such steps are exact.
Seconds step() {
  constexpr int kDefaultLog2 = -8;  // 3906.25 us
  const char* text = std::getenv("FAKE_CLOCK_STEP_LOG2");
  Seconds length = 1;
  for (int log2 = text == nullptr ? kDefaultLog2 : std::atoi(text); log2 < 0; ++log2) length /= 2;
  return length;
}

}  // namespace

Seconds now() {
  static const Seconds length = step();
  static Seconds time = 0;
  return time += length;
}

void sleep_for(Seconds time) { std::this_thread::sleep_for(std::chrono::duration<Seconds>(time)); }

}  // namespace fabricbench
