// Paths that are dead or fail now and then, though their hosts work with others.

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "cluster/pairs/attribution/failures.h"
#include "cluster/pairs/sets.h"
#include "cluster/pairs/thresholds.h"

namespace fabricbench::cluster {
namespace {

/// The attempts between two units. Direction::kSends is from the lower one to the higher one.
struct FailedPath {
  std::int32_t low = 0;  // units
  std::int32_t high = 0;
  AttemptsByDirection attempts;
  std::set<std::int32_t> rounds;
  std::set<std::int32_t> failed_rounds;

  /// The direction that all failures are of.
  [[nodiscard]] Direction direction() const {
    for (const Direction direction : {Direction::kSends, Direction::kReceives}) {
      if (attempts.in(direction).failures() == attempts.in(Direction::kBoth).failures()) return direction;
    }
    return Direction::kBoth;
  }
  [[nodiscard]] bool is_dead() const { return attempts.in(direction()).worked == 0; }
  /// Whether it was still dead when it was measured again.
  [[nodiscard]] bool stays_dead() const { return is_dead() && failed_rounds.size() > 1; }
  [[nodiscard]] double failed_meetings() const { return static_cast<double>(failed_rounds.size()); }

  void add(const Reading& reading, std::size_t place, bool is_forth, std::int32_t failed) {
    attempts.add(reading, place, is_forth ? Direction::kSends : Direction::kReceives, failed);
    rounds.insert(reading.round);
    if (reading.outcome == Outcome::kFailed) failed_rounds.insert(reading.round);
  }
};

using FailedPaths = std::map<std::pair<std::int32_t, std::int32_t>, FailedPath>;  // by their units

/// The paths with a failure that nothing explains.
FailedPaths failed_paths(const AttemptTable& table) {
  FailedPaths paths;
  const auto& readings = table.sweep->readings;
  for (std::size_t i = 0; i < table.failed.size(); ++i) {
    const auto& [place, from, to, is_explained] = table.failed[i];
    if (is_explained) continue;
    FailedPath& path = paths[std::minmax(from, to)];
    std::tie(path.low, path.high) = std::minmax(from, to);
    path.add(readings[place], place, from < to, static_cast<std::int32_t>(i));
  }
  for (std::size_t place = 0; place < readings.size() && !paths.empty(); ++place) {
    if (readings[place].outcome != Outcome::kMeasured) continue;
    const std::int32_t from = table.sender_of(readings[place]);
    const std::int32_t to = table.receiver_of(readings[place]);
    const auto path = paths.find(std::minmax(from, to));
    if (path != paths.end()) path->second.add(readings[place], place, from < to, -1);
  }
  return paths;
}

using Units = std::set<std::int32_t>;

bool has_either(const Units& units, const FailedPath& path) {
  return units.contains(path.low) || units.contains(path.high);
}

/// Units that fail with several hosts, and not only over paths that stay dead.
Units units_failing_with_several(const AttemptTable& table, const FailedPaths& paths) {
  std::map<std::int32_t, std::set<std::int32_t>> hosts;
  Units failing;
  for (const auto& [units, path] : paths) {
    hosts[path.low].insert(path.high / table.rails);
    hosts[path.high].insert(path.low / table.rails);
    if (!path.stays_dead()) failing.insert({path.low, path.high});
  }
  std::erase_if(failing, [&](std::int32_t unit) { return hosts[unit].size() < kSeveral; });
  return failing;
}

/// Meetings of two units.
struct MeetingCounts {
  double failed = 0;
  double all = 0;

