// What readings without a figure say: missing results count against somebody.
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

/// Failed readings of one rail of a host with one of another's, in one direction.
struct FailedFlow {
  std::int32_t from = 0;  ///< units: host * rails + rail
  std::int32_t to = 0;
  std::int64_t failed = 0;
  std::int64_t worked = 0;
  bool both_ways = false;
};

/// Who works, and what failed with whom.
struct Failures {
  std::int32_t rails = 1;
  std::vector<char> works;                               ///< by unit: at least one reading
  std::vector<std::array<std::int32_t, 2>> worked_with;  ///< by unit: hosts, the first two; -1: none
  std::vector<char> dead;                                ///< by unit: it, or its rail, is blamed for its failures
  std::vector<double> earlier_share;  ///< by unit: of its readings until it last worked, those that failed
  std::vector<char> dead_rails;       ///< by rail: nothing works over it, though its hosts do
  /// By unit: it sends to nobody, it receives from nobody, though the other direction works.
  std::vector<std::array<bool, 2>> is_silent;
  std::vector<FailedFlow> flows;  ///< by sender, then receiver
  std::int64_t usual_failed = 0;  ///< readings without a figure that nobody dead explains
  std::int64_t usual_tried = 0;   ///< readings that nobody dead explains, with a figure or without
  double usual_share = 0;         ///< of these: those that fail

  /// By host, where the cluster falls apart: the part within which it works, between which and the largest everything
  /// fails; -1: of none. Empty: it does not fall apart.
  std::vector<std::int32_t> part_of;
  std::int32_t largest_part = -1;

  [[nodiscard]] std::int32_t unit_of(std::int32_t host, std::int32_t rail) const { return host * rails + rail; }
  [[nodiscard]] bool host_is_dead(std::int32_t host) const;
  /// Whether a host sends to nobody, or receives from nobody, over any rail.
  [[nodiscard]] bool host_is_silent(std::int32_t host) const;
  /// Whether a host works over another rail than this.
  [[nodiscard]] bool works_without(std::int32_t host, std::int32_t rail) const;
  /// Whether a unit works with others than this host.
  [[nodiscard]] bool works_besides(std::int32_t unit, std::int32_t host) const {
    const auto& hosts = worked_with[static_cast<std::size_t>(unit)];
    return (hosts[0] >= 0 && hosts[0] != host) || hosts[1] >= 0;
  }
  /// Whether what fails from one unit to the other, or both ways, needs a direction that does not work.
  [[nodiscard]] bool needs_silent_way(std::int32_t from, std::int32_t to, bool both_ways) const {
    const std::array<bool, 2>& sender = is_silent[static_cast<std::size_t>(from)];
    const std::array<bool, 2>& receiver = is_silent[static_cast<std::size_t>(to)];
    return sender[0] || receiver[1] || (both_ways && (sender[1] || receiver[0]));
  }
  /// Whether two units are of parts between which everything fails.
  [[nodiscard]] bool is_cut(std::int32_t from, std::int32_t to) const {
    if (part_of.empty()) return false;
    const std::int32_t own = part_of[static_cast<std::size_t>(from / rails)];
    const std::int32_t other = part_of[static_cast<std::size_t>(to / rails)];
    return own >= 0 && other >= 0 && own != other;
  }
  /// Whether what fails between two units is blamed on one of them, or on what is between their parts.
  [[nodiscard]] bool is_explained(std::int32_t from, std::int32_t to, bool both_ways) const {
    return dead[static_cast<std::size_t>(from)] != 0 || dead[static_cast<std::size_t>(to)] != 0 ||
           needs_silent_way(from, to, both_ways) || is_cut(from, to);
  }
};

/// Flows, by their units, that have failed twice or more and never worked, though neither unit fails with others too.
[[nodiscard]] std::set<std::pair<std::int32_t, std::int32_t>> never_worked(const Failures& failures);

/// How often chance alone would have so many readings of somebody fail, one after the other, of whom this share usually
/// fails, and who may be looked at so often.
[[nodiscard]] double chance_of_run(const Sweep& sweep, double share, std::int64_t failed, std::int64_t looks = 1);

[[nodiscard]] Failures find_failures(const Sweep& sweep, std::int32_t rails);

/// Looks for parts into which the cluster falls.
void find_parts(const Sweep& sweep, Failures& failures);

/// Adds parts that are cut off.
void report_parts(const Sweep& sweep, const Failures& failures, Verdict& verdict);

/// Asks whether hosts that are dead work with each other, as those of a leaf do that is cut off.
void ask_dead_hosts(const Sweep& sweep, const Failures& failures, Verdict& verdict);

/// Adds to the verdict who is dead: rails, hosts, and rails of hosts of which others are not. Where healthy hosts would
/// look like this more often than `false_alarm`, nobody can tell.
void report_dead(const Sweep& sweep, const Failures& failures, double false_alarm, Verdict& verdict);

/// Adds pairs that fail though both work, and failures of which nobody can say whose they are. `blamed` hosts (by host)
/// fail now and then with anybody: their failures are explained.
void report_failed_pairs(const Sweep& sweep, const Failures& failures, const std::vector<char>& blamed,
                         double false_alarm, Verdict& verdict);

/// Paths that fail now and then though both ends work, and what is to be asked of those of which that is not sure.
struct FailingPaths {
  std::vector<Finding> sure;
  std::vector<Question> open;
};
[[nodiscard]] FailingPaths find_failing_paths(const Sweep& sweep, const Failures& failures, double false_alarm);

/// Adds them to the verdict, but for those of `blamed` hosts, as above.
void report_failing_paths(const FailingPaths& paths, const std::vector<char>& blamed, Verdict& verdict);

/// Why a reading failed, as its record says; empty where it does not.
[[nodiscard]] std::string reason_of(const Sweep& sweep, std::size_t reading);

}  // namespace fabricbench::cluster
