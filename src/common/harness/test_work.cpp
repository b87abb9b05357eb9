#include "common/harness/test_work.h"

#include <utility>

namespace fabricbench {

void TestWork::set_up(Outputs& outputs) {
  setup_ = fabricbench::set_up(world(), job().world.rank(), test_, sessions_, std::move(job().options));
  setup_.notices.insert(setup_.notices.begin(), notices_of_members().begin(), notices_of_members().end());
  outputs = open_outputs(world(), test_.traits().figure, setup_.options);
  stage_ = std::make_unique<Stage>(world(), job().program.name, test_, setup_, outputs);
}

Context TestWork::describe() {
  Context context = describe_run(world(), job(), test_, sessions_, setup_);
  context.seed = agreed_seed(world(), setup_.options);
  context.clock_error = stage_->clock_error();
  return context;
}

Ending TestWork::measure(const Context& context) {
  StageEnding ending = stage_->measure(context, [this](Run& run) { return visit(run); });
  stage_.reset();
  return std::move(ending).whole();
}

}  // namespace fabricbench
