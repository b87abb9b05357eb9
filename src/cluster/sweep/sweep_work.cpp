#include "cluster/sweep/sweep_work.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cluster/sweep/flow.h"
#include "cluster/sweep/measured.h"
#include "cluster/sweep/planned_steps.h"
#include "cluster/sweep/sweep.h"
#include "common/core/error.h"
#include "common/engine/test_work.h"
#include "common/ranks/agreement.h"
#include "common/ranks/placement.h"
#include "common/report/sweep_facts.h"

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

/// The processes to pair: the first of each host, or all. kAuto means hosts if there are several. Collective over the
/// job. Throws UsageError, the same on every process, for fewer than two processes or several GPUs per process.
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

class SweepWork final : public TestWork {
 public:
  /// `measured`: readings of earlier jobs, on the first process.
  SweepWork(Job& job, Members members, Test& test, const Sessions& sessions, Measured measured)
      : TestWork(job, std::move(members), test, sessions), measured_(std::move(measured)) {}

  [[nodiscard]] Context make_context() override {
    Context context = TestWork::make_context();
    context.rounds = most_rounds(setup().options, world().size());
    context.sweep = plan_facts(context);
    return context;
  }

 private:
  [[nodiscard]] Ending visit(Run& run) override { return measure_pairs(run, measured_); }
  /// One direction after the other.
  [[nodiscard]] std::int64_t steps() const override { return 2 * most_rounds(job().options, world().size()); }

  Measured measured_;
};

Measured measured_earlier(const Job& job) {
  const std::string& file = job.options.measured_file;
  if (file.empty()) return {};
  return on_first_process(job.world, [&] { return read_measured(file); });
}

}  // namespace

int run_sweep(const Program& program, int argc, char** argv) {
  const LibrarySessions sessions;
  OneDirection nowhere;
  const auto agree = [&](Job& job) {
    Measured measured = measured_earlier(job);
    return std::make_unique<SweepWork>(job, choose_endpoints(job.world, job.options), nowhere, sessions,
                                       std::move(measured));
  };
  return run(program, agree, argc, argv);
}

}  // namespace fabricbench::sweep
