// all_reduce_perf: every rank gets the reduction of all ranks' buffers.

#include "common/core/bandwidth.h"
#include "common/harness/program.h"

namespace fabricbench {
namespace {

class AllReduce final : public Collective {
 public:
  [[nodiscard]] std::string_view name() const override { return "all_reduce"; }

  [[nodiscard]] Layout layout(std::uint64_t elements, int /*ranks*/) const override {
    return {.send_count = elements, .recv_count = elements, .count = elements};
  }

  [[nodiscard]] double bus_factor(int ranks) const override { return bus_factor::all_reduce(ranks); }

  [[nodiscard]] std::vector<ExpectedBlock> expected(const Layout& layout, int /*rank*/) const override {
    return {{.begin = 0, .count = layout.recv_count, .source = ExpectedBlock::kReduced, .position = 0}};
  }

  void start(Backend& backend, const Operands& operands) const override {
    backend.all_reduce(operands.send, operands.recv, operands.count, operands.datatype, operands.reduction);
  }
};

}  // namespace
}  // namespace fabricbench

int main(int argc, char** argv) { return fabricbench::run_collective(fabricbench::AllReduce(), argc, argv); }
