// What is wrong in a fabric, judged by what most of it is like. No expected topology is needed.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cluster/fabric/fabric.h"
#include "cluster/fabric/shape.h"

namespace fabricbench::fabric {

class Siblings;

enum class FindingKind {
  kMissingCable,
  kSwappedCables,
  kHalfWidth,
  kLowSpeed,
  kAbsentSwitch,
  kWrongRail,
  kNoSubnetManager,
};

/// Real fabrics lack a cable here and there: that alone is no failure.
enum class FindingLevel {
  kNote,     ///< nothing that slows a run: a host that may be off, two cables that may be swapped
  kWarning,  ///< less bandwidth for some
  kFailure,  ///< a host's rail at a part of its rate, which holds up every job with that host
};

struct Finding {
  FindingKind kind = FindingKind::kMissingCable;
  FindingLevel level = FindingLevel::kWarning;
  std::vector<std::string> ends;   ///< such as `leaf01 port 3` and `node07 mlx5_2 port 1`; of two cables in pairs
  std::vector<std::string> hosts;  ///< behind it
  std::string detail;              ///< such as `3 of 4 cables`
};

[[nodiscard]] std::string_view name_of(FindingKind kind);

/// Ends in pairs: `leaf01 port 3 <-> node07 mlx5_2 port 1, ...`.
[[nodiscard]] std::string text_of_ends(const std::vector<std::string>& ends);

/// One line: `missing cable: ib1 port 25 <-> ib8 port 6 (3 of 4 cables); behind it: node[01-18]`.
[[nodiscard]] std::string line_of(const Finding& finding);

/// Everything, cables of switches first. Empty for a fabric that is alike everywhere.
[[nodiscard]] std::vector<Finding> findings_of(const Fabric& fabric, const Shape& shape);

// The parts of it.

/// Cables between switches: missing, at the wrong switch, or exchanged.
[[nodiscard]] std::vector<Finding> trunk_findings(const Fabric& fabric, const Shape& shape, const Siblings& siblings);
/// Switches that all their neighbours lack.
[[nodiscard]] std::vector<Finding> absent_switch_findings(const Fabric& fabric, const Shape& shape,
                                                          const Siblings& siblings);
/// Cables of hosts: missing, exchanged, or on another rail's leaf; and leaves that hosts lack.
[[nodiscard]] std::vector<Finding> host_findings(const Fabric& fabric, const Shape& shape);
/// Hosts that were cabled in the order of their names, on leaf after leaf and port after port, as most are: a cable
/// that breaks the order was exchanged, and a gap in both names and ports is a missing cable. Nothing is said without
/// order.
[[nodiscard]] std::vector<Finding> host_order_findings(const Fabric& fabric, const Shape& shape);
/// Cables with fewer lanes or less speed than their kind. Kinds: hosts by their adapter, trunks by the two tiers.
[[nodiscard]] std::vector<Finding> rate_findings(const Fabric& fabric, const Shape& shape);

/// `leaf01 port 3`; of an adapter `node07 mlx5_2 port 1`.
[[nodiscard]] std::string text_of(const Fabric& fabric, End end);

/// The hosts of the leaves among the two ends, or the host itself.
[[nodiscard]] std::vector<std::string> hosts_behind(const Fabric& fabric, const Shape& shape, const Cable& cable);

/// The value that occurs most often, the smallest of equals, with its number of times.
template <typename Counts>
[[nodiscard]] auto most_common(const Counts& counts) {
  auto most = counts.begin();
  for (auto next = counts.begin(); next != counts.end(); ++next) {
    if (next->second > most->second) most = next;
  }
  return most;
}

}  // namespace fabricbench::fabric
