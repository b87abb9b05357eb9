// alltoall_perf: every rank gets its own part of every rank's buffer.

#include "common/programs/run_program.h"

namespace fabricbench {
namespace {

class AllToAll final : public Collective {
 public:
  AllToAll() : Collective({.name = "alltoall"}) {}

  [[nodiscard]] Layout layout(Request request, int ranks) const override {
    const std::uint64_t part = part_of(request, ranks);
    const std::uint64_t all = part * static_cast<std::uint64_t>(ranks);
    return {.send_count = all, .recv_count = all, .count = part};
  }

  [[nodiscard]] double bus_factor(int ranks) const override { return bus_factor::all_but_own(ranks); }
  [[nodiscard]] HostTraffic host_traffic(const RanksOnHosts& group) const override {
    return host_traffic::each_to_each(group);
  }

  [[nodiscard]] std::vector<ExpectedBlock> expected(const Layout& layout, const Participant& self) const override {
    return part_of_each(layout.count, self.ranks, static_cast<std::uint64_t>(self.rank) * layout.count);
  }

  void start(Backend& backend, const Operands& operands) const override {
    collectives(backend).all_to_all(operands.send, operands.recv, operands.count, operands.datatype);
  }
};

}  // namespace

int alltoall_perf(int argc, char** argv) {
  return run_program(collective_program("alltoall_perf",
                                        "Bandwidth of alltoall: every rank gets its own part of every rank's buffer."),
                     AllToAll(), argc, argv);
}

}  // namespace fabricbench
