#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/mpi/communicator.h"

namespace fabricbench {

/// The GPUs of a process in a run with several sessions, each of which involves only some of the processes: a rank has
/// the same GPU in all of them.
struct KeptGpus {
  std::string why_no_nccl;   ///< see gpu::why_no_nccl
  std::vector<int> devices;  ///< CUDA's numbers of the GPUs of this process's ranks; empty: none
};

/// Where the processes run. Collective.
struct Placed {
  std::string host;           ///< this process's host
  std::uint64_t host_id = 0;  ///< the same for all processes of a host, and for no other
  int hosts = 1;
  int local_process = 0;                ///< this process's place among those of its host
  int local_processes = 1;              ///< on this host
  std::optional<KeptGpus> kept_gpus{};  ///< empty: a session chooses its own
};
[[nodiscard]] Placed place_processes(const mpi::Communicator& world);

}  // namespace fabricbench
