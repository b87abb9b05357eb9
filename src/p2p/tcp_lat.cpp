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
}  // namespace fabricbench

int main(int argc, char** argv) { return fabricbench::run_collective(fabricbench::TcpLatency(), argc, argv); }
