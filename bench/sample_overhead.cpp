// What an isolated sample costs besides the operation: the meter measures an operation that does nothing, so what
// it reports is its own doing. Prints, in nanoseconds: the sample, one clock read, the difference.

#include <fmt/format.h>

#include "common/core/clock.h"
#include "common/core/statistics.h"
#include "common/engine/describe.h"
#include "common/measure/meter.h"
#include "common/mpi/environment.h"
#include "common/mpi/mpi_backend.h"

namespace fabricbench {
namespace {

class Nothing final : public Collective {
 public:
  Nothing() : Collective({.name = "nothing"}) {}
  [[nodiscard]] Layout layout(Request request, int /*ranks*/) const override {
    return {request.elements, request.elements, request.elements};
  }
  [[nodiscard]] double bus_factor(int /*ranks*/) const override { return 0; }
  [[nodiscard]] std::vector<ExpectedBlock> expected(const Layout& /*layout*/,
                                                    const Participant& /*self*/) const override {
    return {};
  }
  void start(Backend& /*backend*/, const Operands& /*operands*/) const override {}
};

void measure() {
  const mpi::Communicator world = mpi::Communicator::world();
  const Team team(world, "");
  mpi::CommonClock clock(world, 0, now);
  Options options;
  options.timing = Timing::kIsolated;
  Heartbeat heartbeat;
  mpi::MpiSession session(team.group());
  Meter meter(team, session, clock, options, heartbeat);
  Workspace workspace(session, 4096, true, 0, {world.rank(), 1, world.size()});
  workspace.use(DataType::kFloat, Reduction::kSum);
  const Nothing nothing;
  Operation operation(nothing, session, workspace, {8, nothing.layout({2, 4}, 1)}, BufferPolicy::kSame);
  const Epoch epoch =
      meter.measure(operation, {.warmup = 100, .samples = 20000, .iterations = 1, .common_start = false});
  if (!world.is_root()) return;
  const double sample = median(epoch.samples) * 1e9;
  const double read = timer_cost() * 1e9;
  fmt::print("sample {:.1f} ns, clock read {:.1f} ns, besides {:.1f} ns\n", sample, read, sample - read);
}

}  // namespace
}  // namespace fabricbench

int main(int argc, char** argv) {
  const fabricbench::mpi::Environment mpi(argc, argv);
  fabricbench::measure();
  return 0;
}
