// rdma_send_lat: a message to the other rank and one back; the time is half of the round trip.

#include "common/harness/program.h"
#include "common/options/verbs_programs.h"
#include "common/rdma/rdma_test.h"

namespace fabricbench {
namespace {

class RdmaSendLatency final : public RequestPingPong {
 public:
  [[nodiscard]] std::string_view name() const override { return "rdma_send_lat"; }
  [[nodiscard]] Verb verb() const override { return Verb::kSend; }
};

}  // namespace

int rdma_send_lat(int argc, char** argv) {
  return run_program(verbs_program("rdma_send_lat", "Latency of a send to another rank: half of a round trip.",
                                   {.verb = Verb::kSend, .latency = true}),
                     RdmaSendLatency(), argc, argv);
}

}  // namespace fabricbench
