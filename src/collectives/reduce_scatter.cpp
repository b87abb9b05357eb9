// reduce_scatter_perf: every rank gets its own part of the reduction of all ranks' buffers.

#include "common/programs/run_program.h"

namespace fabricbench {
namespace {

class ReduceScatter final : public Collective {
 public:
  ReduceScatter() : Collective({.name = "reduce_scatter", .reduces = true}) {}

  [[nodiscard]] Layout layout(Request request, int ranks) const override {
    const std::uint64_t part = part_of(request, ranks);
    return {.send_count = part * static_cast<std::uint64_t>(ranks), .recv_count = part, .count = part};
  }

  [[nodiscard]] double bus_factor(int ranks) const override { return bus_factor::all_but_own(ranks); }
  [[nodiscard]] HostTraffic host_traffic(const RanksOnHosts& group) const override {
    return host_traffic::all_parts(group);
  }

  [[nodiscard]] std::optional<InPlace> in_place(const Layout& layout, const Participant& self) const override {
    if (!self.conventions.reduce_scatter_stays_in_block) return InPlace{};
    return InPlace{.recv_begin = own_part(layout, self)};
  }

  [[nodiscard]] std::vector<ExpectedBlock> expected(const Layout& layout, const Participant& self) const override {
    return {{.begin = 0, .count = layout.count, .source = ExpectedBlock::kReduced, .position = own_part(layout, self)}};
  }

  void start(Backend& backend, const Operands& operands) const override {
    collectives(backend).reduce_scatter(operands.send, operands.recv, operands.count, operands.datatype,
                                        operands.reduction);
  }

 private:
  static std::uint64_t own_part(const Layout& layout, const Participant& self) {
    return static_cast<std::uint64_t>(self.rank) * layout.count;
  }
};

}  // namespace

int reduce_scatter_perf(int argc, char** argv) {
  return run_program(
      collective_program(
          "reduce_scatter_perf",
          "Bandwidth of reduce_scatter: every rank gets its own part of the reduction of all ranks' buffers."),
      ReduceScatter(), argc, argv);
}

}  // namespace fabricbench
