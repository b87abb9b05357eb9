// send_recv_bibw: windows of messages between two ranks, in both directions at once.

#include "common/programs/run_program.h"

namespace fabricbench {

int send_recv_bibw(int argc, char** argv) {
  return run_program(
      message_program("send_recv_bibw", "Bandwidth of messages between two ranks, in both directions at once.", true),
      BothWays("send_recv_bibw"), argc, argv);
}

}  // namespace fabricbench
