#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/backends/rdma_cm/link.h"
#include "common/core/options.h"
#include "common/ranks/placement.h"
#include "common/ranks/team.h"

namespace fabricbench {

/// The settings before connections are made. The first process of a pair connects, and the second accepts.
struct ConnectSetup {
  Options options;
  std::unique_ptr<Team> team;  ///< each group is a pair
  Placed placed;
  std::unique_ptr<rdma_cm::Links> links;
  std::string peer;  ///< such as `rank 1 on node-07 (3: RoCE v2 10.0.0.7)`
  std::vector<std::string> notices;

  [[nodiscard]] bool connects() const { return team->group().is_root(); }
};

/// Opens the device of each process, agrees on the addresses of each pair, and starts listening on the second process
/// of each pair. Collective over `world`, which must outlive the result. `process`: this process's number in the job.
/// Throws Error (missing, usage), the same on every process.
[[nodiscard]] ConnectSetup set_up_connections(const mpi::Communicator& world, int process, Options options,
                                              const std::vector<std::string>& notices);

}  // namespace fabricbench
