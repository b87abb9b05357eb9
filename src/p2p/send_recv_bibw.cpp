// send_recv_bibw: windows of messages between two ranks, in both directions at once.

#include "common/harness/pair_test.h"
#include "common/harness/program.h"

namespace fabricbench {
namespace {

class SendRecvBothWays final : public BothWays {
 public:
  [[nodiscard]] std::string_view name() const override { return "send_recv_bibw"; }
};

}  // namespace

int send_recv_bibw(int argc, char** argv) {
  return run_program(
      message_program("send_recv_bibw", "Bandwidth of messages between two ranks, in both directions at once.", true),
      SendRecvBothWays(), argc, argv);
}

}  // namespace fabricbench
