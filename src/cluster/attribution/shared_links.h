// Links that pairs of one round share: an oversubscribed fabric, hash collisions, a slow uplink or spine link. There a
// reading says what was left for the pair, and not what its hosts can do.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/readings.h"
#include "cluster/structure/structure.h"
#include "cluster/verdict.h"

namespace fabricbench::cluster {

/// Compares pairs alone with the same pairs beside others, later on. Readings beside others count from a pair's first
/// reading alone on only: a pair is measured alone because it was slow, and would seem faster by chance (regression to
/// the mean).
[[nodiscard]] SharedLinks find_shared_links(const Sweep& sweep);

/// The structure of a sweep with shared links. Groups that were found are dropped if many pairs within them are slow,
/// since collisions look like groups as well. Hosts that are slow with all others and fast with each other are a group.
[[nodiscard]] Structure structure_with_shared_links(const Sweep& sweep, const VerdictSettings& settings);

/// Adds findings on leaves whose hosts reach hosts of other leaves more slowly than these reach each other in the same
/// round: all pairs of a round meet the same load. Pairs with a host that is blamed do not count. Of groups in the
/// readings, one with two thirds of the hosts is many leaves that look like one: pairs within it count too.
void report_crossings(const Sweep& sweep, const Structure& structure, double false_alarm, Verdict& verdict);

}  // namespace fabricbench::cluster