  /// The share that usually fails. 0.2 failures in 10 meetings are added, since few do not prove that nothing ever
  /// fails.
  [[nodiscard]] double share() const { return (failed + 0.2) / (all + 10); }
};

/// The meetings that say how often chance makes one fail: without those of unsteady units and of paths that stay dead.
MeetingCounts usual_failure_rate(const AttemptTable& table, const FailedPaths& paths, const Units& unsteady) {
  MeetingCounts usual;
  for (std::int32_t unit = 0; unit < std::ssize(table.units); ++unit) {
    const auto worked = static_cast<double>(table.of(unit).rounds_worked);
    if (!unsteady.contains(unit)) usual.all += worked / 2;  // each meeting has two units
  }
  for (const auto& [units, path] : paths) {
    if (!has_either(unsteady, path) && !path.stays_dead()) usual.failed += path.failed_meetings();
  }
  usual.all += usual.failed;
  return usual;
}

/// The failures of a path. Its finding is undecided.
FailureRun run_of_path(const AttemptTable& table, const FailedPath& path, const MeetingCounts& usual) {
  Attempts failures;
  failures.failed = path.attempts.in(path.direction()).failed;
  FailureRun run = table.run_of(failures, {path.low});
  const auto hosts = static_cast<double>(table.sweep->hosts.size());
  run.looks = std::min((hosts - 1) / 2, usual.all / hosts);  // other paths of the host, each of two hosts
  Finding& finding = run.finding;
  const bool backwards = path.direction() == Direction::kReceives;
  const std::int32_t from = backwards ? path.high : path.low;
  const std::int32_t to = backwards ? path.low : path.high;
  finding.hosts = {from / table.rails, to / table.rails};
  if (path.direction() != Direction::kBoth) finding.direction = Direction::kSends;
  if (table.rails > 1) finding.rail = from % table.rails;
  if (from % table.rails != to % table.rails) finding.other_rail = to % table.rails;
  finding.other_way_fine = path.is_dead() && path.attempts.in(Direction::kBoth).worked > 0;
  const std::int64_t worked = path.is_dead() ? 0 : std::ssize(path.rounds) - std::ssize(path.failed_rounds);
  const double own = path.is_dead() ? 0 : path.failed_meetings();  // of the usual ones
  finding.false_alarm = table.chance_of(run, MeetingCounts{usual.failed - own, usual.all - own}.share(), worked);
  return run;
}

FollowUp follow_up_on(const AttemptTable& table, const FailedPath& path, std::string why) {
  const auto rail = static_cast<std::int16_t>(path.low % table.rails);
  return {path.low / table.rails, path.high / table.rails, rail, 1, std::move(why)};
}

/// Adds a finding on a path that never worked, and a follow-up if it may be chance or the fault of a host.
void report_dead_path(const AttemptTable& table, const FailedPath& path, const MeetingCounts& usual, double false_alarm,
                      FailureReport& report) {
  Finding finding = run_of_path(table, path, usual).finding;
  const bool both_work =
      table.works_besides(path.low, path.high / table.rails) && table.works_besides(path.high, path.low / table.rails);
  const bool is_sure = both_work && path.stays_dead() && finding.false_alarm < false_alarm;
  if (is_sure && !finding.small_pass) finding.blame = Blame::kDeadPair;
  report.findings.push_back(std::move(finding));
  if (is_sure) return;
  const auto failed = path.failed_rounds.size();
  report.follow_ups.push_back(
      follow_up_on(table, path, failed == 1 ? "failed once" : fmt::format("failed {} times", failed)));
}

/// Adds a finding on a path that fails now and then, or a follow-up if that is open. Returns whether it is sure.
bool report_unsteady_path(const AttemptTable& table, const FailedPath& path, const MeetingCounts& usual,
                          double false_alarm, FailureReport& report) {
  const FailureRun run = run_of_path(table, path, usual);
  Finding finding = run.finding;
  const std::size_t failed = path.failed_rounds.size();
  const std::size_t meetings = path.rounds.size();
  if (failed >= kSeveral && finding.false_alarm < false_alarm) {
    finding.blame = Blame::kTransient;
    finding.both_ways = table.sweep->readings[at(run.first)].both_ways;
    finding.readings = path.attempts.in(path.direction()).tried();
    finding.slow = finding.failed;
    finding.slow_rounds.assign(run.rounds.begin(), run.rounds.end());
    report.findings.push_back(std::move(finding));
    return true;
  }
  if (failed > 1 && finding.false_alarm < kLikely && meetings < kMany)
    report.follow_ups.push_back(
        follow_up_on(table, path, fmt::format("failed in {} of {} meetings", failed, meetings)));
  return false;
}

}  // namespace

double explain_by_paths(AttemptTable& table, double false_alarm, FailureReport& report) {
  const FailedPaths paths = failed_paths(table);
  const Units several = units_failing_with_several(table, paths);
  // If more than a quarter of all units do, the network is to blame, and none of them.
  const Units unsteady = 4 * several.size() > table.units.size() ? Units() : several;
  const MeetingCounts usual = usual_failure_rate(table, paths, unsteady);
  std::vector<Attempts> explained;
  for (const auto& [units, path] : paths) {
    bool is_of_path = !has_either(several, path);
    if (path.is_dead()) {
      report_dead_path(table, path, usual, false_alarm, report);
    } else {
      is_of_path = !has_either(unsteady, path) && report_unsteady_path(table, path, usual, false_alarm, report);
    }
    if (is_of_path) explained.push_back(path.attempts.in(path.direction()));
  }
  for (const Attempts& attempts : explained) table.explain(attempts);
  return usual.share();
}

}  // namespace fabricbench::cluster
