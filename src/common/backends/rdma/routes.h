#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/ranks/team.h"

namespace fabricbench {

/// Notices on the route of each pair's messages, the same on every process. `own`: the route of this process's pair.
/// Pairs with the same route share a line, and at most a screenful is listed: `RDMA: mlx5_0 port 1 to mlx5_0 port 1,
/// ...`, where `what` is `RDMA`. Collective.
[[nodiscard]] std::vector<std::string> route_notices(const Team& team, std::string_view what, const std::string& own);

/// The same for the routes of all pairs. `numbers`: the pairs' numbers, if they differ from their indices.
[[nodiscard]] std::vector<std::string> route_notices(std::string_view what, const std::vector<std::string>& routes,
                                                     const std::vector<std::string>& numbers = {});

/// A line with the different texts of all processes, the same on every one: `Registered: host memory; memory of GPU 0`,
/// where `what` is `Registered`. Empty texts do not count; empty if there are no others. Collective.
[[nodiscard]] std::string kinds_notice(const mpi::Communicator& world, std::string_view what, const std::string& own);

/// The same for the texts of all processes.
[[nodiscard]] std::string kinds_notice(std::string_view what, const std::vector<std::string>& texts);

}  // namespace fabricbench
