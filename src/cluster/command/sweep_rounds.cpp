#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/command/sweep.h"
#include "common/core/error.h"

namespace fabricbench::cluster {
namespace {

namespace fs = std::filesystem;

std::string seconds_in_words(std::int64_t seconds) {
  if (seconds < 120) return fmt::format("{} s", seconds);
  if (seconds < 7200) return fmt::format("{} min", (seconds + 30) / 60);
  return fmt::format("{} h {} min", seconds / 3600, seconds % 3600 / 60);
}

std::int64_t whole_seconds_since(Clock::time_point begin) { return static_cast<std::int64_t>(seconds_since(begin)); }

class SweepOfPairs {
 public:
  explicit SweepOfPairs(const SweepWork& work)
      : work_(work), is_joint_(share_a_job(work.benchmark.settings().test, work.request.rails)) {}

  void run() {
    std::vector<PairJob> before;
    plan();
    while (!pairs_.empty()) {
      if (before == pairs_) {
        throw Error(ExitStatus::kFailure,
                    fmt::format("no pair of the last round left a record in {}; see above", work_.file.path()));
      }
      before = pairs_;
      warn(work_.called, fmt::format("round {}{}{}", round_.number, round_.why.empty() ? "" : ": ", round_.why));
      const std::int64_t number = round_.number;
      const auto began = Clock::now();
      measure();
      const std::int64_t took = whole_seconds_since(began);
      plan();
      tell_progress(number, took);
      if (done_ == most_in_vain()) require_any_figure();
    }
    warn(work_.called, round_.why.empty() ? "the sweep is over" : round_.why);
  }

 private:
  void plan() {
    const Sweep sweep = read_sweep("plan_sweep", work_.file.hosts(), {work_.file.path()}, "");
    round_ = next_round(work_.request.plan, sweep);
    pairs_ = pairs_of(round_, sweep);
  }

  /// Measures a round over every rail. What one job for all rails leaves out, perhaps because of a dead one, is
  /// measured by a job for each.
  void measure() {
    std::map<std::string, std::vector<PairJob>> left;
    if (is_joint_) left = measure_jointly();
    for (const std::string& rail : work_.request.rails) {
      std::vector<PairJob> pairs = is_joint_ ? left[rail] : pairs_;
      for (PairJob& pair : pairs) {
        pair.rail = rail;
        if (is_joint_) pair.concurrent = static_cast<std::int64_t>(pairs.size());
      }
      if (!pairs.empty()) static_cast<void>(measure_pairs(work_, pairs));
    }
  }

  /// The pairs that were not measured, by rail.
  std::map<std::string, std::vector<PairJob>> measure_jointly() {
    const std::vector<std::string>& rails = work_.request.rails;
    std::vector<PairJob> pairs = pairs_;
    for (PairJob& pair : pairs) pair.rail = fmt::format("{}", fmt::join(rails, ","));
    const std::vector<PairEnd> ends = measure_pairs(work_, pairs);
    std::map<std::string, std::vector<PairJob>> left;
    bool any = false;
    for (std::size_t place = 0; place < pairs.size(); ++place) {
      for (const std::string& rail : ends[place].unmeasured) left[rail].push_back(pairs_[place]);
      any = any || ends[place].unmeasured.size() < rails.size();
    }
    if (pairs.size() > 1 && !any) {
      warn(work_.called,
           "no pair could be measured over all rails in one job; from here on, each rail has a job of its own");
      is_joint_ = false;
    }
    return left;
  }

  /// Prints the results of the round and the approximate time left.
  void tell_progress(std::int64_t number, std::int64_t took) {
    ++done_;
    std::string text = fmt::format("round {}: {} in {}", number, work_.file.counts_of(number), seconds_in_words(took));
    if (round_.rounds_left > 0) {
      const std::int64_t left = whole_seconds_since(began_) * round_.rounds_left / done_;
      text += fmt::format("; about {} more, {}", round_.rounds_left, seconds_in_words(left));
    }
    warn(work_.called, text);
  }

  /// The rounds after which something has to have worked. Of few hosts, each is to have met all others: a dead one may
  /// be in all pairs of two rounds.
  [[nodiscard]] std::int64_t most_in_vain() const {
    constexpr std::int64_t kFew = 5;
    const auto hosts = static_cast<std::int64_t>(work_.file.hosts().size());
    return hosts > 2 && hosts <= kFew ? hosts - 1 + hosts % 2 : 2;
  }

  /// If nothing works at all, links are not the cause, and more rounds would not help.
  void require_any_figure() const {
    const std::string reason = work_.file.only_failures();
    if (!reason.empty()) {
      throw Error(ExitStatus::kFailure, fmt::format("no pair could be measured in {} rounds; {}", done_, reason));
    }
  }

  const SweepWork& work_;
  bool is_joint_;  // one job for all rails of a pair
  PlannedRound round_;
  std::vector<PairJob> pairs_;
  std::int64_t done_ = 0;
  Clock::time_point began_ = Clock::now();
};

}  // namespace

std::vector<PairJob> pairs_of(const PlannedRound& round, const Sweep& sweep) {
  std::vector<PairJob> pairs;
  for (const Pair& meeting : round.meetings) {
    pairs.push_back({.hosts = {sweep.hosts[static_cast<std::size_t>(meeting.first)],
                               sweep.hosts[static_cast<std::size_t>(meeting.second)]},
                     .rail = "",
                     .round = round.number,
                     .concurrent = static_cast<std::int64_t>(round.meetings.size())});
  }
  return pairs;
}

std::vector<PairEnd> measure_pairs(const SweepWork& work, const std::vector<PairJob>& pairs) {
  std::vector<PairEnd> ends(pairs.size());
  for (std::size_t place = 0; place < pairs.size(); ++place) {
    const fs::path folder = work.folder / fmt::format("pair{}", place);
    work.benchmark.start(work.jobs, pairs[place], folder, [&ends, place, folder](const PairEnd& end) {
      ends[place] = end;
      std::error_code error;
      fs::remove_all(folder, error);
    });
  }
  if (wait_for_all(work.jobs)) throw SweepInterrupted();
  const bool is_refused =
      std::any_of(ends.begin(), ends.end(), [](auto& end) { return end.status == ExitStatus::kUsage; });
  if (!is_refused) return ends;
  // Wrong options would fail for every pair. Without its file, there is another attempt.
  if (work.file.last_round() < 0 && fs::is_regular_file(work.file.path())) fs::remove(work.file.path());
  throw UsageError("the benchmark refused its options; see its message above");
}

void sweep_rounds(const SweepWork& work) { SweepOfPairs(work).run(); }

}  // namespace fabricbench::cluster
