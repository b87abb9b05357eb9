// Which process measures which copies, and what the copies say of the GPUs: pure functions.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/backends/gpu/gpu_copies.h"
#include "common/core/units.h"
#include "common/record/copy_row.h"

namespace fabricbench {

/// Divides the GPUs of a host among its processes, of each of which the UUIDs of the GPUs that it sees are given: every
/// GPU goes to one process that sees it, of these to the one that has fewest, and of several such to the first. Returns
/// each process's places in its own list.
[[nodiscard]] std::vector<std::vector<std::size_t>> divide_gpus(const std::vector<std::vector<std::string>>& seen);

/// A copy of one size.
struct SizedCopy {
  gpu::Copy copy;
  Bytes size = 0;
};

/// All copies of one process: of each of its own GPUs, by size, with the host's memory on each of the nodes, within
/// the GPU, and to every other GPU that it sees. `own` and `seen` are CUDA's numbers.
[[nodiscard]] std::vector<SizedCopy> list_copies(const std::vector<int>& own, const std::vector<int>& seen,
                                                 const std::vector<std::optional<int>>& nodes,
                                                 const std::vector<Bytes>& sizes);

/// Compares every GPU with the others of its model, for each kind of copy, size, and nearness of the host's memory: its
/// copies' median, of an even number of copies the faster of the two in the middle. Sets `comparison` of each row, and
/// `peer_comparison` of peer copies, where the GPUs that receive are compared.
void compare_gpus(std::vector<CopyRow>& rows);

/// What the rows say, once they are compared, a line each: of every GPU that is slower than the others, by how much; of
/// two that differ; of one that has less than 60 % of its bound at the
/// largest size. Both ways, and where the host's memory is on another
/// node, a bound is out of reach and not looked at.
[[nodiscard]] std::vector<std::string> findings(std::span<const CopyRow> rows);

}  // namespace fabricbench
