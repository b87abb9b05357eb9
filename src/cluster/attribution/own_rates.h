// Where links are shared, hosts, NICs and paths are judged by the rates that no other pair has a part in: of hosts of
// one group with each other, and of pairs alone.
#pragma once

#include "cluster/readings.h"
#include "cluster/structure/structure.h"
#include "cluster/verdict.h"

namespace fabricbench::cluster {

/// Adds findings on hosts, NICs, rails and paths, and follow-ups on hosts and paths that are slow and not decided. Sets
/// strata, usual rates, kinds, Verdict::outliers and Verdict::not_judged. A host is slow if the upper part of its
/// partners reach less of it than is usual, by more than the tolerance, and it was never as fast since; any fast
/// reading clears it, since links only take away.
void judge_own_rates(const Sweep& sweep, const Structure& structure, const VerdictSettings& settings, Verdict& verdict);

}  // namespace fabricbench::cluster
