// The readings of a sweep's earlier jobs, for --measured.
#pragma once

#include <string>
#include <vector>

#include "cluster/pairs/readings.h"

namespace fabricbench::sweep {

struct Measured {
  std::vector<std::string> hosts;          ///< of the whole sweep, in its order; empty: there was no earlier job
  std::vector<cluster::Reading> readings;  ///< their hosts are indices into `hosts`
};

/// Reads the output of plan_sweep --list-readings: lines of fields with tabs between them, `host NAME` and `reading
/// ROUND CONCURRENT FROM TO RATE`, where RATE is bytes per second (0: ranks waited for a processor), `failed`, `wrong`
/// or `not_tried`. Throws Error (missing) if the file cannot be read, and UsageError that names the first line in
/// another form.
[[nodiscard]] Measured read_measured(const std::string& path);

}  // namespace fabricbench::sweep
