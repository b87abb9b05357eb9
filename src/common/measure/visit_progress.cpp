#include "common/measure/visit_progress.h"

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "common/core/clock.h"

namespace fabricbench {

VisitProgress::VisitProgress(Progress& progress, const Heartbeat& heartbeat, std::string what, std::int64_t operations)
    : progress_(progress),
      heartbeat_(heartbeat),
      what_(std::move(what)),
      operations_(operations),
      first_step_(heartbeat.steps()),
      began_(now()) {
  if (progress.form() != ProgressForm::kNone) thread_ = std::thread([this] { watch(); });
}

VisitProgress::~VisitProgress() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void VisitProgress::watch() {
  constexpr std::chrono::milliseconds kInterval(500);
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kInterval, [this] { return is_over_; })) {
    if (!progress_.is_due()) continue;
    const auto done = static_cast<std::int64_t>(heartbeat_.steps() - first_step_);
    progress_.show(fmt::format("{}: {}", what_, visit_progress_text(done, operations_, now() - began_)));
  }
}

std::string visit_progress_text(std::int64_t done, std::int64_t operations, Seconds elapsed) {
  if (done <= 0 || done >= operations) return fmt::format("for {}", readable_duration(elapsed));
  const auto share = static_cast<double>(done) / static_cast<double>(operations);
  return fmt::format("{} of {} operations, about {} left", done, operations,
                     readable_duration(elapsed / share * (1 - share)));
}

}  // namespace fabricbench
