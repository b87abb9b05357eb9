// What to measure next in a sweep over pairs of hosts, from its records so far.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/pairs/planning/planner.h"
#include "cluster/pairs/readings.h"

namespace fabricbench::cluster {

/// The plan of a sweep, as options say it.
struct PlanRequest {
  int rounds = 0;  ///< 0: as many as it takes
  bool all_pairs = false;
  bool find = false;
  int concurrent = 0;  ///< 0: no limit
  std::uint64_t seed = 1;
  double tolerance = 0;
};

/// The readings of these hosts, or of all hosts if there are none, in files that may not exist yet. Prints notices as
/// `name`. `locality`: file, or empty. Throws as RecordReader does.
[[nodiscard]] Sweep read_sweep(std::string_view name, const std::vector<std::string>& hosts,
                               const std::vector<std::string>& files, const std::string& locality);

/// The same records give the same round, so an interrupted sweep can continue.
[[nodiscard]] PlannedRound next_round(const PlanRequest& request, const Sweep& sweep);

/// For pairwise_bw --measured, which does not read JSON. Throws UsageError for readings of several tests.
void print_readings(const Sweep& sweep, std::FILE* file);

}  // namespace fabricbench::cluster
