#include "common/engine/test_work.h"

#include <utility>

#include "common/engine/conclusion.h"
#include "common/engine/describe.h"
#include "common/engine/round_work.h"
#include "common/measure/bench.h"
#include "common/measure/totals.h"

namespace fabricbench {
namespace {

/// Measures all cases of a test, in all groups or pairs at the same time.
class RowsWork final : public TestWork {
 public:
  using TestWork::TestWork;

 private:
  [[nodiscard]] Ending visit(Run& run) override {
    Totals totals(run.options);
    measure_rows(run, &totals);
    return conclude(totals, run.context);
  }
};

}  // namespace

std::unique_ptr<Work> agree_on_test(Job& job, Test& test, Sessions& sessions) {
  test.configure(job.options);
  if (!is_of_pairs(test.traits().row_kind)) {
    return std::make_unique<RowsWork>(job, ActiveProcesses{.are_all = true}, test, sessions);
  }
  PairPlan plan = plan_pairs(job.world, sessions, job.options);
  check_rounds(plan, job.options);
  sessions.choose_device(job.world, plan, job.options);
  ActiveProcesses active = active_processes_of(job.world, plan);
  if (plan.rounds.size() == 1) return std::make_unique<RowsWork>(job, std::move(active), test, sessions);
  return make_round_work(job, std::move(active), std::move(plan), test, sessions);
}

void TestWork::set_up(Outputs& outputs) {
  const RoundOfRun whole{.steps = steps()};
  setup_ = fabricbench::set_up(world(), job().world.rank(), test_, sessions_, std::move(job().options), whole);
  setup_.notices.insert(setup_.notices.begin(), notices_of_active().begin(), notices_of_active().end());
  outputs = open_outputs(world(), test_.traits().row_kind, setup_.options, job().make_judges);
  prepared_ = std::make_unique<PreparedRun>(job(), test_, setup_, outputs);
}

Context TestWork::make_context() {
  Context context = describe_run(job(), test_, sessions_, setup_);
  context.seed = agreed_seed(world(), setup_.options);
  context.clock_error = prepared_->clock_error();
  return context;
}

Ending TestWork::measure(const Context& context) {
  Ending ending;
  prepared_->measure(context, [&](Run& run) { return ending = visit(run); }).add_to(ending);
  prepared_.reset();
  return ending;
}

}  // namespace fabricbench
