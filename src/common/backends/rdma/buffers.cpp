#include "common/backends/rdma/buffers.h"

#include <cstdlib>
#include <memory>

#include "common/backends/rdma/huge_page_buffers.h"
#include "common/backends/rdma/routes.h"
#include "common/core/host_buffers.h"
#include "common/ranks/agreement.h"

namespace fabricbench {
namespace {

/// mlx5 puts small arriving messages into the completion, and its library copies them into the buffer with the
/// processor. That would crash with GPU memory. Source: MLX5_SCATTER_TO_CQE in man mlx5dv; perftest #283.
void keep_small_messages_out_of_completions() { setenv("MLX5_SCATTER_TO_CQE", "0", 1); }

}  // namespace

gpu::OpenedBuffers open_buffers(const Team& team, const Placed& placed, const Options& options) {
  if (options.memory == MemoryKind::kCuda) {
    keep_small_messages_out_of_completions();
    return gpu::open_buffers(team, placed, options);
  }
  if (options.memory != MemoryKind::kHugePages) return {std::make_unique<HostBuffers>(), {}};
  return {everywhere(team.world(), [&] { return std::make_unique<HugePageBuffers>(placed.local_processes); }), {}};
}

std::string registration_notice(const mpi::Communicator& world, const verbs::VerbsSession& session) {
  return kinds_notice(world, "Registered", session.registered());
}

}  // namespace fabricbench
