#include "common/harness/progress.h"

#include <cstdio>
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "common/core/clock.h"

namespace fabricbench {
namespace {

constexpr Seconds kInterval = 0.2;

}  // namespace

bool ProgressLine::wanted() {
  if (isatty(STDERR_FILENO) != 0) return true;
  std::error_code problem;
  const auto target = std::filesystem::read_symlink(fmt::format("/proc/{}/fd/2", getppid()), problem);
  return !problem && (target.native().rfind("/dev/pts/", 0) == 0 || target.native().rfind("/dev/tty", 0) == 0);
}

void ProgressLine::show(std::int64_t done, std::int64_t planned, Seconds left) {
  if (!shown_) return;
  const Seconds time = now();
  if (last_ >= 0 && time - last_ < kInterval) return;
  last_ = time;
  visible_ = true;
  fmt::print(stderr, "\r# measured {} of {} epochs, about {:.0f} s left   ", done, planned, left);
  std::fflush(stderr);
}

void ProgressLine::clear() {
  if (!visible_) return;
  visible_ = false;
  fmt::print(stderr, "\r{:60}\r", "");
  std::fflush(stderr);
}

}  // namespace fabricbench
