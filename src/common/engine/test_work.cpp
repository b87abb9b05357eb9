#include "common/engine/test_work.h"

#include <exception>
#include <utility>

#include "common/engine/conclusion.h"
#include "common/engine/round_work.h"
#include "common/measure/totals.h"

namespace fabricbench {
namespace {

/// Measures all cases of a test, in all groups or pairs at the same time.
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

}  // namespace

std::unique_ptr<Work> agree_on_test(Job& job, Test& test, Sessions& sessions) {
  test.configure(job.options);
  if (!is_of_pairs(test.traits().row_kind)) {
    return std::make_unique<RowsWork>(job, Members{.are_all = true}, test, sessions);
  }
  PairPlan plan = plan_pairs(job.world, sessions, job.options);
  check_rounds(plan, job.options);
  sessions.choose_device(job.world, plan, job.options);
  Members members = members_of(job.world, plan);
  if (plan.rounds.size() == 1) return std::make_unique<RowsWork>(job, std::move(members), test, sessions);
  return make_round_work(job, std::move(members), std::move(plan), test, sessions);
}

void TestWork::set_up(Outputs& outputs) {
  const RoundOfRun whole{.steps = steps()};
  setup_ = fabricbench::set_up(world(), job().world.rank(), test_, sessions_, std::move(job().options), whole);
  setup_.notices.insert(setup_.notices.begin(), notices_of_members().begin(), notices_of_members().end());
  outputs = open_outputs(world(), test_.traits().row_kind, setup_.options, job().make_judges);
  stage_ = std::make_unique<Stage>(world(), job(), test_, setup_, outputs);
}

Context TestWork::make_context() {
  Context context = describe_run(world(), job(), test_, sessions_, setup_);
  context.seed = agreed_seed(world(), setup_.options);
  context.clock_error = stage_->clock_error();
  return context;
}

Ending TestWork::measure(const Context& context) {
  Run& run = stage_->begin(context);
  Ending ending;
  try {
    ending = visit(run);
  } catch (const std::exception& error) {
    stage_->fail(error);
  }
  StageEnding with_facts = stage_->finish(std::move(ending));
  stage_.reset();
  return std::move(with_facts).whole();
}

}  // namespace fabricbench
