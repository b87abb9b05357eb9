// pairwise_bw: every pair of hosts, ranks or GPUs, in rounds of disjoint pairs, in one job.

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "common/core/error.h"
#include "common/harness/run.h"
#include "common/sweep/endpoints.h"
#include "common/sweep/flow.h"
#include "common/sweep/measured.h"
#include "common/sweep/sweep.h"

namespace fabricbench {
namespace {

/// Rounds are planned one by one with --find and --measured.
void check_planning(const Options& options) {
  const bool planned = options.find || !options.measured_file.empty();
  if (planned && options.schedule != ScheduleKind::kCircle) {
    throw UsageError(fmt::format("{} plans rounds of disjoint pairs, and --schedule {} asks for others; leave out one",
                                 options.find ? "--find" : "--measured", name(options.schedule)));
  }
  if (options.has_given({"tolerance"}) && !options.find) {
    throw UsageError("--tolerance is for what --find judges; add --find, or leave it out");
  }
}

/// On the first process, what earlier jobs have measured; a problem with it is everybody's.
sweep::Measured read_measured(const mpi::Communicator& world, const Options& options) {
  sweep::Measured measured;
  if (options.measured_file.empty()) return measured;
  std::string problem;
  auto status = ExitStatus::kOk;
  if (world.is_root()) {
    try {
      measured = sweep::read_measured(options.measured_file);
    } catch (const Error& error) {
      problem = error.what();
      status = error.status();
    }
  }
  status = static_cast<ExitStatus>(world.broadcast(static_cast<std::int64_t>(status)));
  problem = world.broadcast(problem);
  if (status != ExitStatus::kOk) throw Error(status, problem);
  return measured;
}

/// Refuses what no single option shows to be wrong, and makes --level gpu take GPUs.
void settle(Options& options) {
  if (options.sweep.max_bytes == 0) throw UsageError("-b 0 carries nothing that could be measured; give 1 or more");
  const Seconds least = 2 * options.pair_timeout + 10;  // so that the first endpoint is who ends the job, and says why
  if (options.timeout > 0 && options.timeout < least) {
    throw UsageError(
        fmt::format("--pair-timeout {}: -T {} would end the job first; lower it, or raise -T to {} or more",
                    options.pair_timeout, options.timeout, least));
  }
  check_planning(options);
  if (options.level != Level::kGpu) return;
  if (options.backend == "mpi" && options.memory != MemoryKind::kCuda) {
    throw UsageError("--level gpu pairs GPUs, and --backend mpi measures host memory; add --memory cuda");
  }
  if (options.backend == "auto" && options.memory != MemoryKind::kCuda) options.backend = "nccl";
}

int sweep_pairs(Job& job) {
  Members members;
  sweep::OneDirection nowhere;
  sweep::Measured measured;
  try {
    settle(job.options);
    measured = read_measured(job.world, job.options);
    members = sweep::choose_endpoints(job.world, job.options);
  } catch (const Error& error) {
    return refuse(job.world, job.program.name, error);
  }
  return run_members(job, members, nowhere, [&](Run& run) { return sweep::measure(run, measured); });
}

}  // namespace

int pairwise_bw(int argc, char** argv) {
  const Program program =
      sweep_program("pairwise_bw", "Bandwidth and latency of every pair of hosts, ranks or GPUs, in rounds of pairs.");
  return run_job(program, argc, argv, sweep_pairs);
}

}  // namespace fabricbench
