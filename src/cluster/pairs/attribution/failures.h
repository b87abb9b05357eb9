// Failed readings: which parts of the cluster, rails, hosts, NICs and paths they are blamed on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "cluster/pairs/readings.h"
#include "cluster/pairs/sets.h"
#include "cluster/pairs/verdict.h"

namespace fabricbench::cluster {

/// Findings, and follow-ups on what is open.
struct FailureReport {
  std::vector<Finding> findings;
  std::vector<FollowUp> follow_ups;
};

/// What explains the failed readings of a sweep, and which of them nothing explains.
struct Failures {
  FailureReport lasting;      ///< parts that are cut off, dead rails, dead hosts and NICs
  FailureReport paths;        ///< paths that are dead, or fail now and then
  std::vector<char> is_dead;  ///< by host: nothing can be measured with it, or over a direction of one of its NICs
  std::vector<std::int32_t> unexplained;  ///< failed readings, by place in the sweep
};

/// Explains failed readings by the fewest causes, the larger ones first. A finding whose false-alarm probability is not
/// below `false_alarm` is undecided.
[[nodiscard]] Failures find_failures(const Sweep& sweep, std::int32_t rails, double false_alarm);

/// Adds a report to the verdict, without what is about `unsteady` hosts. These fail now and then with any partner.
void add_report(const FailureReport& report, const std::vector<double>& unsteady, Verdict& verdict);

/// Adds findings on wrong data: on hosts that have them with several partners, which explain most of them first, and on
/// the other pairs.
void report_wrong_data(const Sweep& sweep, Verdict& verdict);

/// The reason of a failed reading, as recorded; empty: none was recorded.
[[nodiscard]] std::string reason_of(const Sweep& sweep, std::size_t reading);

/// A failed reading.
struct FailedAttempt {
  std::size_t place = 0;  ///< in the sweep
  std::int32_t from = 0;  ///< units: host * rails + rail
  std::int32_t to = 0;
  bool is_explained = false;
};

/// The attempts of a unit or a path.
struct Attempts {
  std::int64_t worked = 0;
  std::int64_t rounds_worked = 0;
  std::int32_t last_round = -1;      ///< with a success
  std::int64_t last_success = -1;    ///< by place in the sweep
  std::vector<std::int32_t> failed;  ///< by place in AttemptTable::failed, ascending

  [[nodiscard]] std::int64_t failures() const { return static_cast<std::int64_t>(failed.size()); }
  [[nodiscard]] std::int64_t tried() const { return worked + failures(); }
};

/// Attempts by direction.
struct AttemptsByDirection {
  std::array<Attempts, 3> directions;
  std::array<std::int32_t, 2> worked_with{-1, -1};  ///< two different hosts; -1: none

  [[nodiscard]] const Attempts& in(Direction direction) const { return directions[at(direction)]; }
  /// Adds a reading. A reading of both directions together that failed does not tell which of them did. `failed`: its
  /// place in AttemptTable::failed.
  void add(const Reading& reading, std::size_t place, Direction direction, std::int32_t failed = -1);
};

/// Failures without a success between them, and a finding on them.
struct FailureRun {
  Finding finding;
  std::set<std::int32_t> rounds;
  std::set<std::int32_t> units;     ///< whose failures they are
  std::set<std::int32_t> partners;  ///< other hosts
  std::set<std::int32_t> working;   ///< of these, those that have worked with others
  std::set<std::int32_t> proven;    ///< of these, those that did since, or ever if `units` never worked
  std::int64_t first = -1;          ///< by place in the sweep
  double looks = 1;                 ///< for each host: at how many points such a run may begin
  double earlier_share = 0;         ///< of attempts that failed, up to the last success
};

/// What was tried between units, and what failed.
struct AttemptTable {
  const Sweep* sweep = nullptr;
  std::int32_t rails = 1;
  std::vector<FailedAttempt> failed;
  std::vector<AttemptsByDirection> units;

  AttemptTable(const Sweep& readings, std::int32_t number_of_rails);

  [[nodiscard]] const Attempts& of(std::int32_t unit, Direction direction = Direction::kBoth) const {
    return units[at(unit)].in(direction);
  }
  [[nodiscard]] std::int32_t sender_of(const Reading& reading) const {
    return reading.from * rails + reading.from_rail;
  }
  [[nodiscard]] std::int32_t receiver_of(const Reading& reading) const { return reading.to * rails + reading.to_rail; }
  /// Whether a unit has worked with another host than this.
  [[nodiscard]] bool works_besides(std::int32_t unit, std::int32_t host) const {
    const auto& [first, second] = units[at(unit)].worked_with;
    return (first >= 0 && first != host) || second >= 0;
  }
  /// The attempts of these units, with the failures that nothing explains.
  [[nodiscard]] Attempts unexplained(const std::set<std::int32_t>& of_units,
                                     Direction direction = Direction::kBoth) const;
  /// The failures of these units after their last success.
  [[nodiscard]] FailureRun run_of(const Attempts& attempts, const std::set<std::int32_t>& own,
                                  Direction direction = Direction::kBoth) const;
  /// The number of hosts with which a host has failed.
  [[nodiscard]] std::int64_t failed_with(std::int32_t host) const;
  /// The probability that so many attempts fail by chance, anywhere in the sweep. `share`: of attempts that usually
  /// fail. `worked`: attempts between these.
  [[nodiscard]] double chance_of(const FailureRun& run, double share, std::int64_t worked = 0) const;
  void explain(const Attempts& attempts);
};

/// Explains what is left of the failures by paths that are dead, or fail now and then, and adds findings on these.
/// Returns the share of readings that usually fail.
double explain_by_paths(AttemptTable& table, double false_alarm, FailureReport& report);

}  // namespace fabricbench::cluster
