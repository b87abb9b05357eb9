// send_recv_bibw: windows of messages between two ranks, in both directions at once.

#include "common/core/clock.h"
#include "common/harness/pair_test.h"
#include "common/harness/program.h"

namespace fabricbench {
namespace {

class BothWays final : public PairTest {
 public:
  [[nodiscard]] std::string_view name() const override { return "send_recv_bibw"; }
  [[nodiscard]] Figure figure() const override { return Figure::kBothWays; }
  [[nodiscard]] bool windowed() const override { return true; }
  [[nodiscard]] double counted_share(int /*ranks*/) const override { return 2; }

  void start(Backend& backend, const Operands& operands) const override {
    const int other = 1 - operands.rank;
    backend.start_recv(operands.recv, operands.count, operands.datatype, other);
    backend.start_send(operands.send, operands.count, operands.datatype, other);
  }

  /// Windows begin together: a rank that began before the other would count the other's delay as its own direction's.
  void finish_window(Backend& backend, const Operands& operands) const override {
    if (backend.finish_receiving()) operands.receiving->total += now() - operands.receiving->began;
    backend.finish();
    backend.barrier();
  }
};

}  // namespace
}  // namespace fabricbench

int main(int argc, char** argv) { return fabricbench::run_collective(fabricbench::BothWays(), argc, argv); }
