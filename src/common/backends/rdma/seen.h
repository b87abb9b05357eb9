#pragma once

#include <string>
#include <vector>

#include "common/backends/verbs/verbs_session.h"
#include "common/core/rdma_options.h"
#include "common/ranks/team.h"

namespace fabricbench {

/// The settings of a session in which messages count as `seen_by` says.
[[nodiscard]] verbs::VerbsSettings settings_to_see(verbs::VerbsSettings settings, SeenBy seen_by);

/// Gives a connected session a reader for its memory: a kernel on its GPU, or a thread. Throws Error, the same on every
/// process; collective.
void open_reader(const Team& team, verbs::VerbsSession& session);

/// Notices on when messages count, a line each, the same on every process. Collective.
[[nodiscard]] std::vector<std::string> seen_notices(const Team& team, const verbs::VerbsSession& session,
                                                    SeenBy seen_by);

}  // namespace fabricbench
