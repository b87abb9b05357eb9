// The division of copies among processes, and the findings about GPUs: pure functions.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/backends/gpu/gpu_copies.h"
#include "common/core/options.h"
#include "common/core/units.h"
#include "common/mpi/communicator.h"
#include "common/ranks/team.h"
#include "common/record/copy_row.h"

namespace fabricbench {

/// Divides the GPUs of a host among its processes. `seen`: the UUIDs of the GPUs that each process sees. A GPU goes to
/// a process that sees it: the one with the fewest GPUs so far, or the first of several. Returns each process's indices
/// into its own list.
[[nodiscard]] std::vector<std::vector<std::size_t>> divide_gpus(const std::vector<std::vector<std::string>>& seen);

/// A copy of one size.
struct SizedCopy {
  gpu::Copy copy;
  Bytes size = 0;
};

/// All copies of one process, by size: for each of its own GPUs, copies with the host's memory on each node, within the
/// GPU, and to every other GPU that the process sees. `own` and `seen` are CUDA's numbers.
[[nodiscard]] std::vector<SizedCopy> list_copies(const std::vector<int>& own, const std::vector<int>& seen,
                                                 const std::vector<std::optional<int>>& nodes,
                                                 const std::vector<Bytes>& sizes);

/// Compares every GPU with the others of its model, for each kind of copy, size, and nearness of the host's memory. The
/// figure of a GPU is the median of its copies; for an even number, the faster of the two in the middle. Sets
/// `comparison` of each row; for peer copies also `peer_comparison`, which compares the receiving GPUs.
void compare_gpus(std::vector<CopyRow>& rows);

/// The findings in compared rows, a line each: a GPU that is slower than the others, with the difference; two GPUs that
/// differ; a GPU below 60 % of its bound at the largest size. Bounds cannot be reached by copies both ways, or with the
/// host's memory on another node, and are not judged there.
[[nodiscard]] std::vector<std::string> findings(std::span<const CopyRow> rows);

/// Bytes per second of two directions at the same time.
struct BothRates {
  double first = 0;
  double second = 0;
  [[nodiscard]] double sum() const { return first + second; }
};

/// Rates of two directions while both were busy. Each direction is a series of copies of `size` bytes, given by their
/// durations; both series began at the same moment and have no gaps. Only the time until the first direction ends
/// counts; a copy that was in flight at that moment counts in proportion. Both rates are 0 if a direction has no
/// copies, or if no time has passed.
[[nodiscard]] BothRates rates_of_both(Bytes size, std::span<const Seconds> first, std::span<const Seconds> second);

/// The settings of a run before copies are measured.
struct CopySetup {
  Options options;
  ProcessLocation location;
  std::optional<mpi::Communicator> host;  ///< the processes of this host
  std::vector<gpu::SeenGpu> seen;         ///< all GPUs that this process sees, or only that of --device
  std::vector<SizedCopy> copies;          ///< this process's own
  gpu::CopyMemory memory;
  std::vector<std::string> notices;

  [[nodiscard]] const CopyGpu& gpu(int device) const;
};

/// Collective. Throws Error, the same on every process: usage, or missing if one of them has no GPU.
[[nodiscard]] CopySetup set_up_copies(const mpi::Communicator& world, Options options);

}  // namespace fabricbench
