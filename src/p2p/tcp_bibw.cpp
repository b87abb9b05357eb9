// tcp_bibw: windows of messages between two ranks over TCP connections, in both directions at once.

#include "common/harness/pair_test.h"
#include "common/harness/program.h"

namespace fabricbench {
namespace {

class TcpBothWays final : public BothWays {
 public:
  [[nodiscard]] std::string_view name() const override { return "tcp_bibw"; }
  [[nodiscard]] bool sockets() const override { return true; }
};

}  // namespace

int tcp_bibw(int argc, char** argv) {
  return run_program(
      tcp_program("tcp_bibw", "Bandwidth over TCP connections between two ranks, in both directions at once.", true),
      TcpBothWays(), argc, argv);
}

}  // namespace fabricbench
