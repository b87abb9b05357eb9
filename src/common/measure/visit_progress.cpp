#include "common/measure/visit_progress.h"

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "common/core/clock.h"

namespace fabricbench {

VisitProgress::VisitProgress(Progress& progress, const Heartbeat& heartbeat, std::string what, std::int64_t operations,
                             double rest)
    : progress_(progress),
      heartbeat_(heartbeat),
      what_(std::move(what)),
      operations_(operations),
      rest_(rest),
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

/// The first line comes as soon as much time is left to tell.
void VisitProgress::watch() {
  constexpr std::chrono::milliseconds kInterval(500);
  bool has_told = false;
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kInterval, [this] { return is_over_; })) {
    const auto done = static_cast<std::int64_t>(heartbeat_.steps() - first_step_);
    const Seconds elapsed = now() - began_;
    const std::optional<Seconds> left = time_left(done, operations_, elapsed, rest_);
    if (!progress_.is_due() && (has_told || left.value_or(0) < kLongRun)) continue;
    has_told = true;
    const std::string text =
        left ? fmt::format("{} of {} operations, about {} left", done, operations_, readable_duration(*left))
             : fmt::format("for {}", readable_duration(elapsed));
    progress_.show(fmt::format("{}: {}", what_, text));
  }
}

std::optional<Seconds> time_left(std::int64_t done, std::int64_t operations, Seconds elapsed, double rest) {
  if (done <= 0 || done >= operations) return std::nullopt;
  const Seconds whole = elapsed * static_cast<double>(operations) / static_cast<double>(done);
  return whole - elapsed + whole * rest;
}

}  // namespace fabricbench
