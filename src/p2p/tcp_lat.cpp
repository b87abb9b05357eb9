// tcp_lat: a message to the other rank and one back over a TCP connection; the time is half of the round trip.

#include "common/harness/pair_test.h"
#include "common/harness/program.h"

namespace fabricbench {
namespace {

class TcpLatency final : public PingPong {
 public:
  [[nodiscard]] std::string_view name() const override { return "tcp_lat"; }
  [[nodiscard]] bool sockets() const override { return true; }
};

}  // namespace

int tcp_lat(int argc, char** argv) {
  return run_program(tcp_program("tcp_lat", "Latency of a message over a TCP connection: half of a round trip.", false),
                     TcpLatency(), argc, argv);
}

}  // namespace fabricbench
