// barrier_perf: no rank continues before every rank has arrived; no data is carried.

#include "common/programs/run_program.h"

namespace fabricbench {
namespace {

class Barrier final : public Collective {
 public:
  Barrier() : Collective({.name = "barrier", .moves_data = false}) {}

  [[nodiscard]] Layout layout(Request /*request*/, int /*ranks*/) const override { return {}; }
  [[nodiscard]] double bus_factor(int /*ranks*/) const override { return bus_factor::kOnce; }
  [[nodiscard]] std::vector<ExpectedBlock> expected(const Layout& /*layout*/,
                                                    const Participant& /*self*/) const override {
    return {};
  }

  void start(Backend& backend, const Operands& /*operands*/) const override { backend.barrier(); }
};

}  // namespace

int barrier_perf(int argc, char** argv) {
  Program program =
      collective_program("barrier_perf", "Time of a barrier: no rank continues before every rank has arrived.");
  program.examples = {{"mpirun -np 16 barrier_perf", "16 ranks"},
                      {"mpirun -np 16 barrier_perf --timing isolated", "one barrier at a time, with a common start"},
                      {"mpirun -np 16 barrier_perf --split 'DIV 8' --json run.jsonl", "two groups, with a record"}};
  return run_program(program, Barrier(), argc, argv);
}

}  // namespace fabricbench
