#include "common/backends/rdma/buffers.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "common/backends/rdma/huge_page_buffers.h"
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
  constexpr std::size_t kMostKinds = 8;  // in one line: as many as a host has GPUs
  std::vector<std::string> kinds;
  for (const std::string& own : all_gather(world, session.registered())) {
    if (std::find(kinds.begin(), kinds.end(), own) == kinds.end()) kinds.push_back(own);
  }
  const std::size_t shown = std::min(kinds.size(), kMostKinds);
  std::string text = fmt::format("Registered: {}", kinds.front());
  for (std::size_t i = 1; i < shown; ++i) text += "; " + kinds[i];
  if (shown < kinds.size()) text += fmt::format("; and {} more", kinds.size() - shown);
  return text;
}

}  // namespace fabricbench
