// sendrecv_perf: every rank sends to the next and receives from the one before, in a ring.

#include "common/programs/run_program.h"

namespace fabricbench {
namespace {

class SendRecv final : public Collective {
 public:
  SendRecv() : Collective({.name = "sendrecv", .most_peers = 2}) {}

  [[nodiscard]] Layout layout(Request request, int /*ranks*/) const override {
    return {.send_count = request.elements, .recv_count = request.elements, .count = request.elements};
  }

  [[nodiscard]] double bus_factor(int /*ranks*/) const override { return bus_factor::kOnce; }
  [[nodiscard]] HostTraffic host_traffic(const RanksOnHosts& /*group*/) const override {
    return host_traffic::kAtLeastOnce;
  }

  [[nodiscard]] std::vector<ExpectedBlock> expected(const Layout& layout, const Participant& self) const override {
    return {{.begin = 0, .count = layout.count, .source = before(self.rank, self.ranks), .position = 0}};
  }

  void start(Backend& backend, const Operands& operands) const override {
    const Partners partners{.to = (operands.rank + 1) % operands.ranks, .from = before(operands.rank, operands.ranks)};
    collectives(backend).send_recv(operands.send, operands.recv, operands.count, operands.datatype, partners);
  }

 private:
  static int before(int rank, int ranks) { return (rank + ranks - 1) % ranks; }
};

}  // namespace

int sendrecv_perf(int argc, char** argv) {
  return run_program(
      collective_program(
          "sendrecv_perf",
          "Bandwidth of sendrecv: every rank sends to the next and receives from the one before, in a ring."),
      SendRecv(), argc, argv);
}

}  // namespace fabricbench
