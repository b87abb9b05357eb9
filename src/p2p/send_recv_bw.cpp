// send_recv_bw: windows of messages from one rank to another.

#include "common/programs/run_program.h"

namespace fabricbench {

int send_recv_bw(int argc, char** argv) {
  return run_program(message_program("send_recv_bw", "Bandwidth of messages from one rank to another.", true),
                     OneWay("send_recv_bw"), argc, argv);
}

}  // namespace fabricbench
