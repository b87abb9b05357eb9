// What earlier jobs have measured of a sweep, for --measured.
#pragma once

#include <string>
#include <vector>

#include "cluster/readings.h"

namespace fabricbench::sweep {

struct Measured {
  std::vector<std::string> hosts;          ///< of the whole sweep, in its order; empty: there was no earlier job
  std::vector<cluster::Reading> readings;  ///< their hosts are places in `hosts`
};

/// Reads what plan_sweep --list-readings prints: lines of fields with tabs between them,
/// `host NAME` and `reading ROUND CONCURRENT FROM TO RATE`, where RATE is bytes per second, `failed` or `not_tried`.
/// Throws Error with kMissing where the file cannot be read, and UsageError that names a line that is not like that.
[[nodiscard]] Measured read_measured(const std::string& path);

}  // namespace fabricbench::sweep
