#include "common/watch/progress.h"

#include <cstdio>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "common/core/clock.h"
#include "common/watch/terminal.h"

namespace fabricbench {
namespace {

constexpr Seconds kInterval = 0.2;

}  // namespace

bool ProgressLine::wanted() { return isatty(STDERR_FILENO) != 0 || launcher_has_terminal(STDERR_FILENO); }

void ProgressLine::show(std::int64_t done, std::int64_t planned, Seconds left) {
  if (!shown_) return;
  const Seconds time = now();
  if (last_ >= 0 && time - last_ < kInterval) return;
  last_ = time;
  visible_ = true;
  fmt::print(stderr, "\r# measured {} of {} {}, about {:.0f} s left   ", done, planned, what_, left);
  std::fflush(stderr);
}

void ProgressLine::clear() {
  if (!visible_) return;
  visible_ = false;
  fmt::print(stderr, "\r{:60}\r", "");
  std::fflush(stderr);
}

}  // namespace fabricbench
