// send_recv_bw: windows of messages from one rank to another.

#include "common/harness/pair_test.h"
#include "common/harness/program.h"

namespace fabricbench {
namespace {

class SendRecvBandwidth final : public OneWay {
 public:
  [[nodiscard]] std::string_view name() const override { return "send_recv_bw"; }
};

}  // namespace

int send_recv_bw(int argc, char** argv) {
  return run_program(message_program("send_recv_bw", "Bandwidth of messages from one rank to another.", true),
                     SendRecvBandwidth(), argc, argv);
}

}  // namespace fabricbench
