#include "common/engine/round_report.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <mutex>
#include <optional>

#include <fmt/format.h>

#include "common/core/clock.h"

namespace fabricbench {
namespace {

/// The ending that a process other than the first one, which is this process, has reported; empty if none has.
std::optional<Ending> told_to(ProcessTable& process_table) {
  process_table.report({});
  for (const auto& [process, told] : process_table.reports()) {
    if (process == 0) continue;
    Ending ending;
    ending.exit_status = static_cast<int>(told.steps);
    ending.reason = told.activity;
    return ending;
  }
  return std::nullopt;
}

/// Writes to the outputs. A failure to write must not keep the job from ending.
void write_if_possible(const std::function<void(const Ending&)>& write, const Ending& ending) {
  try {
    write(ending);
  } catch (const std::exception& problem) {
    fmt::print(stderr, "fabricbench: {}\n", problem.what());
  }
}

}  // namespace

void FailureNotice::tell(const Ending& ending) {
  constexpr int kTimes = 5;
  constexpr Seconds kPause = 0.1;
  for (int time = 0; time < kTimes; ++time) {
    process_table_.report({.steps = static_cast<std::uint64_t>(ending.exit_status), .activity = ending.reason});
    sleep_for(kPause);
  }
}

FailureNotice::Listener::Listener(FailureNotice& words, std::function<void(const Ending&)> write)
    : thread_([&process_table = words.process_table_, write = std::move(write)](const std::stop_token& stop) {
        constexpr auto kPause = std::chrono::milliseconds(100);
        std::mutex mutex;
        std::condition_variable_any stopped;
        std::unique_lock lock(mutex);
        while (!stopped.wait_for(lock, stop, kPause, [&stop] { return stop.stop_requested(); })) {
          if (const auto ending = told_to(process_table)) {
            write_if_possible(write, *ending);
            return;
          }
        }
      }) {}

}  // namespace fabricbench
