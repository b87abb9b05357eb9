// hypercube_perf: all_gather by exchanges with the neighbours along each edge of a hypercube.

#include <bit>

#include "common/programs/run_program.h"

namespace fabricbench {
namespace {

class Hypercube final : public Collective {
 public:
  Hypercube() : Collective({.name = "hypercube"}) {}

  [[nodiscard]] std::string why_not_ranks(int ranks) const override {
    return std::has_single_bit(unsigned(ranks)) ? "" : "the number of ranks must be a power of two, such as 2, 4 or 8";
  }

  [[nodiscard]] Layout layout(Request request, int ranks) const override {
    const std::uint64_t part = part_of(request, ranks);
    return {.send_count = part, .recv_count = part * static_cast<std::uint64_t>(ranks), .count = part};
  }

  [[nodiscard]] double bus_factor(int /*ranks*/) const override { return bus_factor::kOnce; }
  [[nodiscard]] HostTraffic host_traffic(const RanksOnHosts& group) const override {
    return host_traffic::each_to_each(group);
  }
  [[nodiscard]] double counted_share(int ranks) const override { return bus_factor::all_but_own(ranks); }

  [[nodiscard]] std::optional<InPlace> in_place(const Layout& layout, const Participant& self) const override {
    return InPlace{.send_begin = static_cast<std::uint64_t>(self.rank) * layout.count};
  }

  [[nodiscard]] std::vector<ExpectedBlock> expected(const Layout& layout, const Participant& self) const override {
    return part_of_each(layout.count, self.ranks, 0);
  }

  /// The first stage copies a rank's own part to its place; each later one exchanges all known parts, twice as many.
  [[nodiscard]] int stages(int ranks) const override {
    return static_cast<int>(std::bit_width(static_cast<unsigned>(ranks)));
  }

  void start(Backend& backend, const Operands& operands) const override {
    const Bytes part = operands.count * facts(operands.datatype).size;
    const auto place = [&](int rank) { return operands.recv + static_cast<Bytes>(rank) * part; };
    if (operands.stage == 0) return collectives(backend).copy(operands.send, place(operands.rank), part);
    const int edge = 1 << (operands.stage - 1);
    const int known = operands.rank & ~(edge - 1);  // the first part that this rank has so far
    collectives(backend).send_recv(place(known), place(known ^ edge), operands.count * static_cast<std::uint64_t>(edge),
                                   operands.datatype, {operands.rank ^ edge, operands.rank ^ edge});
  }
};

}  // namespace

int hypercube_perf(int argc, char** argv) {
  const std::string summary = "Bandwidth of hypercube: all_gather by exchanges along the edges of a hypercube.";
  return run_program(collective_program("hypercube_perf", summary), Hypercube(), argc, argv);
}

}  // namespace fabricbench
