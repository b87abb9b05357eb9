// send_recv_lat: a message to the other rank and one back; the time is half of the round trip.

#include "common/programs/run_program.h"

namespace fabricbench {

int send_recv_lat(int argc, char** argv) {
  return run_program(
      message_program("send_recv_lat", "Latency of a message between two ranks: half of a round trip.", false),
      PingPong("send_recv_lat"), argc, argv);
}

}  // namespace fabricbench
