#include "common/watch/watchdog.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "common/core/exit_status.h"

namespace fabricbench {
namespace {

// Not the clock of the measurements, which tests replace: a watchdog needs the real time.
using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kMostLines = 16;
constexpr double kAsleep = 0.02;  // MPI polls while it waits, so a rank that uses less processor time is not in MPI

const char* words_for(Phase phase) {
  switch (phase) {
    case Phase::kEstimate: return "estimating";
    case Phase::kPrepare: return "filling the buffers for";
    case Phase::kWarmUp: return "warming up";
    case Phase::kMeasure: return "measuring";
    case Phase::kReduce: return "collecting the times of";
    case Phase::kCheck: return "checking";
    case Phase::kReport: return "reporting";
    case Phase::kStartUp: break;
  }
  return "starting up";
}

/// The first process's names, on every process.
std::vector<std::string> known_to_all(const mpi::Communicator& world, const std::vector<std::string>& names) {
  std::istringstream lines(world.broadcast(fmt::format("{}", fmt::join(names, "\n"))));
  std::vector<std::string> all;
  for (std::string line; std::getline(lines, line);) all.push_back(line);
  return all;
}

std::string line_of(int process, const std::vector<std::string>& names, const std::string& what) {
  return fmt::format("{}: {}", names[static_cast<std::size_t>(process)], what);
}

}  // namespace

void Heartbeat::enter_case(const std::string& label) {
  const std::lock_guard lock(mutex_);
  label_ = label;
}

std::string Heartbeat::activity() const {
  const std::lock_guard lock(mutex_);
  const char* words = words_for(phase_.load(std::memory_order_relaxed));
  return label_.empty() ? words : fmt::format("{} {}", words, label_);
}

Watchdog::Watchdog(const mpi::Communicator& world, const Heartbeat& heartbeat, Seconds timeout,
                   const std::vector<std::string>& names, std::function<std::string()> state,
                   std::function<void(const std::string&)> on_timeout)
    : heartbeat_(heartbeat),
      timeout_(timeout),
      rank_(world.rank()),
      names_(known_to_all(world, names)),
      state_(std::move(state)),
      on_timeout_(std::move(on_timeout)),
      process_table_(world) {
  if (timeout_ > 0) thread_ = std::thread([this] { watch(); });
}

Watchdog::~Watchdog() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stop_.notify_one();
  thread_.join();
}

/// The time for which the main thread has had a processor or waited for one: on a crowded machine, a rank that polls
/// may get almost none. Without schedstat (proc(5)) waiting does not count. 0 if unknown.
Seconds Watchdog::time_awake() const {
  std::uint64_t running_ns = 0;
  std::uint64_t runnable_ns = 0;
  std::ifstream file(fmt::format("/proc/self/task/{}/schedstat", main_thread_id_));
  if (file >> running_ns >> runnable_ns) return 1e-9 * static_cast<Seconds>(running_ns + runnable_ns);
  clockid_t clock{};
  timespec time{};
  if (pthread_getcpuclockid(main_thread_, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
  return static_cast<Seconds>(time.tv_sec) + 1e-9 * static_cast<Seconds>(time.tv_nsec);
}

std::string Watchdog::activity() const {
  const std::string state = state_();
  return state.empty() ? heartbeat_.activity() : fmt::format("{} ({})", heartbeat_.activity(), state);
}

StallDetector::Sight Watchdog::sight() const {
  const std::chrono::duration<Seconds> time = SteadyClock::now().time_since_epoch();
  return {heartbeat_.steps(), time.count(), time_awake()};
}

void Watchdog::watch() {
  StallDetector detector(rank_, timeout_, sight());
  const std::chrono::duration<Seconds> interval(detector.interval());
  std::unique_lock lock(mutex_);
  while (!stop_.wait_for(lock, interval, [this] { return stopping_; })) {
    const StallDetector::Sight seen = sight();
    const StallDetector::Stall stall = detector.look(seen);
    if (stall.action == StallDetector::Action::kNothing) continue;
    process_table_.report({seen.steps, stall.stuck_s, activity(), stall.busy});
    if (stall.action == StallDetector::Action::kEnd) end_job(stall.stuck_s);
  }
}

void Watchdog::end_job(Seconds stuck) {
  const std::string reason =
      fmt::format("no progress for {}, the limit is --timeout {:g}", readable_seconds(stuck), timeout_);
  if (rank_ != 0) {
    fmt::print(stderr, "fabricbench: {}: {}; it was {}, and {} did not answer\n",
               names_[static_cast<std::size_t>(rank_)], reason, activity(), names_.front());
    std::_Exit(static_cast<int>(ExitStatus::kTimeout));
  }
  std::string text = fmt::format("fabricbench: {}; the job is ended\n", reason);
  const std::vector<std::string> lines = who_is_missing(process_table_.reports(), names_);
  for (const std::string& line : lines) text += fmt::format("fabricbench:   {}\n", line);
  fmt::print(stderr, "{}", text);
  std::fflush(stderr);
  try {
    on_timeout_(fmt::format("{}; {}", reason, fmt::join(lines, "; ")));
  } catch (const std::exception& problem) {  // such as a full disk: the job ends all the same
    fmt::print(stderr, "fabricbench: {}\n", problem.what());
  }
  std::_Exit(static_cast<int>(ExitStatus::kTimeout));
}

std::vector<std::string> who_is_missing(const std::map<int, ProcessReport>& reports,
                                        const std::vector<std::string>& names) {
  std::uint64_t furthest = 0;
  bool somebody_polls = false;
  for (const auto& [process, report] : reports) {
    furthest = std::max(furthest, report.steps);
    somebody_polls = somebody_polls || report.busy >= kAsleep;
  }
  const auto stuck_line = [&](int process, const char* how, const ProcessReport& report) {
    return line_of(process, names,
                   fmt::format("{}: {} for {}", how, report.activity, readable_seconds(report.stuck_s)));
  };
  std::vector<std::string> missing;
  std::vector<int> waiting;
  for (int process = 0; process < static_cast<int>(names.size()); ++process) {
    const auto report = reports.find(process);
    if (report == reports.end()) {
      missing.push_back(line_of(process, names, "silent: stopped, dead or out of reach"));
    } else if (report->second.steps < furthest) {
      missing.push_back(stuck_line(process, "has not arrived", report->second));
    } else if (somebody_polls && report->second.busy < kAsleep) {
      missing.push_back(stuck_line(process, "asleep while others poll", report->second));
    } else {
      waiting.push_back(process);
    }
  }
  const std::size_t left_out = missing.size() > kMostLines ? missing.size() - kMostLines : 0;
  missing.resize(missing.size() - left_out);
  if (left_out > 0) missing.push_back(fmt::format("and {} more", left_out));
  if (!waiting.empty()) {
    const ProcessReport& first = reports.at(waiting.front());
    missing.push_back(fmt::format("{} rank{} wait{}, the first is {}", waiting.size(), waiting.size() == 1 ? "" : "s",
                                  waiting.size() == 1 ? "s" : "", line_of(waiting.front(), names, first.activity)));
  }
  return missing;
}

}  // namespace fabricbench
