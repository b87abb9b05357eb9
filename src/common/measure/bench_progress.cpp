#include "common/measure/bench_progress.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <limits>
#include <mutex>
#include <stop_token>

#include <fmt/format.h>

#include "common/core/clock.h"

namespace fabricbench {
namespace {

constexpr Seconds kLongRun = 30;        // which says at once how long it will take
constexpr double kEnoughToTell = 0.02;  // of what is planned, from which the time left can be told
constexpr Seconds kTelling = 1;         // of a measurement, by which the time of larger sizes can be told
constexpr Bytes kLarge = 1 << 20;  // from which times grow with sizes, and a wait for a processor is not most of it

}  // namespace

/// The first line comes as soon as much time is left to tell.
std::jthread follow_visit(Progress& progress, const Heartbeat& heartbeat, const std::string& what,
                          std::int64_t operations, double rest) {
  if (progress.form() == ProgressForm::kNone) return {};
  return std::jthread([&progress, &heartbeat, what, operations, rest, first_step = heartbeat.steps(),
                       began = now()](const std::stop_token& stop) {
    constexpr std::chrono::milliseconds kInterval(500);
    bool has_told = false;
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    while (!stopped.wait_for(lock, stop, kInterval, [&stop] { return stop.stop_requested(); })) {
      const auto done = static_cast<std::int64_t>(heartbeat.steps() - first_step);
      const Seconds elapsed = now() - began;
      const std::optional<Seconds> left = time_left(done, operations, elapsed, rest);
      if (!progress.is_due() && (has_told || left.value_or(0) < kLongRun)) continue;
      has_told = true;
      const std::string text =
          left ? fmt::format("{} of {} operations, about {} left", done, operations, readable_duration(*left))
               : fmt::format("for {}", readable_duration(elapsed));
      progress.show(fmt::format("{}: {}", what, text));
    }
  });
}

std::optional<Seconds> time_left(std::int64_t done, std::int64_t operations, Seconds elapsed, double rest) {
  if (done <= 0 || done >= operations) return std::nullopt;
  const Seconds whole = elapsed * static_cast<double>(operations) / static_cast<double>(done);
  return whole - elapsed + whole * rest;
}

std::string case_text(const Run& run, const Case& which) { return describe(which, run.test.traits().row_kind); }

double times_as_long(std::span<const MeasuredCase> rest, const Case& measured) {
  double times = 0;
  for (const MeasuredCase& measured_case : rest) {
    const double ratio =
        measured.size > 0 ? static_cast<double>(measured_case.which().size) / static_cast<double>(measured.size) : 1;
    times += std::max(1.0, ratio);
  }
  return times;
}

BenchProgress::BenchProgress(const Run& run, const Planner& planner)
    : run_(run), planner_(planner), progress_(progress_form(run.world().is_root(), run.options.output.progress)) {}

void BenchProgress::announce(std::int64_t cases) const {
  if (!run_.world().is_root() || run_.options.iterations) return;
  const Seconds budget = run_.options.time_budget;
  const Seconds most = static_cast<double>(cases) * budget;
  if (most < kLongRun) return;
  constexpr double kFirst = Planner::kFirstShare;
  fmt::print(stderr,
             "fabricbench: {} measurements of {} to {} each take {} to {}; a lower --time-budget shortens them\n",
             cases, readable_duration(budget * kFirst), readable_duration(budget), readable_duration(most * kFirst),
             readable_duration(most));
}

/// The time of an operation of a case that is not planned yet, from those up to `last`, of which the last one is too
/// long for its time budget: from a large size in the ratio of the sizes, by the fastest large one; else as the
/// shortest. A busy host prolongs some operations, and hardly all.
Seconds BenchProgress::expected_operation(std::span<const MeasuredCase> measured_cases, std::size_t last,
                                          Bytes size) const {
  const bool is_large = measured_cases[last].which().size >= kLarge;
  Seconds shortest = std::numeric_limits<Seconds>::infinity();
  for (const MeasuredCase& known : measured_cases.first(last + 1)) {
    const Bytes known_size = known.which().size;
    if (is_large && (known_size < kLarge || !planner_.is_long(known.plan, known.operation_time))) continue;
    const double ratio = is_large ? static_cast<double>(size) / static_cast<double>(known_size) : 1.0;
    shortest = std::min(shortest, known.operation_time * ratio);
  }
  return shortest;
}

void BenchProgress::announce_long_operations(std::span<const MeasuredCase> measured_cases, std::size_t last) {
  constexpr std::size_t kFew = 3;  // small sizes of which a busy host may prolong all
  constexpr double kToPlan = 3;    // operations: two, and about one more to fill the buffers
  if (has_announced_ || !run_.world().is_root()) return;
  const MeasuredCase& latest = measured_cases[last];
  const bool tells =
      planner_.is_long(latest.plan, latest.operation_time) && (latest.which().size >= kLarge || last >= kFew);
  if (!tells && last + 1 < measured_cases.size())
    return;  // one that is short changes nothing: there may be 100,000 sizes
  Seconds all = 0;
  Seconds longest = 0;
  for (std::size_t i = 0; i < measured_cases.size(); ++i) {
    const bool is_known = i <= last;
    const Seconds each = is_known ? measured_cases[i].operation_time
                                  : expected_operation(measured_cases, last, measured_cases[i].which().size);
    all += is_known ? measured_cases[i].spent : kToPlan * each;
    all += planner_.visit_time(each) * static_cast<double>(planner_.epochs(each));
    longest = std::max(longest, each);
  }
  const Options& options = run_.options;
  if (all < kLongRun || all < options.time_budget * static_cast<double>(measured_cases.size())) return;
  has_announced_ = true;
  progress_.clear();
  fmt::print(stderr,
             "fabricbench: {} measurements take about {}: operations of up to {} are long for --time-budget {:g}; "
             "shorter with {}\n",
             measured_cases.size(), readable_duration(all), readable_duration(longest), options.time_budget,
             options.quick ? "-n 1" : "--quick or -n 3");
}

void BenchProgress::announce_rest(std::span<const MeasuredCase> rest, const Case& measured, Seconds took) {
  if (has_announced_ || took < kTelling || measured.size == 0 || !run_.world().is_root()) return;
  const Seconds left = took * times_as_long(rest, measured);
  if (left < kLongRun) return;
  has_announced_ = true;
  progress_.clear();
  fmt::print(stderr, "fabricbench: the remaining {} measurements take about {}; a lower --iters shortens them\n",
             rest.size(), readable_duration(left));
}

void BenchProgress::show(const std::string& what) {
  if (progress_.is_due()) progress_.show(what);
}

void BenchProgress::show_epoch(const Epochs& epochs, std::span<const MeasuredCase> measured_cases,
                               const MeasuredCase& visited, double done) {
  if (!progress_.is_due()) return;
  Seconds carried_out = 0;
  Seconds planned = 0;
  for (const MeasuredCase& measured_case : measured_cases) {
    const bool more =
        measured_case.epochs_done < run_.options.epochs || measured_case.wants_more(planner_, measured_cases.size());
    const std::int64_t all = more ? std::min(epochs.planned, measured_case.most_epochs) : measured_case.epochs_done;
    const Seconds visit = planner_.visit_time(measured_case.operation_time);
    carried_out += visit * std::min(static_cast<double>(measured_case.epochs_done) + done, static_cast<double>(all));
    planned += visit * static_cast<double>(all);
  }
  std::string left;
  if (carried_out >= kEnoughToTell * planned && carried_out > 0) {
    const Seconds elapsed = now() - epochs.began;
    const Seconds whole = elapsed / carried_out * planned;
    const Seconds later = whole / static_cast<double>(measured_cases.size()) * static_cast<double>(epochs.later);
    left = fmt::format(", about {} left", readable_duration(std::max(whole - elapsed, 0.0) + later));
  }
  progress_.show(fmt::format("epoch {} of {}{}; now {}", visited.epochs_done + 1, epochs.planned, left,
                             case_text(run_, visited.which())));
}

}  // namespace fabricbench
