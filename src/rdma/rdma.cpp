// Programs that measure requests over RDMA verbs. A function is a program.

#include "common/backends/rdma/connect_work.h"
#include "common/backends/rdma/verbs_sessions.h"

namespace fabricbench {

int rdma_write_bw(int argc, char** argv) {
  return run_verbs_program<RequestStream>("rdma_write_bw",
                                          "Bandwidth of writes into another rank's memory, as ib_write_bw measures it.",
                                          {.verb = Verb::kWrite}, argc, argv);
}

int rdma_write_lat(int argc, char** argv) {
  return run_verbs_program<RequestPingPong>("rdma_write_lat",
                                            "Latency of a write into another rank's memory: half of a round trip.",
                                            {.verb = Verb::kWrite, .latency = true, .by_memory = true}, argc, argv);
}

int rdma_read_bw(int argc, char** argv) {
  return run_verbs_program<RequestStream>("rdma_read_bw",
                                          "Bandwidth of reads of another rank's memory, as ib_read_bw measures it.",
                                          {.verb = Verb::kRead}, argc, argv);
}

int rdma_read_lat(int argc, char** argv) {
  return run_verbs_program<RequestAlone>("rdma_read_lat",
                                         "Latency of a read of another rank's memory, until it has completed.",
                                         {.verb = Verb::kRead, .latency = true}, argc, argv);
}

int rdma_send_bw(int argc, char** argv) {
  return run_verbs_program<RequestStream>("rdma_send_bw",
                                          "Bandwidth of sends to another rank, as ib_send_bw measures it.",
                                          {.verb = Verb::kSend}, argc, argv);
}

int rdma_send_lat(int argc, char** argv) {
  return run_verbs_program<RequestPingPong>("rdma_send_lat", "Latency of a send to another rank: half of a round trip.",
                                            {.verb = Verb::kSend, .latency = true}, argc, argv);
}

int rdma_atomic_bw(int argc, char** argv) {
  return run_verbs_program<RequestStream>(
      "rdma_atomic_bw", "Rate of atomic operations on another rank's memory, as ib_atomic_bw measures it.",
      {.verb = Verb::kAtomic}, argc, argv);
}

int rdma_atomic_lat(int argc, char** argv) {
  return run_verbs_program<RequestAlone>(
      "rdma_atomic_lat", "Latency of an atomic operation on another rank's memory, until it has completed.",
      {.verb = Verb::kAtomic, .latency = true}, argc, argv);
}

int rdma_cm_connect(int argc, char** argv) {
  return run_connections(connection_program("rdma_cm_connect", "Time of connections over rdma_cm, step by step."), argc,
                         argv);
}

}  // namespace fabricbench
