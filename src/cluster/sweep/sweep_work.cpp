#include "cluster/sweep/sweep_work.h"

#include <memory>
#include <utility>

#include "cluster/sweep/endpoints.h"
#include "cluster/sweep/flow.h"
#include "cluster/sweep/measured.h"
#include "cluster/sweep/planned_steps.h"
#include "cluster/sweep/sweep.h"
#include "common/engine/test_work.h"
#include "common/ranks/agreement.h"
#include "common/report/sweep_facts.h"

namespace fabricbench::sweep {
namespace {

class SweepWork final : public TestWork {
 public:
  /// `measured`: readings of earlier jobs, on the first process.
  SweepWork(Job& job, Members members, Test& test, const Sessions& sessions, Measured measured)
      : TestWork(job, std::move(members), test, sessions), measured_(std::move(measured)) {}

  [[nodiscard]] Context describe() override {
    Context context = TestWork::describe();
    context.rounds = most_rounds(setup().options, world().size());
    context.sweep = plan_facts(context);
    return context;
  }

 private:
  [[nodiscard]] Ending visit(Run& run) override { return sweep::measure(run, measured_); }

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
