#include "common/harness/program.h"

#include <memory>
#include <utility>

#include "common/harness/conclusion.h"
#include "common/harness/engine.h"
#include "common/harness/round_work.h"
#include "common/harness/rows.h"
#include "common/harness/test_work.h"

namespace fabricbench {
namespace {

/// All cases of a test, at the same time in all groups or pairs.
class RowsWork final : public TestWork {
 public:
  using TestWork::TestWork;

 private:
  [[nodiscard]] Ending visit(Run& run) override {
    Totals totals(run.setup.options);
    measure_rows(run, &totals);
    return conclude(totals, run.context);
  }
};

/// Chooses the ranks and the pairs of them.
std::unique_ptr<Work> agree(Job& job, Test& test, Sessions& sessions) {
  test.configure(job.options);
  if (!is_of_pairs(test.traits().figure)) {
    return std::make_unique<RowsWork>(job, Members{.are_all = true}, test, sessions);
  }
  PairPlan plan = plan_pairs(job.world, sessions, job.options);
  check_rounds(plan, job.options);
  sessions.settle(job.world, plan, job.options);
  Members members = members_of(job.world, plan);
  if (plan.rounds.size() == 1) return std::make_unique<RowsWork>(job, std::move(members), test, sessions);
  return std::make_unique<RoundWork>(job, std::move(members), std::move(plan), test, sessions);
}

}  // namespace

int run_program(const Program& program, Test&& test, Sessions&& sessions, int argc, char** argv) {
  return run(
      program, [&](Job& job) { return agree(job, test, sessions); }, argc, argv);
}

int run_program(const Program& program, Test&& test, int argc, char** argv) {
  return run_program(program, std::move(test), LibrarySessions(), argc, argv);
}

}  // namespace fabricbench
