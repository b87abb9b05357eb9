// tcp_bw: windows of messages from one rank to another over TCP connections.

#include "common/programs/run_program.h"

namespace fabricbench {

int tcp_bw(int argc, char** argv) {
  return run_program(tcp_program("tcp_bw", "Bandwidth over TCP connections from one rank to another.", true),
                     OneWay("tcp_bw"), TcpSessions(), argc, argv);
}

}  // namespace fabricbench
