#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/core/memory.h"
#include "common/core/message_reader.h"
#include "common/core/options.h"
#include "common/core/session.h"
#include "common/ranks/team.h"
#include "common/record/context.h"

// Sessions on GPUs. A program is built with one of two implementations: the files beside this where CUDA and NCCL were
// found, or those in absent/, which says what to install.
namespace fabricbench::gpu {

/// Why not every process of the job can measure NCCL: what is missing and where; empty where all can. The same on
/// every process; collective.
[[nodiscard]] std::string why_no_nccl(const Team& team, const ProcessLocation& location, const Options& options);

/// A session and what the user should know of how it was set up, a line each.
struct Opened {
  std::unique_ptr<Session> session;
  std::vector<std::string> notices;
};

/// What a session should know of the operation that is measured.
struct Purpose {
  bool all_to_all = false;
  int most_peers = 0;  ///< other ranks with which a rank exchanges messages; 0: not known
};

/// NCCL on GPUs. Collective. Throws Error.
[[nodiscard]] Opened open_nccl(const Team& team, const ProcessLocation& location, const Options& options,
                               const Purpose& purpose);

/// MPI on GPU memory, where the MPI library says that it can. Collective. Throws Error (missing) where it cannot.
[[nodiscard]] Opened open_mpi_on_cuda(const Team& team, const ProcessLocation& location, const Options& options);

/// Memory of a GPU for buffers, and what the user should know of the choice, a line each.
struct OpenedBuffers {
  std::unique_ptr<BufferSource> source;
  std::vector<std::string> notices;
};

/// Memory of the GPU that this process's rank has. Collective. Throws Error (missing), the same on every process, where
/// there is none that other devices may be given.
[[nodiscard]] OpenedBuffers open_buffers(const Team& team, const ProcessLocation& location, const Options& options);

/// CUDA's numbers of the GPUs that this process's ranks have among all of the team's, as each session would choose
/// them that sees all of these processes. Collective. Throws Error, the same on every process.
[[nodiscard]] std::vector<int> choose_gpus(const Team& team, const ProcessLocation& location, const Options& options);

/// What there is to know of devices by CUDA's numbers.
[[nodiscard]] std::vector<GpuFacts> describe_gpus(const std::vector<int>& devices);

/// A kernel that waits for messages in the memory of CUDA's device of that number. Throws Error.
[[nodiscard]] std::unique_ptr<MessageReader> open_reader(int device);

}  // namespace fabricbench::gpu
