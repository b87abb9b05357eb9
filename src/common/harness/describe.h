#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/core/units.h"
#include "common/mpi/communicator.h"
#include "common/report/context.h"

namespace fabricbench {

/// Where the ranks run. Collective; the facts are on rank 0, the number of hosts everywhere.
struct Placed {
  std::vector<RankFacts> ranks;
  int hosts = 1;
  int local_rank = 0;   ///< this rank's place among those of its host
  int local_ranks = 1;  ///< ranks on this host
};
[[nodiscard]] Placed describe_ranks(const mpi::Communicator& world);

/// Each host's kernel, processor, NUMA nodes and network devices, as its first rank sees them. Collective;
/// empty on ranks other than 0.
[[nodiscard]] std::vector<HostFacts> describe_hosts(const mpi::Communicator& world, const Placed& placed);

/// The variables that say how communication was set up, and no others: an environment holds secrets.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> whitelisted_environment();

/// What one clock read costs: the median of many.
[[nodiscard]] Seconds timer_cost();

}  // namespace fabricbench
