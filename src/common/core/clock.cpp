#include "common/core/clock.h"

#include <chrono>
#include <ctime>
#include <thread>

namespace fabricbench {

Seconds now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<Seconds>(time.tv_sec) + 1e-9 * static_cast<Seconds>(time.tv_nsec);
}

void sleep_for(Seconds time) {
  if (time > 0) std::this_thread::sleep_for(std::chrono::duration<Seconds>(time));
}

}  // namespace fabricbench
