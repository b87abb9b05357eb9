// reduce_perf: the root gets the reduction of all ranks' buffers.

#include "common/programs/run_program.h"

namespace fabricbench {
namespace {

class Reduce final : public Collective {
 public:
  Reduce() : Collective({.name = "reduce", .reduces = true, .has_root = true}) {}

  [[nodiscard]] Layout layout(Request request, int /*ranks*/) const override {
    return {.send_count = request.elements, .recv_count = request.elements, .count = request.elements};
  }

  [[nodiscard]] double bus_factor(int /*ranks*/) const override { return bus_factor::kOnce; }
  [[nodiscard]] HostTraffic host_traffic(const RanksOnHosts& /*group*/) const override { return host_traffic::kOnce; }

  [[nodiscard]] std::optional<InPlace> in_place(const Layout& /*layout*/, const Participant& /*self*/) const override {
    return InPlace{};
  }

  [[nodiscard]] std::vector<ExpectedBlock> expected(const Layout& layout, const Participant& self) const override {
    if (self.rank != self.root) return {};
    return {{.begin = 0, .count = layout.recv_count, .source = ExpectedBlock::kReduced, .position = 0}};
  }

  void start(Backend& backend, const Operands& operands) const override {
    collectives(backend).reduce(operands.send, operands.recv, operands.count, operands.datatype, operands.reduction,
                                operands.root);
  }
};

}  // namespace

int reduce_perf(int argc, char** argv) {
  return run_program(
      collective_program("reduce_perf", "Bandwidth of reduce: the root gets the reduction of all ranks' buffers."),
      Reduce(), argc, argv);
}

}  // namespace fabricbench
