// tcp_bibw: windows of messages between two ranks over TCP connections, in both directions at once.

#include "common/programs/run_program.h"

namespace fabricbench {

int tcp_bibw(int argc, char** argv) {
  return run_program(
      tcp_program("tcp_bibw", "Bandwidth over TCP connections between two ranks, in both directions at once.", true),
      BothWays("tcp_bibw"), TcpSessions(), argc, argv);
}

}  // namespace fabricbench
