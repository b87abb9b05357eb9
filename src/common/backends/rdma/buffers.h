#pragma once

#include <string>
#include <vector>

#include "common/backends/gpu/gpu_sessions.h"
#include "common/backends/verbs/verbs_session.h"
#include "common/core/options.h"
#include "common/mpi/communicator.h"
#include "common/ranks/team.h"

namespace fabricbench {

/// The memory that --memory asks for. Before any device of RDMA is opened: a driver is told what it may not do with a
/// GPU's memory. Throws Error (missing), the same on every process; collective.
[[nodiscard]] gpu::OpenedBuffers open_buffers(const Team& team, const Placed& placed, const Options& options);

/// Where the ranks' buffers lie and how their devices were given them, the same text on every process. Collective.
[[nodiscard]] std::string registration_notice(const mpi::Communicator& world, const verbs::VerbsSession& session);

}  // namespace fabricbench
