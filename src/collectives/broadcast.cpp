// broadcast_perf: every rank gets the root's buffer.

#include "common/programs/run_program.h"

namespace fabricbench {
namespace {

class Broadcast final : public Collective {
 public:
  Broadcast() : Collective({.name = "broadcast", .has_root = true}) {}

  [[nodiscard]] Layout layout(Request request, int /*ranks*/) const override {
    return {.send_count = request.elements, .recv_count = request.elements, .count = request.elements};
  }

  [[nodiscard]] double bus_factor(int /*ranks*/) const override { return bus_factor::kOnce; }
  [[nodiscard]] HostTraffic host_traffic(const RanksOnHosts& /*group*/) const override { return host_traffic::kOnce; }

  [[nodiscard]] std::optional<InPlace> in_place(const Layout& /*layout*/, const Participant& /*self*/) const override {
    return InPlace{};
  }

  [[nodiscard]] std::vector<ExpectedBlock> expected(const Layout& layout, const Participant& self) const override {
    const bool written = self.in_place || self.rank != self.root || self.conventions.broadcast_copies_at_root;
    if (!written) return {};
    return {{.begin = 0, .count = layout.recv_count, .source = self.root, .position = 0}};
  }

  void start(Backend& backend, const Operands& operands) const override {
    collectives(backend).broadcast(operands.send, operands.recv, operands.count, operands.datatype, operands.root);
  }
};

}  // namespace

int broadcast_perf(int argc, char** argv) {
  return run_program(collective_program("broadcast_perf", "Bandwidth of broadcast: every rank gets the root's buffer."),
                     Broadcast(), argc, argv);
}

}  // namespace fabricbench
