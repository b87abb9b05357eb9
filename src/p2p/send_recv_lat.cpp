// send_recv_lat: a message to the other rank and one back; the time is half of the round trip.

#include "common/harness/pair_test.h"
#include "common/harness/program.h"

namespace fabricbench {
namespace {

class SendRecvLatency final : public PingPong {
 public:
  [[nodiscard]] std::string_view name() const override { return "send_recv_lat"; }
};

}  // namespace

int send_recv_lat(int argc, char** argv) {
  return run_program(
      message_program("send_recv_lat", "Latency of a message between two ranks: half of a round trip.", false),
      SendRecvLatency(), argc, argv);
}

}  // namespace fabricbench
