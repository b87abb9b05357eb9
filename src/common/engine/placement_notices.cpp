#include "common/engine/placement_notices.h"

#include <fmt/format.h>
#include <unistd.h>

#include "common/core/wording.h"
#include "common/host/topology.h"

namespace fabricbench {
namespace {

constexpr int kThreadsOnNccl = 4;

/// The fewest processors that a process may use, of those that may use too few; 0: none.
int narrowest(const mpi::Communicator& world, int on_host, int processes_here) {
  const int allowed = host::allowed_processing_units();
  const bool narrow = is_bound_too_narrowly(allowed, on_host, processes_here);
  const std::int64_t fewest = world.min(std::int64_t{narrow ? allowed : kThreadsOnNccl});
  return fewest < kThreadsOnNccl ? static_cast<int>(fewest) : 0;
}

}  // namespace

bool is_bound_too_narrowly(int allowed, int on_host, int processes_here) {
  return allowed < kThreadsOnNccl && allowed < on_host / processes_here;
}

std::vector<std::string> placement_notices(const mpi::Communicator& world, const PlacementOfProcess& process) {
  std::vector<std::string> notices;
  if (process.ranks == 1) {
    const bool alone = world.size() == 1;
    notices.push_back(fmt::format("{}: nothing crosses a network, and busbw is 0 by definition{}",
                                  alone ? "One rank" : "A group has one rank",
                                  alone ? "; start more with mpirun -np N" : ""));
  }
  const auto on_host = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  const std::int64_t missing = world.max(std::int64_t{process.processes_here} - on_host);
  if (missing > 0) {
    notices.push_back(fmt::format("A host has {} more rank{} than processors: times include waiting for a processor",
                                  missing, missing == 1 ? "" : "s"));
  }
  if (!process.on_nccl) return notices;
  if (const int fewest = narrowest(world, on_host, process.processes_here); fewest > 0) {
    notices.push_back(
        fmt::format("A process may use only {} of its host, where its thread and NCCL's take turns: times can be "
                    "several times as long; {}",
                    counted(fewest, "processor"), kUnbind));
  }
  return notices;
}

}  // namespace fabricbench
