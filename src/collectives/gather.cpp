// gather_perf: the root gets the parts of all ranks, by rank.

#include "common/programs/run_program.h"

namespace fabricbench {
namespace {

class Gather final : public Collective {
 public:
  Gather() : Collective({.name = "gather", .has_root = true}) {}

  [[nodiscard]] Layout layout(Request request, int ranks) const override {
    const std::uint64_t part = part_of(request, ranks);
    return {.send_count = part, .recv_count = part * static_cast<std::uint64_t>(ranks), .count = part};
  }

  [[nodiscard]] double bus_factor(int ranks) const override { return bus_factor::all_but_own(ranks); }
  [[nodiscard]] HostTraffic host_traffic(const RanksOnHosts& group) const override {
    return host_traffic::root_and_each(group);
  }

  [[nodiscard]] std::optional<InPlace> in_place(const Layout& layout, const Participant& self) const override {
    return InPlace{.send_begin = static_cast<std::uint64_t>(self.rank) * layout.count};
  }

  [[nodiscard]] std::vector<ExpectedBlock> expected(const Layout& layout, const Participant& self) const override {
    if (self.rank != self.root) return {};
    return part_of_each(layout.count, self.ranks, 0);
  }

  void start(Backend& backend, const Operands& operands) const override {
    collectives(backend).gather(operands.send, operands.recv, operands.count, operands.datatype, operands.root);
  }
};

}  // namespace

int gather_perf(int argc, char** argv) {
  return run_program(collective_program("gather_perf", "Bandwidth of gather: the root gets the parts of all ranks."),
                     Gather(), argc, argv);
}

}  // namespace fabricbench
