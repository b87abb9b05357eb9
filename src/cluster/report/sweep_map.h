#pragma once

#include <string>

#include "cluster/readings.h"
#include "cluster/verdict.h"

namespace fabricbench::cluster {

/// A sweep as a picture of characters (common/core/heat_map.h): a line a host that receives, a column a host that
/// sends, in the order of people. Of what was measured several times a cell shows the median, and of several rails the
/// slowest. Figures of different strata are held against what is usual in each; the legend's GB/s are those of the
/// largest stratum. Of more than 64 hosts it is one line that says where else to look.
[[nodiscard]] std::string sweep_map(const Sweep& sweep, const Verdict& verdict, bool colour);

}  // namespace fabricbench::cluster
