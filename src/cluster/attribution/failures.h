// Failed readings: which hosts, rails and paths they are blamed on.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cluster/readings.h"
#include "cluster/verdict.h"

namespace fabricbench::cluster {

/// Attempts in one direction between two units, at least one of which failed.
struct FailedFlow {
  std::int32_t from = 0;  ///< units: host * rails + rail
  std::int32_t to = 0;
  std::int64_t failed = 0;
  std::int64_t worked = 0;
  bool both_ways = false;
};

/// Which units work, and which attempts failed.
struct Failures {
  std::int32_t rails = 1;
  std::vector<char> works;  ///< by unit: it has a reading with a rate
  /// By unit: the first two different hosts that it has worked with; -1: none.
  std::vector<std::array<std::int32_t, 2>> worked_with;
  std::vector<char> dead;             ///< by unit: it is blamed for its failures, or its rail is
  std::vector<double> earlier_share;  ///< by unit: the share of its readings that failed, up to its last success
  std::vector<char> dead_rails;       ///< by rail: nothing works over it, though its hosts work over other rails
  /// By unit: whether it cannot send, and whether it cannot receive, though the other direction works.
  std::vector<std::array<bool, 2>> is_silent;
  std::vector<FailedFlow> flows;  ///< by sender, then receiver
  std::int64_t usual_failed = 0;  ///< failed readings that nothing dead explains
  std::int64_t usual_tried = 0;   ///< all readings that nothing dead explains
  double usual_share = 0;         ///< the share of failed ones among these

  /// By host, if the cluster is partitioned: the part that the host is in, or -1. Readings within a part work; all
  /// readings between a part and the largest part fail. Empty: the cluster is not partitioned.
  std::vector<std::int32_t> part_of;
  std::int32_t largest_part = -1;

  [[nodiscard]] std::int32_t unit_of(std::int32_t host, std::int32_t rail) const { return host * rails + rail; }
  [[nodiscard]] bool host_is_dead(std::int32_t host) const;
  /// Whether any rail of a host cannot send, or cannot receive.
  [[nodiscard]] bool host_is_silent(std::int32_t host) const;
  /// Whether a host works over any other rail.
  [[nodiscard]] bool works_without(std::int32_t host, std::int32_t rail) const;
  /// Whether a unit has worked with any other host.
  [[nodiscard]] bool works_besides(std::int32_t unit, std::int32_t host) const {
    const auto& hosts = worked_with[static_cast<std::size_t>(unit)];
    return (hosts[0] >= 0 && hosts[0] != host) || hosts[1] >= 0;
  }
  /// Whether a reading uses a direction of one of its units that does not work.
  [[nodiscard]] bool needs_silent_way(std::int32_t from, std::int32_t to, bool both_ways) const {
    const std::array<bool, 2>& sender = is_silent[static_cast<std::size_t>(from)];
    const std::array<bool, 2>& receiver = is_silent[static_cast<std::size_t>(to)];
    return sender[0] || receiver[1] || (both_ways && (sender[1] || receiver[0]));
  }
  /// Whether two units are in different parts of a partitioned cluster.
  [[nodiscard]] bool is_cut(std::int32_t from, std::int32_t to) const {
    if (part_of.empty()) return false;
    const std::int32_t own = part_of[static_cast<std::size_t>(from / rails)];
    const std::int32_t other = part_of[static_cast<std::size_t>(to / rails)];
    return own >= 0 && other >= 0 && own != other;
  }
  /// Whether a failed reading is explained: by one of its units, or by the partition.
  [[nodiscard]] bool is_explained(std::int32_t from, std::int32_t to, bool both_ways) const {
    return dead[static_cast<std::size_t>(from)] != 0 || dead[static_cast<std::size_t>(to)] != 0 ||
           needs_silent_way(from, to, both_ways) || is_cut(from, to);
  }
};

/// Pairs of units, sender first, that failed twice or more and never worked, though neither unit fails with several
/// others.
[[nodiscard]] std::set<std::pair<std::int32_t, std::int32_t>> never_worked(const Failures& failures);

/// The probability that anywhere in the sweep `failed` readings fail in a row by chance. `share`: of readings that
/// usually fail. `looks`: at how many points such a run may begin, for each host.
[[nodiscard]] double chance_of_run(const Sweep& sweep, double share, std::int64_t failed, std::int64_t looks = 1);

[[nodiscard]] Failures find_failures(const Sweep& sweep, std::int32_t rails);

/// Finds out whether the cluster is partitioned, and sets Failures::part_of.
void find_parts(const Sweep& sweep, Failures& failures);

/// Adds a finding for each part that is cut off from the largest one.
void report_parts(const Sweep& sweep, const Failures& failures, Verdict& verdict);

/// Adds follow-ups: whether dead hosts work with each other, as hosts of a leaf do that is cut off.
void follow_up_dead_hosts(const Sweep& sweep, const Failures& failures, Verdict& verdict);

/// Adds findings on wrong data: on hosts that have them with several partners, which explain most of them first, and on
/// the other pairs.
void report_wrong_data(const Sweep& sweep, Verdict& verdict);

/// Adds findings on dead rails, dead hosts and dead NICs. A finding whose false-alarm probability is not below
/// `false_alarm` is undecided.
void report_dead(const Sweep& sweep, const Failures& failures, double false_alarm, Verdict& verdict);

/// Adds findings on pairs that fail though both hosts work, and undecided ones on failures that may be of either host.
/// `blamed`, by host: it fails now and then with any partner, so that its failures are explained.
void report_failed_pairs(const Sweep& sweep, const Failures& failures, const std::vector<char>& blamed,
                         double false_alarm, Verdict& verdict);

/// Paths that fail now and then though both hosts work: findings, and follow-ups on paths that may be such.
struct FailingPaths {
  std::vector<Finding> sure;
  std::vector<FollowUp> open;
};
[[nodiscard]] FailingPaths find_failing_paths(const Sweep& sweep, const Failures& failures, double false_alarm);

/// Adds these to the verdict, without paths of `blamed` hosts.
void report_failing_paths(const FailingPaths& paths, const std::vector<char>& blamed, Verdict& verdict);

/// The reason of a failed reading, as recorded; empty: none was recorded.
[[nodiscard]] std::string reason_of(const Sweep& sweep, std::size_t reading);

}  // namespace fabricbench::cluster
