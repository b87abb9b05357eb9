// tcp_bw: windows of messages from one rank to another over TCP connections.

#include "common/harness/pair_test.h"
#include "common/harness/program.h"

namespace fabricbench {
namespace {

class TcpBandwidth final : public OneWay {
 public:
  [[nodiscard]] std::string_view name() const override { return "tcp_bw"; }
  [[nodiscard]] bool sockets() const override { return true; }
};

}  // namespace

int tcp_bw(int argc, char** argv) {
  return run_program(tcp_program("tcp_bw", "Bandwidth over TCP connections from one rank to another.", true),
                     TcpBandwidth(), argc, argv);
}

}  // namespace fabricbench
