#pragma once

#include <string>
#include <vector>

#include "common/backends/verbs/verbs_session.h"
#include "common/ranks/placement.h"
#include "common/ranks/team.h"

namespace fabricbench {

/// The settings of the stream of --background: writes like those of rdma_write_bw over the same ports, with the
/// addressing of the messages, except for its own service level and traffic class.
[[nodiscard]] verbs::VerbsSettings background_settings(const verbs::VerbsSettings& of_messages);

/// Notices on the streams of all pairs, the same on every process: their routes, and the ranks whose thread has no
/// processor of its own. `session`: of this process's stream. Collective.
[[nodiscard]] std::vector<std::string> background_notices(const Team& team, const Placed& placed,
                                                          const verbs::VerbsSession& session);

}  // namespace fabricbench
