// Paths that fail now and then, though both of their hosts work.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "cluster/attribution/failures.h"
#include "cluster/attribution/units.h"
#include "cluster/attribution/unsteady_paths.h"
#include "cluster/robust.h"

namespace fabricbench::cluster {
namespace {

constexpr std::int64_t kFailuresToBlame = 3;  // meetings
/// A path that failed twice is measured again until it is sure that it is unsteady, or its chance exceeds this, or it
/// has met often enough (kMeetingsToSettle).
constexpr double kLikelyChanceOfPath = 0.5;
/// A unit is fine with others if chance makes as many of its other meetings fail with more than this probability.
constexpr double kOrdinary = 0.05;
constexpr std::int32_t kMeetingsToAsk = 4;

using Path = std::pair<std::int32_t, std::int32_t>;  // units, the lower one first

/// Attempts in a direction.
struct Tried {
  std::int64_t readings = 0;
  std::int64_t failed = 0;
};

/// The attempts between two units.
struct PathRecord {
  std::set<std::int32_t> rounds;
  std::set<std::int32_t> failed_rounds;
  Tried forth;  ///< from the lower unit
  Tried back;
  bool both_ways = false;
  std::size_t first_failed = std::numeric_limits<std::size_t>::max();

  void add(const Reading& reading, std::size_t place, bool is_forth) {
    rounds.insert(reading.round);
    both_ways = both_ways || reading.both_ways;
    Tried& way = is_forth ? forth : back;
    ++way.readings;
    if (reading.outcome != Outcome::kFailed) return;
    ++way.failed;
    failed_rounds.insert(reading.round);
    first_failed = std::min(first_failed, place);
  }
};

/// Paths with a direction that has failed and has worked, and that nothing dead explains.
std::map<Path, PathRecord> paths_that_fail(const Sweep& sweep, const Failures& failures) {
  std::map<Path, PathRecord> paths;
  for (const FailedFlow& flow : failures.flows) {
    if (flow.worked > 0 && !failures.is_explained(flow.from, flow.to, flow.both_ways)) {
      paths[std::minmax(flow.from, flow.to)];
    }
  }
  if (paths.empty()) return paths;
  for (std::size_t place = 0; place < sweep.readings.size(); ++place) {
    const Reading& reading = sweep.readings[place];
    if (!has_worked_or_failed(reading) || reading.from == reading.to) continue;
    const std::int32_t from = failures.unit_of(reading.from, reading.from_rail);
    const std::int32_t to = failures.unit_of(reading.to, reading.to_rail);
    const auto found = paths.find(std::minmax(from, to));
    if (found != paths.end()) found->second.add(reading, place, from < to);
  }
  return paths;
}

/// An upper estimate, by two standard errors, of the share of meetings that fail, without the readings in `own`. A
/// meeting has two readings, one for each direction, and each may fail.
double share_of_others(const Failures& failures, const Tried& own) {
  const double failed = std::max(static_cast<double>(failures.usual_failed - own.failed), 0.0) + 0.4;
  const double all = std::max(static_cast<double>(failures.usual_tried - own.readings), 0.0) + 20;
  return std::min(1.0, 2 * (failed + 2 * std::sqrt(failed)) / all);
}

/// The attempts over paths that failed in two meetings or more; none if there are many such paths.
Tried of_few_paths(const std::map<Path, PathRecord>& paths) {
  constexpr int kFew = 3;
  Tried all;
  int again = 0;
  for (const auto& [path, record] : paths) {
    if (record.failed_rounds.size() < 2) continue;
    if (++again > kFew) return {};
    all.readings += record.forth.readings + record.back.readings;
    all.failed += record.forth.failed + record.back.failed;
  }
  return all;
}

/// Whether a unit's meetings without `partner` fail no more often than usual.
bool is_fine_besides(const Sweep& sweep, const Failures& failures, std::int32_t unit, std::int32_t partner,
                     double usual) {
  std::set<std::pair<std::int32_t, std::int32_t>> all;  // unit and round
  std::set<std::pair<std::int32_t, std::int32_t>> failed;
  for (const Reading& reading : sweep.readings) {
    const std::int32_t from = failures.unit_of(reading.from, reading.from_rail);
    const std::int32_t to = failures.unit_of(reading.to, reading.to_rail);
    if ((from != unit && to != unit) || !has_worked_or_failed(reading)) continue;
    const std::int32_t other = from == unit ? to : from;
    if (other == partner || failures.is_explained(from, to, reading.both_ways)) continue;
    all.insert({other, reading.round});
    if (reading.outcome == Outcome::kFailed) failed.insert({other, reading.round});
  }
  return binomial_tail(static_cast<std::int64_t>(all.size()), usual, static_cast<std::int64_t>(failed.size())) >
         kOrdinary;
}

Finding failing_path(const Sweep& sweep, const Failures& failures, const Path& path, const PathRecord& record,
                     double false_alarm) {
  const bool only_forth = record.back.failed == 0;
  const bool only_back = record.forth.failed == 0;
  const bool one_way = (only_forth || only_back) && !record.both_ways;
  const std::int32_t from = one_way && only_back ? path.second : path.first;
  const std::int32_t to = one_way && only_back ? path.first : path.second;
  Finding finding;
  finding.blame = Blame::kTransient;
  finding.hosts = {from / failures.rails, to / failures.rails};
  if (one_way) finding.direction = Direction::kSends;
  finding.both_ways = record.both_ways;
  if (failures.rails > 1) finding.rail = from % failures.rails;
  if (from % failures.rails != to % failures.rails) finding.other_rail = to % failures.rails;
  if (!one_way || only_forth) finding.readings += record.forth.readings;
  if (!one_way || only_back) finding.readings += record.back.readings;
  finding.failed = record.forth.failed + record.back.failed;
  finding.slow = finding.failed;
  finding.slow_rounds.assign(record.failed_rounds.begin(), record.failed_rounds.end());
  finding.partners = 1;
  finding.false_alarm = false_alarm;
  finding.reason = reason_of(sweep, record.first_failed);
  return finding;
}

/// The first unit of a path that also fails with others, and its partner; nothing: both are fine with others.
std::optional<Path> end_that_fails(const Sweep& sweep, const Failures& failures, const Path& path, double usual) {
  for (const auto& [unit, other] : {path, Path{path.second, path.first}}) {
    if (!is_fine_besides(sweep, failures, unit, other, usual)) return Path{unit, other};
  }
  return std::nullopt;
}

FollowUp follow_up_on_end(const Sweep& sweep, const Failures& failures, const Path& end) {
  return {end.first / failures.rails,
          -1,
          static_cast<std::int16_t>(end.first % failures.rails),
          kMeetingsToAsk,
          fmt::format("fails now and then with {}: with others too?",
                      sweep.hosts[static_cast<std::size_t>(end.second / failures.rails)]),
          false,
          true};
}

}  // namespace

FailingPaths find_failing_paths(const Sweep& sweep, const Failures& failures, double false_alarm) {
  FailingPaths paths;
  const auto hosts = static_cast<double>(sweep.hosts.size());
  const double paths_tested = std::min(hosts * (hosts - 1) / 2, static_cast<double>(sweep.readings.size()));
  const std::map<Path, PathRecord> failing = paths_that_fail(sweep, failures);
  const Tried of_few = of_few_paths(failing);
  for (const auto& [path, record] : failing) {
    const auto all = static_cast<std::int64_t>(record.rounds.size());
    const auto failed = static_cast<std::int64_t>(record.failed_rounds.size());
    if (failed < 2) continue;
    const double usual = share_of_others(
        failures, {record.forth.readings + record.back.readings, record.forth.failed + record.back.failed});
    const double chance = family_wise(binomial_tail(all, usual, failed), paths_tested);
    if (failed >= kFailuresToBlame && chance < false_alarm) {
      if (const std::optional<Path> end = end_that_fails(sweep, failures, path, usual)) {
        paths.open.push_back(follow_up_on_end(sweep, failures, *end));
      } else {
        paths.sure.push_back(failing_path(sweep, failures, path, record, chance));
      }
      continue;
    }
    // A few paths that fail often hide each other, since they raise the usual share. They are followed up, but not
    // blamed.
    const double besides = of_few.readings > 0 ? share_of_others(failures, of_few) : usual;
    const double chance_besides = family_wise(binomial_tail(all, besides, failed), paths_tested);
    const bool is_likely_chance = std::min(chance, chance_besides) >= kLikelyChanceOfPath;
    if (!may_be_unsteady(failed, all) || is_likely_chance || all >= kMeetingsToSettle) continue;
    paths.open.push_back({path.first / failures.rails, path.second / failures.rails,
                          static_cast<std::int16_t>(path.first % failures.rails), 1,
                          fmt::format("failed in {} of {} meetings", failed, all)});
  }
  return paths;
}

void report_failing_paths(const FailingPaths& paths, const std::vector<char>& blamed, Verdict& verdict) {
  const auto is_blamed = [&](std::int32_t host) { return host >= 0 && blamed[static_cast<std::size_t>(host)] != 0; };
  for (const Finding& path : paths.sure) {
    if (!is_blamed(path.hosts[0]) && !is_blamed(path.hosts[1])) verdict.findings.push_back(path);
  }
  for (const FollowUp& follow_up : paths.open) {
    if (!is_blamed(follow_up.host) && !is_blamed(follow_up.other)) verdict.follow_ups.push_back(follow_up);
  }
}

}  // namespace fabricbench::cluster
