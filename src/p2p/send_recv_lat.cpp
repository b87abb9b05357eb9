// send_recv_lat: a message to the other rank and one back; the time is half of the round trip.

#include "common/harness/pair_test.h"
#include "common/harness/program.h"

namespace fabricbench {
namespace {

class PingPong final : public PairTest {
 public:
  [[nodiscard]] std::string_view name() const override { return "send_recv_lat"; }
  [[nodiscard]] Figure figure() const override { return Figure::kLatency; }
  [[nodiscard]] int messages_in_turn() const override { return 2; }

  void start(Backend& backend, const Operands& operands) const override {
    if (operands.rank == 0) {
      backend.send(operands.send, operands.count, operands.datatype, 1);
      backend.recv(operands.recv, operands.count, operands.datatype, 1);
    } else {
      backend.recv(operands.recv, operands.count, operands.datatype, 0);
      backend.send(operands.send, operands.count, operands.datatype, 0);
    }
  }
};

}  // namespace
}  // namespace fabricbench

int main(int argc, char** argv) { return fabricbench::run_collective(fabricbench::PingPong(), argc, argv); }
