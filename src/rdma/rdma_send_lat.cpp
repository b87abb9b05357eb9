// rdma_send_lat: a message to the other rank and one back; the time is half of the round trip.

#include "common/harness/program.h"
#include "common/rdma/rdma_test.h"

namespace fabricbench {
namespace {

class RdmaSendLatency final : public RequestPingPong {
 public:
  [[nodiscard]] std::string_view name() const override { return "rdma_send_lat"; }
  [[nodiscard]] Verb verb() const override { return Verb::kSend; }
};

}  // namespace

int rdma_send_lat(int argc, char** argv) { return run_collective(RdmaSendLatency(), argc, argv); }

}  // namespace fabricbench
