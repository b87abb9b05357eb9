#pragma once

#include <string>
#include <vector>

#include "common/backends/gpu/gpu_sessions.h"
#include "common/backends/verbs/verbs_session.h"
#include "common/core/options.h"
#include "common/mpi/communicator.h"
#include "common/ranks/team.h"

namespace fabricbench {

/// The memory that --memory asks for. Call this before an RDMA device is opened, because it tells the driver not to
/// access GPU memory by the processor. Throws Error (missing), the same on every process; collective.
[[nodiscard]] gpu::OpenedBuffers open_buffers(const Team& team, const Placed& placed, const Options& options);

/// The location of the ranks' buffers and the method of their registration, the same text on every process. Collective.
[[nodiscard]] std::string registration_notice(const mpi::Communicator& world, const verbs::VerbsSession& session);

}  // namespace fabricbench
