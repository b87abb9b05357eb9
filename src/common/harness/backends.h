#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/core/options.h"
#include "common/core/session.h"
#include "common/harness/describe.h"
#include "common/harness/team.h"

namespace fabricbench {

/// The library to measure, and why it is this one.
struct BackendChoice {
  std::unique_ptr<Session> session;
  std::string name;
  std::string reason;  ///< completes "because ..."
  std::vector<std::string> notices{};
};

/// Takes the backend asked for, or the best there is. Throws Error (missing) where that backend is not there, or
/// where options need GPUs that the backend does not use. The same on every process; `team` must outlive it.
[[nodiscard]] BackendChoice choose_backend(const Team& team, const Placed& placed, const Options& options);

/// TCP connections between the ranks of each group. Throws as choose_backend does, and UsageError for an interface that
/// no rank may use.
[[nodiscard]] BackendChoice open_sockets(const Team& team, const Placed& placed, const Options& options);

}  // namespace fabricbench
