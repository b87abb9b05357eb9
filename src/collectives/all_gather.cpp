// all_gather_perf: every rank gets the parts of all ranks, by rank.

#include "common/programs/run_program.h"

namespace fabricbench {
namespace {

class AllGather final : public Collective {
 public:
  AllGather() : Collective({.name = "all_gather"}) {}

  [[nodiscard]] Layout layout(Request request, int ranks) const override {
    const std::uint64_t part = part_of(request, ranks);
    return {.send_count = part, .recv_count = part * static_cast<std::uint64_t>(ranks), .count = part};
  }

  [[nodiscard]] double bus_factor(int ranks) const override { return bus_factor::all_but_own(ranks); }
  [[nodiscard]] HostTraffic host_traffic(const RanksOnHosts& group) const override {
    return host_traffic::all_parts(group);
  }

  [[nodiscard]] std::optional<InPlace> in_place(const Layout& layout, const Participant& self) const override {
    return InPlace{.send_begin = static_cast<std::uint64_t>(self.rank) * layout.count};
  }

  [[nodiscard]] std::vector<ExpectedBlock> expected(const Layout& layout, const Participant& self) const override {
    return part_of_each(layout.count, self.ranks, 0);
  }

  void start(Backend& backend, const Operands& operands) const override {
    collectives(backend).all_gather(operands.send, operands.recv, operands.count, operands.datatype);
  }
};

}  // namespace

int all_gather_perf(int argc, char** argv) {
  return run_program(
      collective_program("all_gather_perf", "Bandwidth of all_gather: every rank gets the parts of all ranks."),
      AllGather(), argc, argv);
}

}  // namespace fabricbench
