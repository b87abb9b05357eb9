// The clock of the programs of the tests (common/core/clock.h). Where FAKE_CLOCK_STEP_LOG2 is set, each reading is one
// step after the last, so every time that a program reports is known beforehand; otherwise it is the real one.

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <thread>

#include "common/core/clock.h"
#include "common/host/usage.h"
#include "run.h"

namespace fabricbench {
namespace {

Seconds step = 0;  // 0: real time
bool frozen = false;
Seconds time_shown = 0;

}  // namespace

/// FAKE_CLOCK_STEP_LOG2 is the step in powers of two of a second, none of them positive: sums of such steps are exact.
/// Or it is `frozen`: the clock stands still.
void test::start_clock() {
  const char* log2 = std::getenv("FAKE_CLOCK_STEP_LOG2");
  frozen = log2 != nullptr && std::strcmp(log2, "frozen") == 0;
  step = log2 == nullptr ? 0 : 1;
  for (int halvings = log2 == nullptr ? 0 : -std::atoi(log2); halvings > 0; --halvings) step /= 2;
  time_shown = 0;
}

Seconds now() {
  if (frozen) return 1;
  if (step > 0) return time_shown += step;
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<Seconds>(time.tv_sec) + 1e-9 * static_cast<Seconds>(time.tv_nsec);
}

Seconds host::lead_of_clock() { return 0; }  // a clock made for a test differs from the kernel's by intent

void sleep_for(Seconds time) { std::this_thread::sleep_for(std::chrono::duration<Seconds>(time)); }

}  // namespace fabricbench
