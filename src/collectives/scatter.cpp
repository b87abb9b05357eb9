// scatter_perf: every rank gets its own part of the root's buffer.

#include "common/programs/run_program.h"

namespace fabricbench {
namespace {

class Scatter final : public Collective {
 public:
  Scatter() : Collective({.name = "scatter", .has_root = true}) {}

  [[nodiscard]] Layout layout(Request request, int ranks) const override {
    const std::uint64_t part = part_of(request, ranks);
    return {.send_count = part * static_cast<std::uint64_t>(ranks), .recv_count = part, .count = part};
  }

  [[nodiscard]] double bus_factor(int ranks) const override { return bus_factor::all_but_own(ranks); }
  [[nodiscard]] HostTraffic host_traffic(const RanksOnHosts& group) const override {
    return host_traffic::root_and_each(group);
  }

  [[nodiscard]] std::optional<InPlace> in_place(const Layout& layout, const Participant& self) const override {
    return InPlace{.recv_begin = own_part(layout, self)};
  }

  [[nodiscard]] std::vector<ExpectedBlock> expected(const Layout& layout, const Participant& self) const override {
    return {{.begin = 0, .count = layout.count, .source = self.root, .position = own_part(layout, self)}};
  }

  void start(Backend& backend, const Operands& operands) const override {
    collectives(backend).scatter(operands.send, operands.recv, operands.count, operands.datatype, operands.root);
  }

 private:
  static std::uint64_t own_part(const Layout& layout, const Participant& self) {
    return static_cast<std::uint64_t>(self.rank) * layout.count;
  }
};

}  // namespace

int scatter_perf(int argc, char** argv) {
  return run_program(
      collective_program("scatter_perf", "Bandwidth of scatter: every rank gets its own part of the root's buffer."),
      Scatter(), argc, argv);
}

}  // namespace fabricbench
