// Programs that measure messages between the ranks of pairs, and copies within hosts. A function is a program.

#include "cluster/preflight/preflight.h"
#include "cluster/sweep/sweep_work.h"
#include "common/copies/copy_program.h"
#include "common/programs/run_program.h"

namespace fabricbench {

int send_recv_lat(int argc, char** argv) {
  return run_program(
      message_program("send_recv_lat", "Latency of a message between two ranks: half of a round trip.", false),
      PingPong("send_recv_lat"), argc, argv);
}

int send_recv_bw(int argc, char** argv) {
  return run_program(message_program("send_recv_bw", "Bandwidth of messages from one rank to another.", true),
                     OneWay("send_recv_bw"), argc, argv);
}

int send_recv_bibw(int argc, char** argv) {
  return run_program(
      message_program("send_recv_bibw", "Bandwidth of messages between two ranks, in both directions at once.", true),
      BothWays("send_recv_bibw"), argc, argv);
}

int multi_pair_bw(int argc, char** argv) {
  const std::string summary = "Bandwidth of messages between the two ranks of each pair, all pairs at once.";
  return run_program(message_program("multi_pair_bw", summary, true, "adjacent"), OneWay("multi_pair_bw"), argc, argv);
}

int pairwise_bw(int argc, char** argv) {
  const std::string summary = "Bandwidth and latency of every pair of hosts, ranks or GPUs, in rounds of pairs.";
  return sweep::run_sweep(sweep_program("pairwise_bw", summary), argc, argv);
}

int tcp_lat(int argc, char** argv) {
  return run_program(tcp_program("tcp_lat", "Latency of a message over a TCP connection: half of a round trip.", false),
                     PingPong("tcp_lat"), TcpSessions(), argc, argv);
}

int tcp_bw(int argc, char** argv) {
  return run_program(tcp_program("tcp_bw", "Bandwidth over TCP connections from one rank to another.", true),
                     OneWay("tcp_bw"), TcpSessions(), argc, argv);
}

int tcp_bibw(int argc, char** argv) {
  return run_program(
      tcp_program("tcp_bibw", "Bandwidth over TCP connections between two ranks, in both directions at once.", true),
      BothWays("tcp_bibw"), TcpSessions(), argc, argv);
}

int preflight(int argc, char** argv) {
  return cluster::run_preflight(preflight_program("preflight", "What hosts lack or have otherwise than their peers."),
                                argc, argv);
}

int gpu_copy_bw(int argc, char** argv) {
  return run_copies(copy_program("gpu_copy_bw", "Bandwidth of copies between GPUs and memory within each host."), argc,
                    argv);
}

}  // namespace fabricbench
