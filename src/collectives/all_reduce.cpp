// all_reduce_perf: every rank gets the reduction of all ranks' buffers.

#include "common/programs/run_program.h"

namespace fabricbench {
namespace {

class AllReduce final : public Collective {
 public:
  AllReduce() : Collective({.name = "all_reduce", .reduces = true}) {}

  [[nodiscard]] Layout layout(Request request, int /*ranks*/) const override {
    return {.send_count = request.elements, .recv_count = request.elements, .count = request.elements};
  }

  [[nodiscard]] double bus_factor(int ranks) const override { return bus_factor::all_reduce(ranks); }
  [[nodiscard]] HostTraffic host_traffic(const RanksOnHosts& group) const override {
    return host_traffic::all_reduce(group);
  }

  [[nodiscard]] std::optional<InPlace> in_place(const Layout& /*layout*/, const Participant& /*self*/) const override {
    return InPlace{};
  }

  [[nodiscard]] std::vector<ExpectedBlock> expected(const Layout& layout, const Participant& /*self*/) const override {
    return {{.begin = 0, .count = layout.recv_count, .source = ExpectedBlock::kReduced, .position = 0}};
  }

  void start(Backend& backend, const Operands& operands) const override {
    collectives(backend).all_reduce(operands.send, operands.recv, operands.count, operands.datatype,
                                    operands.reduction);
  }
};

}  // namespace

int all_reduce_perf(int argc, char** argv) {
  return run_program(
      collective_program("all_reduce_perf",
                         "Bandwidth of all_reduce: every rank gets the reduction of all ranks' buffers."),
      AllReduce(), argc, argv);
}

}  // namespace fabricbench
