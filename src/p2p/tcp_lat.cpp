// tcp_lat: a message to the other rank and one back over a TCP connection; the time is half of the round trip.

#include "common/programs/run_program.h"

namespace fabricbench {

int tcp_lat(int argc, char** argv) {
  return run_program(tcp_program("tcp_lat", "Latency of a message over a TCP connection: half of a round trip.", false),
                     PingPong("tcp_lat"), TcpSessions(), argc, argv);
}

}  // namespace fabricbench
