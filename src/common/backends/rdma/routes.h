#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/ranks/team.h"

namespace fabricbench {

/// Notices of the way that each pair's messages take, the same on every process; `own` is this process's pair's. Pairs
/// that agree share a line, and no more than a screenful are named: `RDMA: mlx5_0 port 1 to mlx5_0 port 1, ...`, where
/// `what` is `RDMA`. Collective.
[[nodiscard]] std::vector<std::string> route_notices(const Team& team, std::string_view what, const std::string& own);

/// The same of all pairs' routes. `numbers`: of the pairs, where these are not their places.
[[nodiscard]] std::vector<std::string> route_notices(std::string_view what, const std::vector<std::string>& routes,
                                                     const std::vector<std::string>& numbers = {});

}  // namespace fabricbench
