#include "common/core/clock.h"

#include <ctime>

namespace fabricbench {

Seconds now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<Seconds>(time.tv_sec) + 1e-9 * static_cast<Seconds>(time.tv_nsec);
}

}  // namespace fabricbench
