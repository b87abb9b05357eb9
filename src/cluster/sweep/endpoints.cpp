#include "cluster/sweep/endpoints.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "common/core/error.h"
#include "common/ranks/placement.h"

namespace fabricbench::sweep {
namespace {

void check(const Placed& placed, Level level, int processes, const Options& options) {
  if (options.gpus > 1) {
    throw UsageError(fmt::format("-g {}: a sweep has one GPU a process; leave it out, and start a process for each GPU",
                                 options.gpus));
  }
  if (processes < 2) {
    throw UsageError("a sweep pairs ranks, and there is one; start more, such as mpirun -np 2");
  }
  if (level == Level::kHost && placed.hosts < 2) {
    throw UsageError(
        fmt::format("--level host pairs hosts, and all {} ranks run on one; write --level rank", processes));
  }
}

}  // namespace

Members choose_endpoints(const mpi::Communicator& job, const Options& options) {
  const Placed placed = place_processes(job);
  const Level level = options.level != Level::kAuto ? options.level : (placed.hosts > 1 ? Level::kHost : Level::kRank);
  check(placed, level, job.size(), options);
  if (!options.measured_file.empty() && level != Level::kHost && job.size() > placed.hosts) {
    throw UsageError(
        "--measured continues a sweep over hosts, but several ranks of one host take part; write --level host");
  }
  const bool taking_part = level != Level::kHost || placed.local_process == 0;
  Members members;
  members.communicator = job.split(taking_part ? std::optional(0) : std::nullopt);
  if (level == Level::kHost && job.size() > placed.hosts) {
    members.notices.push_back(
        fmt::format("Of {} ranks, the first of each host is measured; --level rank takes all", job.size()));
  }
  return members;
}

}  // namespace fabricbench::sweep
